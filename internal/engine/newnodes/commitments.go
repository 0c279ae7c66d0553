package newnodes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// CommitmentsLeft returns, for each commitment, the amount that existing nodes leave unused. It returns nil if there are no commitments.
func (t NewNodes) CommitmentsLeft() []int64 {
	switch s := t.M.Standings; {
	case s == nil:
		return nil
	case len(t.S.Hidden) == 0:
		return s.Left
	default:
		left, _ := s.Without(t.M.Costs, t.S.Hidden)
		return left
	}
}

// committedSavings returns the amount by which commitments reduce the cost of the trial's new nodes.
func (t NewNodes) committedSavings() int64 {
	if t.M.Standings == nil {
		return 0
	}
	var nodes []*market.Covered
	for i := range t.S.Planned {
		if mc := &t.S.Planned[i]; !mc.Empty() {
			nodes = append(nodes, t.M.Pools[mc.Pool].Coverable(t.M.Costs, int(mc.Row), int(mc.Slot)))
		}
	}
	t.M.Costs.FillNew(t.CommitmentsLeft(), nodes)
	sum := int64(0)
	for _, n := range nodes {
		sum += n.Saved()
	}
	return sum
}

// NodePrice returns the current price of a node of the snapshot: the list price of its offering, changed by the terms that apply to its
// pool and by commitments. It returns false for an unknown name, and for a node whose instance type or offering is in no catalog. It may be
// called concurrently.
func NodePrice(m *model.Model, name string) (planning.NodePrice, bool) {
	i, ok := m.NodeIndex[name]
	if !ok {
		return planning.NodePrice{}, false
	}
	o, source, ok := m.Seller().BoughtAs(m.Nodes[i].Source)
	if !ok {
		return planning.NodePrice{}, false
	}
	out := planning.NodePrice{Offering: o.Key, Price: float64(o.List) / market.NanoPerUSD}
	if m.Costs == nil {
		return out, true
	}
	price, _ := m.Costs.Walk(&o, market.NoTerm, nil)
	var shares []market.Share
	if s := m.Standings; s != nil {
		shares = s.SharesOf(int32(i))
	}
	for _, sh := range shares {
		price -= sh.Saved
	}
	out.Price, out.Terms = float64(price)/market.NanoPerUSD, model.PriceTerms(m.Costs.Lines(&o, source, shares))
	return out, true
}

// BoughtNode describes a new node of a plan when commitments are computed.
type BoughtNode struct {
	Planned *state.Node
	Description
}

// WriteCommitments covers the plan's new nodes with commitments. It writes the resulting prices of the nodes and the use of each commitment
// to out. nodes has the same order as out.NewNodes.
func (t NewNodes) WriteCommitments(out *planning.Plan, nodes []BoughtNode) {
	m := t.M
	if m.Standings == nil {
		return
	}
	covers := make([]*market.Covered, len(nodes))
	for i := range nodes {
		covers[i] = m.Pools[nodes[i].Planned.Pool].Coverable(m.Costs, nodes[i].row, nodes[i].slot)
	}
	left := t.CommitmentsLeft()
	remains := m.Costs.FillNew(left, covers)
	saved := make([]int64, len(left))
	options := map[string][]planning.InstanceTypeOption{}
	for i, c := range covers {
		if len(c.Shares) == 0 {
			continue
		}
		for _, s := range c.Shares {
			saved[s.Commitment] += s.Saved
		}
		text := fmt.Sprint(nodes[i].offers.key, nodes[i].Planned.Used, nodes[i].row, c.Shares)
		if options[text] == nil {
			options[text] = coveredOptions(m, &nodes[i], c)
		}
		out.NewNodes[i].InstanceTypes = options[text]
	}
	for k, term := range m.Costs.Commitments {
		c := &m.Snapshot.CostModel.Terms[term]
		out.Commitments = append(out.Commitments, planning.CommitmentUse{
			Name: c.Name, Source: c.Source, Unit: unitOf(c.Commitment), Amount: c.Commitment.Amount,
			Existing: float64(m.Costs.Terms[term].Commitment.Amount-left[k]) / market.Whole, Planned: float64(left[k]-remains[k]) / market.Whole, Saved: float64(saved[k]) / market.NanoPerUSD,
		})
	}
}

// coveredOptions returns the node's options with the prices that result from c. c says which shares of the node are covered by commitments.
// The first option stays first.
func coveredOptions(m *model.Model, n *BoughtNode, c *market.Covered) []planning.InstanceTypeOption {
	p := m.Pools[n.Planned.Pool]
	catalog := p.Table.Catalog
	out := make([]planning.InstanceTypeOption, 0, len(n.options))
	for i, plain := range n.options {
		if i == 0 {
			plain.Price, plain.Terms = model.PricedOption(catalog.CoveredAt(p.Table.Rows[n.row].Variant, n.slot, c))
			out = append(out, plain)
			continue
		}
		row, slot := n.offered(m, plain)
		plain.Price, plain.Terms = model.PricedOption(catalog.CoveredAt(p.Table.Rows[row].Variant, slot, c))
		out = append(out, plain)
	}
	slices.SortStableFunc(out[1:], func(a, b planning.InstanceTypeOption) int { return cmp.Compare(a.Price, b.Price) })
	return out
}

// keepCovered restricts the replacements of a node that was planned because of a commitment. First it removes the slots in which the
// commitment does not cover the planned node. Then it removes each row that can be bought without the commitment in some remaining slot.
func keepCovered(m *model.Model, mc *state.Node, rows, slots bitset.Set) {
	if mc.Commitment == 0 {
		return
	}
	k, t := int(mc.Commitment-1), m.Pools[mc.Pool].Table
	for s := range slots.Members {
		if t.Catalog.Cover(k, t.Rows[mc.Row].Variant, s).Used == 0 {
			slots.Remove(s)
		}
	}
	for r := range rows.Members {
		for s := range slots.Members {
			variant := t.Rows[r].Variant
			if t.Rows[r].Slots.Has(s) && t.Catalog.Price(variant, s) != market.NoPrice && t.Catalog.Cover(k, variant, s).Used == 0 {
				rows.Remove(r)
				break
			}
		}
	}
}

// unitOf returns the unit of the commitment.
func unitOf(c *planning.Commitment) string {
	switch {
	case c.Unit != "":
		return c.Unit
	case c.PercentOfPrice > 0:
		return "USD/h"
	}
	return "nodes"
}
