package survey

import (
	"cmp"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// BySavings orders candidates by descending ratio. Where those are equal the less disturbing goes first, then the name
// decides, so that the order is total: the ratio of the reference leaves equal ones in no order.
func BySavings(list []*decision.Candidate) {
	slices.SortFunc(list, func(a, b *decision.Candidate) int {
		return cmp.Or(cmp.Compare(b.Ratio(), a.Ratio()), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Name, b.Name))
	})
}

// ByDrift orders candidates for drift: those without pods to move first, then the longest drifted, then by name.
func ByDrift(list []*decision.Candidate) {
	rank := func(c *decision.Candidate) int { return min(len(c.Pods), 1) }
	slices.SortFunc(list, func(a, b *decision.Candidate) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Drifted.Compare(b.Drifted), cmp.Compare(a.Name, b.Name))
	})
}

// label is a label of the Node, else of the NodeClaim before it is registered.
func label(m *cluster.Machine, key string) string {
	if m.Node != nil && (m.Claim == nil || m.Node.Labels[v1.NodeRegisteredLabelKey] == "true") {
		return m.Node.Labels[key]
	}
	if m.Claim != nil {
		return m.Claim.Labels[key]
	}
	return ""
}
