package newnodes

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// profileFor returns the first profile of the stage that the node meets. If the node meets no profile, profileFor returns a profile with
// all rows and slots of the pool.
func profileFor(m *model.Model, stage int32, mc *state.Node) *nodepool.Profile {
	as := nodepool.Assignment{Labels: mc.Labels}
	for _, u := range m.Stages[stage].Uses {
		if u.Pool != mc.Pool {
			continue
		}
		if f := &m.Pools[u.Pool].Profiles[u.Profile]; f.Rows.Has(int(mc.Row)) && f.Slots.Has(int(mc.Slot)) && as.Allows(f) {
			return f
		}
	}
	return &nodepool.Profile{Rows: m.Pools[mc.Pool].Rows, Slots: m.Pools[mc.Pool].Slots}
}

// rowOffers lists the rows that can be bought in one of the slots, each with its cheapest offering in these slots, sorted by price.
func rowOffers(m *model.Model, p *nodepool.Pool, rows, slots bitset.Set) []rowOffer {
	t, c := p.Table, p.Table.Catalog
	out := make([]rowOffer, 0, rows.Count())
	for r := range rows.Members {
		if slot, price := c.Cheapest(t.Rows[r].Variant, t.Rows[r].Slots, slots); slot >= 0 {
			out = append(out, rowOffer{row: int32(r), slot: int32(slot), price: price})
		}
	}
	slices.SortFunc(out, func(a, b rowOffer) int {
		if a.price != b.price {
			return cmp.Compare(a.price, b.price)
		}
		return cmp.Or(cmp.Compare(typeNameOf(p, a.row), typeNameOf(p, b.row)), cmp.Compare(a.row, b.row))
	})
	return out
}

// typeNameOf returns the name of the row's instance type.
func typeNameOf(p *nodepool.Pool, row int32) string {
	c := p.Table.Catalog
	return c.Types[c.Variants[p.Table.Rows[row].Variant].Type].Name
}

// roomForOptions is the number of options that are allocated at once.
const roomForOptions = 16

// optionAt describes a variant of the named type that is bought in a slot.
func optionAt(m *model.Model, c *market.Catalog, name string, variant, slot int, price int64) planning.InstanceTypeOption {
	s := &c.Slots[slot]
	out := planning.InstanceTypeOption{Name: name, Zone: s.Zone, CapacityType: s.CapacityType, Others: s.Others, Price: float64(price) / market.NanoPerUSD}
	if c.HasCosts() {
		out.Terms = model.PriceTerms(c.Lines(variant, slot, nil))
	}
	return out
}

// optionsFor appends to out the instance types that hold the node's pods, cheapest first, each with its cheapest offering. The parameter
// limit is the maximum number of types, unless the model has commitments. It leaves out types that would use more of the pool's limits than
// the planned type plus spare. spare is the node's share of the limits that the plan leaves unused.
func optionsFor(m *model.Model, out []planning.InstanceTypeOption, p *nodepool.Pool, mc *state.Node, spare []int64, offers *offersOf, limit int) []planning.InstanceTypeOption {
	t, dims := p.Table, m.Resources.Len()
	var most []int64
	if p.Limits != nil {
		most = p.RowCost(int(mc.Row))
		resources.AddScaled(most, spare, 1)
	}
	for i := range offers.rows {
		if len(out) >= limit && m.Standings == nil {
			break
		}
		row := int(offers.rows[i].row)
		if !resources.Fits(mc.Used, t.AllocOf(row, dims)) || (most != nil && !resources.Fits(p.RowCost(row), most)) {
			continue
		}
		// A row of the pool's table is a variant of an instance type on which the same DaemonSets run. If a type has several rows, only the
		// cheapest row is used. Most types have only one row.
		option := offers.option(m, p, i)
		if t.Several && slices.ContainsFunc(out, func(have planning.InstanceTypeOption) bool { return have.Name == option.Name }) {
			continue
		}
		out = append(out, *option)
	}
	return out
}

// ownFirst puts the planned node itself first among the options if no option is cheaper, and reports whether it did so. Commitments may
// cover only some of several options with the same price, and the trial used the price of the planned node.
func ownFirst(m *model.Model, options []planning.InstanceTypeOption, p *nodepool.Pool, mc *state.Node) bool {
	if m.Standings == nil || len(options) == 0 {
		return false
	}
	c, variant := p.Table.Catalog, p.Table.Rows[mc.Row].Variant
	name := c.Types[c.Variants[variant].Type].Name
	own := optionAt(m, c, name, variant, int(mc.Slot), c.Price(variant, int(mc.Slot)))
	at := slices.IndexFunc(options, func(o planning.InstanceTypeOption) bool { return o.Name == name })
	if at < 0 || own.Price != options[0].Price {
		return false
	}
	copy(options[1:at+1], options[:at])
	options[0] = own
	return true
}

// rowOf returns the cheapest row of the named instance type that holds the node's pods. Of equally cheap rows, it returns the first. If
// there is no such row, it returns the row of the planned node.
func rowOf(m *model.Model, p *nodepool.Pool, name string, mc *state.Node, offers []rowOffer) int {
	for i := range offers { // offers are sorted by price, then name, then row
		if row := offers[i].row; typeNameOf(p, row) == name && resources.Fits(mc.Used, p.Table.AllocOf(int(row), m.Resources.Len())) {
			return int(row)
		}
	}
	return int(mc.Row)
}
