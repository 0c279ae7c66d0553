package placing

import "github.com/drawknife/drawknife/internal/engine/newnodes"

// Settle replaces each new node by the cheapest that holds the pods it finally has.
func (t Growth) Settle() {
	for k, load := range t.S.Placed.Loads(t.Fresh) {
		if load == nil {
			continue
		}
		i := t.Fresh + k
		mc := &t.S.Planned[i]
		rows, slots, _ := newnodes.Of(t.Trial).Allowed(mc, load)
		row, slot, price := t.M.Pools[mc.Pool].CheapestLike(mc.Row, mc.Used, rows, slots)
		if row < 0 || price >= mc.Price {
			continue
		}
		other, before := *mc, t.Mark()
		other.Row, other.Slot, other.Price = row, slot, price
		if !t.exchangeVaried(int32(i), other, load) {
			// The more expensive node takes less from the pool's limits, so that enough types may be launched.
			t.Undo(before)
			other = *mc
			other.Price = price
			t.S.Exchange(int32(i), other)
		}
	}
}
