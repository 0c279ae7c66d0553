package placing

import (
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// exchangesFor returns the nodes to try in place of a new node. The first is the cheapest node of rows and slots that has room for
// other.Used. If the first node leaves fewer types than the pool's minValues require, the second is the cheapest node that leaves enough
// types. Neither node exceeds the pool's remaining limits.
func (t Growth) exchangesFor(mc, other *state.Node, rows, slots bitset.Set) (out []state.Node) {
	p, most := t.M.Pools[mc.Pool], t.S.Limits.Spare(mc)
	add := func(row, slot int32, price int64) {
		if row < 0 || offers.Reservation(t.M.Pools, mc.Pool, slot) != mc.Reservation(t.M.Pools) {
			return
		}
		at := *other
		at.Row, at.Slot, at.Price = row, slot, price
		out = append(out, at)
	}
	row, slot, price := p.CheapestWithin(other.Used, rows, slots, most)
	add(row, slot, price)
	if row >= 0 && p.Limits != nil && t.StrictVariety(p) && !p.VariedFor(row, other.Used, rows, slots) {
		add(p.CheapestVaried(other.Used, rows, slots, most))
	}
	return out
}
