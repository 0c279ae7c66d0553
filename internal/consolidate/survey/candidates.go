package survey

import (
	"cmp"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// BySavings sorts candidates by descending ratio of saving to disruption. Candidates with equal ratios are sorted by disruption, then by
// name. So the order is always defined. In Karpenter, the order of candidates with equal ratios is undefined.
func BySavings(list []*decision.Candidate) {
	slices.SortFunc(list, func(a, b *decision.Candidate) int {
		return cmp.Or(cmp.Compare(b.Ratio(), a.Ratio()), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Name, b.Name))
	})
}

// ByDrift sorts candidates for drift. Nodes without pods to move come first. Nodes are then sorted by the time at which they drifted, and
// then by name.
func ByDrift(list []*decision.Candidate) {
	rank := func(c *decision.Candidate) int { return min(len(c.Pods), 1) }
	slices.SortFunc(list, func(a, b *decision.Candidate) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Drifted.Compare(b.Drifted), cmp.Compare(a.Name, b.Name))
	})
}

// DriftOrder returns the candidates for drift in the order of ByDrift. Of nodes that must be removed together, only the node that drifted
// first is in the list.
func (f *Fleet) DriftOrder(accepted []*decision.Candidate) []*decision.Candidate {
	list := slices.Clone(accepted)
	if len(f.Ties) > 0 {
		list = slices.DeleteFunc(list, func(c *decision.Candidate) bool {
			t := f.TieOf(c.Name)
			return t != nil && t.firstDrifted() != c
		})
	}
	ByDrift(list)
	return list
}

// Together returns the nodes that must be removed together with the candidate, including the candidate, and their Tie. If the candidate can
// be removed alone, both results are nil.
func (f *Fleet) Together(c *decision.Candidate) ([]*decision.Candidate, *Tie) {
	if t := f.TieOf(c.Name); t != nil {
		return t.Members, t
	}
	return []*decision.Candidate{c}, nil
}

// label returns a label of the Node, or of the NodeClaim while the node is not registered.
func label(m *cluster.NodeState, key string) string {
	if m.Node != nil && (m.Claim == nil || m.Node.Labels[v1.NodeRegisteredLabelKey] == "true") {
		return m.Node.Labels[key]
	}
	if m.Claim != nil {
		return m.Claim.Labels[key]
	}
	return ""
}
