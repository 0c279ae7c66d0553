package scheduling

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// profileFor is the alternative of the stage under which the machine takes the stage's pods.
func (m *Model) profileFor(stage int32, mc *machine) *profile {
	as := assignment{labels: mc.labels}
	for _, u := range m.stages[stage].uses {
		if u.pool != mc.pool {
			continue
		}
		if f := &m.pools[u.pool].profiles[u.profile]; f.rows.Has(int(mc.row)) && f.slots.Has(int(mc.slot)) && as.allows(f) {
			return f
		}
	}
	return &profile{rows: m.pools[mc.pool].rows, slots: m.pools[mc.pool].slots}
}

// rowOffers lists the rows that can be bought in one of the slots, each with its cheapest offering there, cheapest first.
func (m *Model) rowOffers(p *pool, rows, slots bitset.Set) []rowOffer {
	t, c := p.table, p.table.catalog
	var out []rowOffer
	for r := range rows.Members {
		slot, price := c.Cheapest(t.rows[r].variant, t.rows[r].slots, slots)
		if slot < 0 {
			continue
		}
		name := c.Types[c.Variants[t.rows[r].variant].Type].Name
		out = append(out, rowOffer{r, slot, m.optionAt(c, name, t.rows[r].variant, slot, price)})
	}
	slices.SortFunc(out, func(a, b rowOffer) int {
		return cmp.Or(cmp.Compare(a.option.Price, b.option.Price), cmp.Compare(a.option.Name, b.option.Name), cmp.Compare(a.row, b.row))
	})
	return out
}

// optionAt is a variant, of the type named, as it is sold in a slot.
func (m *Model) optionAt(c *market.Catalog, name string, variant, slot int, price int64) InstanceTypeOption {
	s := &c.Slots[slot]
	out := InstanceTypeOption{Name: name, Zone: s.Zone, CapacityType: s.CapacityType, Others: s.Others, Price: float64(price) / market.NanoPerUSD}
	if c.HasCosts() {
		out.Terms = priceTerms(c.Lines(variant, slot, nil))
	}
	return out
}

// optionsFor appends to out the instance types that hold the machine's pods, cheapest first, each with its cheapest
// offering: the first so many, where commitments don't ask for the planned one among them. A type that would take more from the
// pool's limits than the planned one and spare, the node's share of what the plan leaves of them, is left out.
func (m *Model) optionsFor(out []InstanceTypeOption, p *pool, mc *machine, spare []int64, offers []rowOffer, limit int) []InstanceTypeOption {
	t, dims := p.table, m.resources.Len()
	var most []int64
	if p.limits != nil {
		most = p.rowCost(int(mc.row))
		resources.AddScaled(most, spare, 1)
	}
	for i := range offers {
		if len(out) >= limit && m.standings == nil {
			break
		}
		o := &offers[i]
		if !resources.Fits(mc.used, t.allocOf(o.row, dims)) || (most != nil && !resources.Fits(p.rowCost(o.row), most)) {
			continue
		}
		// Of a type's rows the cheapest counts. Without splits each type has but one.
		if t.split && slices.ContainsFunc(out, func(have InstanceTypeOption) bool { return have.Name == o.option.Name }) {
			continue
		}
		out = append(out, o.option)
	}
	return out
}

// ownFirst puts the machine itself first among the options if none is cheaper, and reports whether it did. Commitments cover
// some machines and not others of the same price, and the trial has reckoned with this one.
func (m *Model) ownFirst(options []InstanceTypeOption, p *pool, mc *machine) bool {
	if m.standings == nil || len(options) == 0 {
		return false
	}
	c, variant := p.table.catalog, p.table.rows[mc.row].variant
	name := c.Types[c.Variants[variant].Type].Name
	own := m.optionAt(c, name, variant, int(mc.slot), c.Price(variant, int(mc.slot)))
	at := slices.IndexFunc(options, func(o InstanceTypeOption) bool { return o.Name == name })
	if at < 0 || own.Price != options[0].Price {
		return false
	}
	copy(options[1:at+1], options[:at])
	options[0] = own
	return true
}

// rowOf is the row behind the first option of the list: the type's cheapest that holds the machine's pods, of equals the first.
func (m *Model) rowOf(p *pool, name string, mc *machine, offers []rowOffer) int {
	for i := range offers { // by price, then name, then row
		if o := &offers[i]; o.option.Name == name && resources.Fits(mc.used, p.table.allocOf(o.row, m.resources.Len())) {
			return o.row
		}
	}
	return int(mc.row)
}
