package scheduling

// settle exchanges each new node for the cheapest that would do for the pods it ended up with.
func (t *Trial) settle() {
	for k, load := range t.s.Loads(t.fresh) {
		if load == nil {
			continue
		}
		i := t.fresh + k
		mc := &t.s.Planned[i]
		rows, slots, _ := t.allowed(mc, load)
		row, slot, price := t.m.c.Pools[mc.Pool].CheapestLike(mc.Row, mc.Used, rows, slots)
		if row < 0 || price >= mc.Price {
			continue
		}
		other, before := *mc, t.Mark()
		other.Row, other.Slot, other.Price = row, slot, price
		if !t.exchangeVaried(int32(i), other, load) {
			// The dearer one keeps more of the pool's limits, so that enough types may be launched.
			t.undo(before)
			other = *mc
			other.Price = price
			t.s.Exchange(int32(i), other)
		}
	}
}

func (t *Trial) newCost() int64 {
	sum := int64(0)
	for i := range t.s.Planned {
		if !t.s.Planned[i].Empty() {
			sum += t.s.Planned[i].Price
		}
	}
	return sum - t.committedSavings()
}
