package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxRuleDomains and maxHolders limit the lengths of Rule.Domains and Rule.Holders.
const maxRuleDomains, maxHolders = 8, 3

// ruleKey identifies cached facts about a rule, by its first group, the pods' shape, and whether the pods state the rule.
type ruleKey struct {
	group, shape int32
	own          bool
}

// described returns the rule, with its counts, in the form that a plan has.
func (x ruleFaults) described(r *rule) planning.Rule {
	key := ruleKey{r.groups[0], x.c.Shape, r.own}
	if known, ok := x.rules[key]; ok {
		return known
	}
	out := planning.Rule{Kind: r.publicKind(), Text: x.words(r)}
	if r.kind == topology.Exclusive {
		out.Text = strings.TrimSuffix(out.Text, planning.TakenWords)
	} else {
		for _, g := range r.groups {
			group := &x.m.Topology[g]
			out.Keys = append(out.Keys, group.Key)
			if !x.hasDomains(group) {
				out.Unknown = append(out.Unknown, planning.Unknown{Kind: planning.UnknownLabel, Name: group.Key, Nearest: x.nearest3(x.labelKeys(), group.Key)})
			}
		}
		x.countDomains(r, &out)
	}
	x.rules[key] = out
	return out
}

// hasDomains reports whether some nodes have the group's topology key, or could be launched with it. The trial's list of domains can't be
// used, because it also has domains of nodes that were only tried for other classes.
func (x ruleFaults) hasDomains(g *topology.Group) bool {
	if g.At == topology.Hostname || len(x.m.Base.Domains[g.At]) > 0 ||
		slices.ContainsFunc(x.t.S.Topology.Hosts, func(h topology.Host) bool { return h.Domains[g.At] != topology.NoDomain }) {
		return true
	}
	_, stated := slices.BinarySearch(x.labelKeys(), g.Key)
	return stated
}

func (r *rule) publicKind() planning.RuleKind {
	switch {
	case r.kind == topology.Spread:
		return planning.RuleSpread
	case r.kind == topology.Affinity:
		return planning.RuleAffinity
	case r.kind == topology.Anti && r.own:
		return planning.RuleAntiAffinity
	case r.kind == topology.Anti:
		return planning.RuleAntiAffinityOfOthers
	case r.kind == topology.Together:
		return planning.RuleSharedVolume
	}
	return planning.RuleHostPort
}

// countDomains sets the domains of a rule, unless the rule's key is the node's name: there may be thousands of nodes.
func (x ruleFaults) countDomains(r *rule, out *planning.Rule) {
	g := r.groups[0]
	group, s := &x.m.Topology[g], x.t.S.Topology
	if r.kind == topology.Spread {
		out.MaxSkew = group.MaxSkew
		if group.MinDomains > 1 {
			out.MinDomains = group.MinDomains
		}
	}
	if group.At == topology.Hostname || len(r.groups) > 1 {
		return
	}
	counts := s.Members[g]
	if r.kind == topology.Anti && !r.own {
		counts = s.Owners[g]
	}
	least := int32(0)
	if r.kind == topology.Spread {
		least = s.Emptiest(g, x.c.Shape)
	}
	for name, d := range s.Domains[group.At] {
		n := topology.CountAt(counts, d)
		if r.kind != topology.Spread {
			if n > 0 {
				out.Domains = append(out.Domains, planning.RuleDomain{Name: name, Pods: n})
			}
			continue
		}
		present := topology.CountAt(s.Present[g], d) > 0
		if present {
			out.Present++
		}
		if present || slices.Contains(s.Reach(x.c.Shape, group.At), d) {
			out.Domains = append(out.Domains, planning.RuleDomain{Name: name, Pods: n, HoldsBack: n == least})
		}
	}
	slices.SortFunc(out.Domains, func(a, b planning.RuleDomain) int {
		if r.kind != topology.Spread {
			a, b = b, a
			return cmp.Or(cmp.Compare(a.Pods, b.Pods), cmp.Compare(b.Name, a.Name))
		}
		return cmp.Or(cmp.Compare(a.Pods, b.Pods), cmp.Compare(a.Name, b.Name))
	})
	if more := len(out.Domains) - maxRuleDomains; more > 0 {
		out.Domains, out.MoreDomains = out.Domains[:maxRuleDomains], more
	}
	if out.MinDomains > out.Present {
		for i := range out.Domains {
			out.Domains[i].HoldsBack = false
		}
	}
	if r.kind == topology.Spread {
		x.nameNodes(g, out)
	}
}

// nameNodes adds, for each domain that restricts the spread, the name of one of its nodes and the check that keeps the pod off this node.
func (x ruleFaults) nameNodes(g int32, out *planning.Rule) {
	group, s := &x.m.Topology[g], x.t.S.Topology
	for i := range out.Domains {
		d := &out.Domains[i]
		if !d.HoldsBack {
			continue
		}
		number := s.Domains[group.At][d.Name]
		for n := range x.m.Nodes {
			h := &s.Hosts[n]
			if h.Gone || h.Domains[group.At] != number || h.Ignored(g) {
				continue
			}
			check, f := nodeFaultsOf(x.explainer).checkNode(int32(n))
			d.Node, d.Check = x.m.Nodes[n].Name, check
			if f.tainted && !group.Filter.Taints {
				d.Taint = &nodeFaultsOf(x.explainer).taintsOf(int32(n))[0]
			}
			break
		}
	}
}

// holdersOn returns the pods on a host because of which the rule refuses the pod. These are pods on the given node of the snapshot. If node
// is -1, they are the DaemonSet pods of a new node.
func (x ruleFaults) holdersOn(r *rule, node int32, daemons []int32) []planning.Holder {
	inTheWay := func(class int32) bool {
		o := x.m.Classes[class].Topology
		if o == nil {
			return false
		}
		list := o.In
		if r.kind == topology.Anti && !r.own {
			list = o.Owns
		}
		return slices.ContainsFunc(r.groups, func(g int32) bool { return topology.Contains(list, g) })
	}
	var out []planning.Holder
	note := func(h planning.Holder) {
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	for _, d := range daemons {
		if inTheWay(x.m.DaemonSets[d].Class) {
			note(planning.Holder{Kind: planning.HolderDaemonSet, Namespace: x.m.DaemonSets[d].Object.Namespace, Name: x.m.DaemonSets[d].Object.Name})
		}
	}
	if node < 0 {
		return firstHolders(out)
	}
	n := &x.m.Nodes[node]
	for _, p := range n.Bound {
		if inTheWay(p.Class) {
			note(planning.Holder{Kind: planning.HolderPod, Namespace: p.Pod.Namespace, Name: p.Pod.Name})
		}
	}
	for _, d := range n.MissingDaemons(x.m.DaemonSets, &x.m.Groups[n.Group]) {
		if inTheWay(x.m.DaemonSets[d].Class) {
			note(planning.Holder{Kind: planning.HolderDaemonSet, Namespace: x.m.DaemonSets[d].Object.Namespace, Name: x.m.DaemonSets[d].Object.Name})
		}
	}
	for b := range x.t.S.Placed.On(node) {
		if inTheWay(b.Class) {
			sample := x.m.Classes[b.Class].Sample
			note(planning.Holder{Kind: planning.HolderPlanned, Namespace: sample.Namespace, Name: sample.Name})
		}
	}
	return firstHolders(out)
}

// firstHolders returns the first few holders after sorting, so that the result does not depend on the order of a node's pods.
func firstHolders(list []planning.Holder) []planning.Holder {
	slices.SortFunc(list, func(a, b planning.Holder) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), maxHolders)]
}
