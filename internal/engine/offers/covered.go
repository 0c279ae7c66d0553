package offers

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// addCommitted adds the option o to p.Committed once for each commitment that covers it. It leaves out o if another slot of the same row
// has an option that costs no more, uses no more of the commitment, and can take all places that o can. The option o must not have a price
// yet.
func (p *Choice) addCommitted(m *Market, u poolUsers, o pricing.Option) {
	t := m.Pools[u.pool].Table
next:
	for k := range m.Commitments {
		c := t.Catalog.Cover(k, t.Rows[o.Row].Variant, int(o.Slot))
		if c.Used == 0 {
			continue
		}
		for i := len(p.Committed) - 1; i >= 0; i-- {
			have := &p.Committed[i]
			if have.Pool != o.Pool || have.Row != o.Row || have.Assign != o.Assign {
				break
			}
			if have.Commitment == int32(k+1) && have.Price <= c.Price && have.Used <= c.Used && (!p.everyCell || have.Cell == o.Cell) && o.Open.Within(have.Open) {
				continue next
			}
		}
		add := o
		add.Commitment, add.Price, add.Used, add.Open = int32(k+1), c.Price, c.Used, o.Open.Clone()
		p.Committed = append(p.Committed, add)
	}
}

// keepCommitted removes the committed options that another option with the same commitment can replace.
func (p *Choice) keepCommitted(m *Market) {
	if len(p.Committed) == 0 {
		return
	}
	var kept []pricing.Option
	slices.SortFunc(p.Committed, func(a, b pricing.Option) int {
		return cmp.Or(cmp.Compare(a.Commitment, b.Commitment), cmp.Compare(a.Used, b.Used), pricing.CompareOptions(&a, &b))
	})
next:
	for i := range p.Committed {
		o := &p.Committed[i]
		for j := len(kept) - 1; j >= 0 && kept[j].Commitment == o.Commitment; j-- {
			if k := &kept[j]; k.Price <= o.Price && resources.Fits(o.Alloc, k.Alloc) && o.Open.Within(k.Open) && m.standsIn(k, o) {
				continue next
			}
		}
		kept = append(kept, *o)
	}
	p.Committed = kept
}
