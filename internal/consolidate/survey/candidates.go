package survey

import (
	"cmp"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// BySavings orders candidates by descending ratio of saving to disruption; equal ones by disruption, then by name. The order is total,
// unlike Karpenter's, which leaves equal ratios in no order.
func BySavings(list []*decision.Candidate) {
	slices.SortFunc(list, func(a, b *decision.Candidate) int {
		return cmp.Or(cmp.Compare(b.Ratio(), a.Ratio()), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Name, b.Name))
	})
}

// ByDrift orders candidates for drift: nodes without pods to move first, then the ones drifted longest, then by name.
func ByDrift(list []*decision.Candidate) {
	rank := func(c *decision.Candidate) int { return min(len(c.Pods), 1) }
	slices.SortFunc(list, func(a, b *decision.Candidate) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Drifted.Compare(b.Drifted), cmp.Compare(a.Name, b.Name))
	})
}

// DriftOrder returns the candidates for drift in the order of ByDrift. Of nodes that must be removed together, only one is among them: the
// one that drifted first.
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

// Together returns the nodes that go with the candidate, itself among them, and what ties them, or nil if it goes alone.
func (f *Fleet) Together(c *decision.Candidate) ([]*decision.Candidate, *Tie) {
	if t := f.TieOf(c.Name); t != nil {
		return t.Members, t
	}
	return []*decision.Candidate{c}, nil
}

// label returns a label of the Node, or of the NodeClaim before the node is registered.
func label(m *cluster.NodeState, key string) string {
	if m.Node != nil && (m.Claim == nil || m.Node.Labels[v1.NodeRegisteredLabelKey] == "true") {
		return m.Node.Labels[key]
	}
	if m.Claim != nil {
		return m.Claim.Labels[key]
	}
	return ""
}
