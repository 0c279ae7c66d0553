package topology

// OneNode counts members and owners of rules on one node that is being filled.
type OneNode struct {
	groups []Group
	host   Host
}

// NewOneNode returns a node without pods. groups are all rules.
func NewOneNode(groups []Group) *OneNode { return &OneNode{groups: groups} }

// Begin starts counting for another node. base has the node's current counts.
func (n *OneNode) Begin(base []Tally) { n.host.Tally = append(n.host.Tally[:0], base...) }

func (n *OneNode) of(group int32) Tally { return n.host.Of(group) }

// Room returns how many pods with these topology groups the node can take, by the rules whose domains are nodes.
func (n *OneNode) Room(o *Groups) int { return AdmitsHost(n.groups, o, n.of) }

// Add adds the given number of pods with these topology groups to the counts.
func (n *OneNode) Add(o *Groups, pods int32) {
	for _, g := range o.In {
		if n.groups[g].At == Hostname {
			n.host.Count(g, pods, 0)
		}
	}
	for _, g := range o.Owns {
		if gr := &n.groups[g]; gr.At == Hostname && gr.Kind == Anti && gr.Hard {
			n.host.Count(g, 0, pods)
		}
	}
}
