package survey

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Tie is a group of nodes that must be removed together, because they run gangs that are moved as a whole.
type Tie struct {
	// Gangs are the gangs with members on these nodes, in the order of the snapshot.
	Gangs []*planning.Gang
	// Members are the nodes, sorted by name. All of them are candidates.
	Members []*decision.Candidate
	// nodes are the names of the tie's nodes. count has, for each gang, the number of nodes that it runs on.
	nodes []string
	count map[*planning.Gang]int
	text  string
}

// String returns a text with the nodes and the gangs of the tie, and with the domains that the gangs need. Equal ties have equal texts. It
// returns "" for nil.
func (t *Tie) String() string {
	if t == nil {
		return ""
	}
	return t.text
}

// describe sets the text that String returns.
func (t *Tie) describe() {
	var b strings.Builder
	b.WriteString(strings.Join(t.nodes, ","))
	for _, gang := range t.Gangs {
		b.WriteString(" " + gang.Key().String())
		for _, t := range gang.Topology {
			b.WriteString("|" + t.Key)
			if t.Policy == planning.GangTopologyPreferred {
				b.WriteString("?")
			}
		}
	}
	t.text = b.String()
}

// TieOf returns the tie of the node, or nil if the node can be removed alone.
func (f *Fleet) TieOf(node string) *Tie { return f.ties[node] }

// tie finds the groups of nodes that must be removed together: see wholeGangs.ties. If one node of a group can't be a candidate, no node of
// the group is a candidate.
func (f *Fleet) tie() {
	w := newWholeGangs(f.In.View.Snapshot)
	if w == nil {
		return
	}
	nodes := f.In.View.Snapshot.Nodes
	for i := range nodes {
		w.look(nodes[i].Name, nodes[i].Pods)
	}
	f.ties = map[string]*Tie{}
	for _, tie := range w.ties() {
		if why := f.keeps(tie, w); why != nil {
			f.block(tie, w, why)
			continue
		}
		for _, node := range tie.nodes {
			tie.Members = append(tie.Members, f.ByName[node])
			f.ties[node] = tie
		}
		tie.describe()
		f.Ties = append(f.Ties, tie)
	}
}

// keeps returns the block that keeps every method from removing the nodes of the tie together, or nil if nothing keeps them.
func (f *Fleet) keeps(tie *Tie, w *wholeGangs) *decision.Block {
	for _, gang := range tie.Gangs {
		if len(w.waiting[gang]) > 0 {
			return &decision.Block{Pods: w.waiting[gang]}
		}
	}
	for _, node := range tie.nodes {
		if why := f.Blocked[node]; why != nil {
			return &decision.Block{Detail: node, Because: why, Until: why.Until}
		}
	}
	return nil
}

// block blocks all nodes of the tie that are candidates. The parameter why is their common block. blockOf adds the details that differ
// between nodes.
func (f *Fleet) block(tie *Tie, w *wholeGangs, why *decision.Block) {
	for _, node := range tie.nodes {
		c := f.ByName[node]
		if c == nil {
			continue // the node already has a block, so it is no candidate
		}
		f.Blocked[node] = tie.blockOf(c.Node.Pods, why)
		delete(f.ByName, node)
	}
	f.Candidates = slices.DeleteFunc(f.Candidates, func(c *decision.Candidate) bool { return f.ByName[c.Name] == nil })
}

// blockOf returns the block of one node of the tie, which is a copy of the given block. The copy also names the first pod of the list that
// belongs to a gang of the tie, and that gang.
func (t *Tie) blockOf(list []*corev1.Pod, why *decision.Block) *decision.Block {
	out := *why
	out.Code = decision.BlockGang
	for _, pod := range list {
		for _, gang := range t.Gangs {
			if pods.Active(pod) && pod.Namespace == gang.Namespace && slices.Contains(gang.Members, planning.KeyOf(pod)) {
				out.Pod, out.Key, out.Count = KeyOf(pod), gang.Key().String(), t.count[gang]
				return &out
			}
		}
	}
	return &out
}

