package newnodes

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// PriceMarginally sets the price of each new node to the cost that the node adds. The part of a node that commitments cover adds no cost.
// bought contains the trial's nodes with pods, from index first on, in the trial's order. nodes contains the descriptions of these nodes.
// The new nodes use the commitments one after another. Each node uses only the part that the nodes of the snapshot and earlier planned
// nodes leave unused. A commitment counts only if it covers each offering that the node's claim allows, because any of them may be
// launched.
func (t NewNodes) PriceMarginally(nodes []planning.NewNode, bought []BoughtNode, first int) {
	if t.M.Standings == nil {
		return
	}
	left := t.leftBefore(first)
	for i := range bought {
		if !slices.ContainsFunc(left, func(rest int64) bool { return rest > 0 }) {
			return
		}
		nodes[i].InstanceTypes, left = marginalOptions(t.M, &bought[i], nodes[i].InstanceTypes, left)
	}
}

// leftBefore returns the part of each commitment that the nodes of the snapshot and the planned nodes with smaller numbers don't use.
func (t NewNodes) leftBefore(number int) []int64 {
	var earlier []*market.Covered
	for i := range t.S.Planned[:number] {
		if mc := &t.S.Planned[i]; !mc.Empty() {
			earlier = append(earlier, t.M.Pools[mc.Pool].Coverable(t.M.Costs, int(mc.Row), int(mc.Slot)))
		}
	}
	return t.M.Costs.FillNew(t.CommitmentsLeft(), earlier)
}

// marginalOptions returns the options with the costs that they add. left is the unused part of each commitment, and the result rest is the
// part that is still unused after the first option is bought. The first option stays first, because it is planned. The other options are
// sorted by price.
func marginalOptions(m *model.Model, n *BoughtNode, options []planning.InstanceTypeOption, left []int64) (out []planning.InstanceTypeOption, rest []int64) {
	p := m.Pools[n.Planned.Pool]
	rest = left
	out = make([]planning.InstanceTypeOption, 0, len(options))
	for i, option := range options {
		row, slot := n.row, n.slot
		if i > 0 {
			if row, slot = n.offered(m, option); row < 0 {
				continue
			}
		}
		covered := p.Coverable(m.Costs, row, slot)
		for k := range covered.By {
			if !surelyCovered(p.Table.Catalog, k, p.Table.Rows[row].Variant, n.claim) {
				covered.By[k] = market.Coverage{}
			}
		}
		remains := m.Costs.FillNew(left, []*market.Covered{covered})
		if i == 0 {
			rest = remains
		}
		option.Price, option.Terms = model.PricedOption(p.Table.Catalog.CoveredAt(p.Table.Rows[row].Variant, slot, covered))
		out = append(out, option)
	}
	slices.SortStableFunc(out[min(1, len(out)):], func(a, b planning.InstanceTypeOption) int { return cmp.Compare(a.Price, b.Price) })
	return out, rest
}

// offered returns the row and slot of an option. The row is the type's first row that has the option's price and room for the node's pods,
// as in optionsFor. row is -1 if there is no such row.
func (n *BoughtNode) offered(m *model.Model, option planning.InstanceTypeOption) (row, slot int) {
	p := m.Pools[n.Planned.Pool]
	for _, o := range n.offers.rows {
		if typeNameOf(p, o.row) == option.Name && float64(o.price)/market.NanoPerUSD == option.Price && resources.Fits(n.Planned.Used, p.Table.AllocOf(int(o.row), m.Resources.Len())) {
			return int(o.row), int(o.slot)
		}
	}
	return -1, -1
}

// surelyCovered reports whether commitment k covers each offering of the variant that the claim allows.
func surelyCovered(c *market.Catalog, k, variant int, claim requirements.Set) bool {
	for s := range c.Slots {
		if c.Price(variant, s) != market.NoPrice && c.Cover(k, variant, s).Used == 0 && allowsSlot(c, s, claim) {
			return false
		}
	}
	return true
}

func allowsSlot(c *market.Catalog, slot int, claim requirements.Set) bool {
	for r := range claim.All {
		if c.OfferingKeys[r.Key()] && !match.Meets(c.Slots[slot].Labels, r) {
			return false
		}
	}
	return true
}
