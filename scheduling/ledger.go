package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// ledger keeps a packing inside what is limited: NodePool limits and reservations. It is the gate of a packer.
type ledger struct {
	t        *Trial
	p        *problem
	used     [][]int64
	reserved map[string]int
	// committed is what is left of each commitment.
	committed []int64
}

func newLedger(t *Trial, p *problem) *ledger {
	l := &ledger{t: t, p: p, used: make([][]int64, len(t.usage)), reserved: map[string]int{}, committed: slices.Clone(p.commitmentLeft)}
	for i := range l.used {
		l.used[i] = slices.Clone(t.usage[i])
	}
	for id, n := range t.reserved {
		l.reserved[id] = n
	}
	return l
}

// open reports whether one more node of the option may be bought.
func (l *ledger) open(option int32) bool {
	o := &l.p.options[option]
	if o.commitment > 0 && l.committed[o.commitment-1] < o.used {
		return false
	}
	p := l.t.m.pools[o.pool]
	if p.Limits != nil && !l.t.allows(o.pool, l.used[o.pool], p.RowCost(int(o.row))) {
		return false
	}
	return l.t.m.reservable(o.pool, o.row, o.slot, l.reserved)
}

// buy takes one node of the option, if it may be bought.
func (l *ledger) buy(option int32) bool {
	if !l.open(option) {
		return false
	}
	o := &l.p.options[option]
	if p := l.t.m.pools[o.pool]; p.Limits != nil {
		resources.AddScaled(l.used[o.pool], p.RowCost(int(o.row)), 1)
	}
	if o.commitment > 0 {
		l.committed[o.commitment-1] -= o.used
	}
	if id := l.t.m.reservationOf(o.pool, o.slot); id != "" {
		l.reserved[id]++
	}
	return true
}

// gated reports whether anything in the problem is limited.
func (t *Trial) gated(p *problem) bool {
	return slices.ContainsFunc(p.options, func(o option) bool {
		return t.m.pools[o.pool].Limits != nil || t.m.reservationOf(o.pool, o.slot) != ""
	})
}

// reservationOf names the reservation a slot draws on; empty if it draws on none.
func (m *Model) reservationOf(pool, slot int32) string {
	return m.pools[pool].Table.Catalog.Slots[slot].Reservation
}

// reservable reports whether the slot's reservation has room for one more node besides those taken.
func (m *Model) reservable(pool, row, slot int32, taken map[string]int) bool {
	t := m.pools[pool].Table
	id := t.Catalog.Slots[slot].Reservation
	return id == "" || taken[id] < t.Catalog.Reservations[id]
}

func (t *Trial) reservable(pool, row, slot int32) bool {
	return t.m.reservable(pool, row, slot, t.reserved)
}

// reserve takes instances of the node's reservation, if it has one.
func (t *Trial) reserve(mc *machine, n int) {
	if id := t.m.reservationOf(mc.pool, mc.slot); id != "" {
		if t.reserved == nil {
			t.reserved = map[string]int{}
		}
		t.reserved[id] += n
	}
}
