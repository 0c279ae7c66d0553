package offers

import (
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Anywhere returns the Choice with all options that pods of any size at the places could use. Narrow can restrict this Choice to some
// items.
func (m *Market) Anywhere(places []pricing.Place) *Choice {
	items, nothing := make([]pricing.Item, len(places)), make([]int64, m.Dims)
	for i, place := range places {
		items[i] = pricing.Item{Place: place, Count: 1, Need: nothing, PerNode: pricing.Unbounded}
	}
	return m.Choose(items, nil)
}

// Narrow returns the Choice for items of the same places if no item is in a cell. If an option replaces another option, it also holds all
// items that the other option holds. So the result has the same options that Choose would find. It has no dominated options and no
// commitments.
func (p *Choice) Narrow(m *Market, items []pricing.Item, c *layout.Cells) *Choice {
	out := &Choice{Problem: pricing.Problem{Dims: m.Dims, Resources: m.Dims, Items: items, Celled: c != nil}, Assigned: p.Assigned, Cells: c}
	small := pricing.Smallest(items, m.Dims)
	for i := range p.Options {
		if resources.Fits(small, p.Options[i].Alloc) {
			out.Options = append(out.Options, p.Options[i])
		}
	}
	out.findReserved(m)
	return out
}

// findReserved finds the options that use reservations.
func (p *Choice) findReserved(m *Market) {
	for o := range p.Options {
		if !p.Options[o].Limited {
			continue
		}
		if p.Reserved == nil {
			p.Reserved, p.Left = map[int32]string{}, map[string]int{}
		}
		id := Reservation(m.Pools, p.Options[o].Pool, p.Options[o].Slot)
		p.Reserved[int32(o)] = id
		p.Left[id] = m.Pools[p.Options[o].Pool].Table.Catalog.Reservations[id]
	}
}