// Block returns the block of the candidate for the case that the block because keeps all nodes of the tie from being removed together.
func (t *Tie) Block(c *decision.Candidate, because *decision.Block) *decision.Block {
	return t.blockOf(c.Node.Pods, &decision.Block{Because: because, Until: because.Until})
}

// BlockBy returns the block of the candidate for the case that the block because keeps the given other node of the tie from being removed.
func (t *Tie) BlockBy(c *decision.Candidate, node string, because *decision.Block) *decision.Block {
	return t.blockOf(c.Node.Pods, &decision.Block{Detail: node, Because: because, Until: because.Until})
}

// Nowhere returns the block of a tie for the case that a gang must be in one domain, but no domain has room for it.
func (t *Tie) Nowhere() *decision.Block {
	out := &decision.Block{Code: decision.BlockUnschedulable}
	for _, gang := range t.Gangs {
		if len(requiredKeys(gang)) > 0 {
			out.Pods = append(out.Pods, gang.Members...)
		}
	}
	return out
}

// TooMany returns the block of the candidate for the case that the tie has more nodes than a command may remove.
func (t *Tie) TooMany(c *decision.Candidate, most int) *decision.Block {
	return t.blockOf(c.Node.Pods, &decision.Block{Need: most})
}

// firstDrifted returns the node of the tie that drifted first, or nil if no node has drifted.
func (t *Tie) firstDrifted() *decision.Candidate {
	var first *decision.Candidate
	for _, c := range t.Members {
		if !c.Drifted.IsZero() && (first == nil || c.Drifted.Before(first.Drifted)) {
			first = c
		}
	}
	return first
}

// acceptsTied is Accepts for a node of the tie t. If one node of the tie has drifted, the method drift accepts all its nodes.
func (f *Fleet) acceptsTied(t *Tie, c *decision.Candidate, m decision.Method) *decision.Block {
	own := f.acceptsAlone(c, m)
	switch m {
	case decision.MethodEmptiness, decision.MethodStaticDrift:
		if own == nil { // these methods don't check that the moved pods have places, so they must not remove nodes of gangs
			own = t.blockOf(c.Node.Pods, &decision.Block{})
		}
		return own
	case decision.MethodDrift:
		if !slices.ContainsFunc(t.Members, func(o *decision.Candidate) bool { return !o.Drifted.IsZero() }) {
			return own
		}
	}
	for _, o := range t.Members {
		why := own
		if o != c {
			why = f.acceptsAlone(o, m)
		}
		switch {
		case why == nil || m == decision.MethodDrift && why.Code == decision.BlockNotDrifted:
		case o == c:
			return own
		default:
			return t.BlockBy(c, o.Name, why)
		}
	}
	return nil
}

// Whole checks whether a command with these members would leave behind nodes that must be removed together with a member. It returns the
// first such member and its block. If no member is tied to other nodes that stay, the block is nil.
func (f *Fleet) Whole(members []decision.Member) (node string, why *decision.Block) {
	for i := range members {
		t := f.ties[members[i].Node]
		if t == nil {
			continue
		}
		for _, c := range t.Members {
			if !slices.ContainsFunc(members, func(m decision.Member) bool { return m.Node == c.Name }) {
				return members[i].Node, t.blockOf(f.ByName[members[i].Node].Node.Pods, &decision.Block{})
			}
		}
	}
	return "", nil
}

// wholeGangs has the gangs of a snapshot that are moved as a whole, and the nodes of their members.
type wholeGangs struct {
	memberOf map[planning.PodKey]*planning.Gang
	list     []*planning.Gang
	// nodes has, for each gang, the nodes on which its members run, in the order in which look was called. waiting has, for each gang, its
	// members without a node.
	nodes   map[*planning.Gang][]string
	waiting map[*planning.Gang][]planning.PodKey
}

