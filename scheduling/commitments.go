package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// commitmentsLeft is what the trial's nodes of the snapshot leave of each commitment for new ones.
func (t *Trial) commitmentsLeft() []int64 {
	switch s := t.m.c.Standings; {
	case s == nil:
		return nil
	case len(t.s.Hidden) == 0:
		return s.Left
	default:
		left, _ := s.Without(t.m.c.Costs, t.s.Hidden)
		return left
	}
}

// committedSavings is what commitments take off the cost of the trial's new nodes.
func (t *Trial) committedSavings() int64 {
	if t.m.c.Standings == nil {
		return 0
	}
	var nodes []*market.Covered
	for i := range t.s.Planned {
		if mc := &t.s.Planned[i]; !mc.Empty() {
			nodes = append(nodes, t.m.c.Pools[mc.Pool].Coverable(t.m.c.Costs, int(mc.Row), int(mc.Slot)))
		}
	}
	t.m.c.Costs.FillNew(t.commitmentsLeft(), nodes)
	sum := int64(0)
	for _, n := range nodes {
		sum += n.Saved()
	}
	return sum
}

// NodePrice is what a node of the snapshot costs now by its offering's list price, its pool's terms, and what commitments
// cover of it; false for a name that the snapshot lacks, and for a node whose instance type or offering no catalog has. It
// is safe for concurrent use.
func (m *Model) NodePrice(name string) (NodePrice, bool) {
	i, ok := m.c.NodeIndex[name]
	if !ok {
		return NodePrice{}, false
	}
	o, source, ok := m.c.Seller().BoughtAs(m.c.Nodes[i].Source)
	if !ok {
		return NodePrice{}, false
	}
	out := NodePrice{Offering: o.Key, Price: float64(o.List) / market.NanoPerUSD}
	if m.c.Costs == nil {
		return out, true
	}
	price, _ := m.c.Costs.Walk(&o, market.NoTerm, nil)
	var shares []market.Share
	if s := m.c.Standings; s != nil {
		shares = s.SharesOf(int32(i))
	}
	for _, sh := range shares {
		price -= sh.Saved
	}
	out.Price, out.Terms = float64(price)/market.NanoPerUSD, model.PriceTerms(m.c.Costs.Lines(&o, source, shares))
	return out, true
}

// boughtNode is a new node of a plan as commitments see it.
type boughtNode struct {
	planned *state.Node
	description
}

// writeCommitments covers the plan's new nodes and writes down what that makes of their prices and of the commitments.
// nodes are in the order of out.NewNodes.
func (t *Trial) writeCommitments(out *Plan, nodes []boughtNode) {
	m := t.m
	if m.c.Standings == nil {
		return
	}
	covers := make([]*market.Covered, len(nodes))
	for i := range nodes {
		covers[i] = m.c.Pools[nodes[i].planned.Pool].Coverable(m.c.Costs, nodes[i].row, nodes[i].slot)
	}
	left := t.commitmentsLeft()
	remains := m.c.Costs.FillNew(left, covers)
	saved := make([]int64, len(left))
	options := map[string][]InstanceTypeOption{}
	for i, c := range covers {
		if len(c.Shares) == 0 {
			continue
		}
		for _, s := range c.Shares {
			saved[s.Commitment] += s.Saved
		}
		text := fmt.Sprint(nodes[i].offers.key, nodes[i].planned.Used, nodes[i].row, c.Shares)
		if options[text] == nil {
			options[text] = m.coveredOptions(&nodes[i], c)
		}
		out.NewNodes[i].InstanceTypes = options[text]
	}
	for k, term := range m.c.Costs.Commitments {
		c := &m.c.Snapshot.CostModel.Terms[term]
		out.Commitments = append(out.Commitments, CommitmentUse{
			Name: c.Name, Source: c.Source, Unit: unitOf(c.Commitment), Amount: c.Commitment.Amount,
			Existing: float64(m.c.Costs.Terms[term].Commitment.Amount-left[k]) / market.Whole, Planned: float64(left[k]-remains[k]) / market.Whole, Saved: float64(saved[k]) / market.NanoPerUSD,
		})
	}
}

// coveredOptions are the node's options with the prices that they have with its shares covered: the first stays first.
func (m *Model) coveredOptions(n *boughtNode, c *market.Covered) []InstanceTypeOption {
	p := m.c.Pools[n.planned.Pool]
	catalog := p.Table.Catalog
	out := make([]InstanceTypeOption, 0, len(n.options))
	for i, plain := range n.options {
		if i == 0 {
			plain.Price, plain.Terms = model.PricedOption(catalog.CoveredAt(p.Table.Rows[n.row].Variant, n.slot, c))
			out = append(out, plain)
			continue
		}
		// Of a type's rows the first offered counts, as in optionsFor.
		at := slices.IndexFunc(n.offers.rows, func(o rowOffer) bool {
			return typeNameOf(p, o.row) == plain.Name && float64(o.price)/market.NanoPerUSD == plain.Price && resources.Fits(n.planned.Used, p.Table.AllocOf(int(o.row), m.c.Resources.Len()))
		})
		o := n.offers.rows[at]
		plain.Price, plain.Terms = model.PricedOption(catalog.CoveredAt(p.Table.Rows[o.row].Variant, int(o.slot), c))
		out = append(out, plain)
	}
	slices.SortStableFunc(out[1:], func(a, b InstanceTypeOption) int { return cmp.Compare(a.Price, b.Price) })
	return out
}

// keepCovered narrows the nodes that would do in place of one that is planned for a commitment to those that it
// covers: bought where it covers the planned one, and covered wherever that is.
func (m *Model) keepCovered(mc *state.Node, rows, slots bitset.Set) {
	if mc.Commitment == 0 {
		return
	}
	k, t := int(mc.Commitment-1), m.c.Pools[mc.Pool].Table
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

// unitOf is what the commitment counts.
func unitOf(c *Commitment) string {
	switch {
	case c.Unit != "":
		return c.Unit
	case c.PercentOfPrice > 0:
		return "USD/h"
	}
	return "nodes"
}