// newWholeGangs finds the gangs that are moved as a whole, and their waiting members. It returns nil if there are no such gangs.
func newWholeGangs(s *planning.Snapshot) *wholeGangs {
	w := &wholeGangs{memberOf: map[planning.PodKey]*planning.Gang{}, nodes: map[*planning.Gang][]string{}, waiting: map[*planning.Gang][]planning.PodKey{}}
	for i := range s.Gangs {
		gang := &s.Gangs[i]
		if gang.DisruptionMode == planning.GangDisruptedSingly {
			continue
		}
		w.list = append(w.list, gang)
		for _, key := range gang.Members {
			w.memberOf[key] = gang
		}
	}
	if len(w.list) == 0 {
		return nil
	}
	for _, pod := range s.Pods {
		if gang := w.memberOf[planning.KeyOf(pod)]; gang != nil {
			w.waiting[gang] = append(w.waiting[gang], planning.KeyOf(pod))
		}
	}
	return w
}

// look records which gangs run on the node. The parameter list has the node's pods.
func (w *wholeGangs) look(node string, list []*corev1.Pod) {
	for _, pod := range list {
		gang := w.memberOf[planning.KeyOf(pod)]
		if gang == nil || !pods.Active(pod) {
			continue
		}
		if n := len(w.nodes[gang]); n == 0 || w.nodes[gang][n-1] != node {
			w.nodes[gang] = append(w.nodes[gang], node)
		}
	}
}

// ties returns the groups of nodes that must be removed together. A group has the nodes of a gang that runs on several nodes, or that
// requires or prefers one domain. Gangs that share a node, or that are moved together (see Gang.MovedWith), belong to the same group. A
// gang makes no group if it runs on one node, requires or prefers no domain, and no other gangs are moved with it. Such a gang is simply
// moved when its node is removed.
func (w *wholeGangs) ties() []*Tie {
	of, ofParent := map[string]*Tie{}, map[planning.GangKey]*Tie{}
	var all []*Tie
	for _, gang := range w.list {
		nodes := w.nodes[gang]
		parent, withParent := gang.MovedWith()
		if len(nodes) == 0 || len(nodes) == 1 && len(gang.Topology) == 0 && !withParent {
			continue
		}
		tie := &Tie{Gangs: []*planning.Gang{gang}, nodes: slices.Clone(nodes), count: map[*planning.Gang]int{gang: len(nodes)}}
		joins := func(other *Tie) {
			if other != nil && !slices.Contains(tie.Gangs, other.Gangs[0]) {
				tie.join(other)
				all = slices.DeleteFunc(all, func(t *Tie) bool { return t == other })
			}
		}
		for _, node := range nodes {
			joins(of[node])
		}
		if withParent {
			joins(ofParent[parent])
		}
		slices.Sort(tie.nodes)
		tie.nodes = slices.Compact(tie.nodes)
		for _, node := range tie.nodes {
			of[node] = tie
		}
		for _, one := range tie.Gangs {
			if parent, ok := one.MovedWith(); ok {
				ofParent[parent] = tie
			}
		}
		all = append(all, tie)
	}
	slices.SortFunc(all, func(a, b *Tie) int { return strings.Compare(a.nodes[0], b.nodes[0]) })
	return all
}

// join adds the nodes and gangs of other to the tie.
func (t *Tie) join(other *Tie) {
	t.Gangs, t.nodes = append(other.Gangs, t.Gangs...), append(t.nodes, other.nodes...)
	for gang, n := range other.count {
		t.count[gang] = n
	}
}

// requiredKeys returns the labels for which all members of the gang need the same value.
func requiredKeys(gang *planning.Gang) (keys []string) {
	for _, t := range gang.Topology {
		if t.Policy != planning.GangTopologyPreferred {
			keys = append(keys, t.Key)
		}
	}
	return keys
}
