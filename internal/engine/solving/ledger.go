package solving

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// ledger keeps a packing within the limits of NodePools and the remaining amounts of reservations and commitments. It implements
// filling.Gate, with which a packer asks whether it may buy a node.
type ledger struct {
	t        *trial.Trial
	p        *offers.Choice
	used     [][]int64
	reserved map[string]int
	// committed has the remaining amount of each commitment.
	committed []int64
}

func newLedger(t *trial.Trial, p *offers.Choice) *ledger {
	l := &ledger{t: t, p: p, used: make([][]int64, len(t.S.Limits.Usage)), reserved: map[string]int{}, committed: slices.Clone(p.CommitmentLeft)}
	for i := range l.used {
		l.used[i] = slices.Clone(t.S.Limits.Usage[i])
	}
	for id, n := range t.S.Limits.Reserved {
		l.reserved[id] = n
	}
	return l
}

// Open reports whether one more node of the option may be bought.
func (l *ledger) Open(option int32) bool {
	o := &l.p.Options[option]
	if o.Commitment > 0 && l.committed[o.Commitment-1] < o.Used {
		return false
	}
	p := l.t.M.Pools[o.Pool]
	if p.Limits != nil && !l.t.S.Limits.Allows(o.Pool, l.used[o.Pool], p.RowCost(int(o.Row))) {
		return false
	}
	return state.Reservable(l.t.M.Pools, o.Pool, o.Row, o.Slot, l.reserved)
}

// Buy records the purchase of one node of the option. It returns false, and records nothing, if Open does not allow the purchase.
func (l *ledger) Buy(option int32) bool {
	if !l.Open(option) {
		return false
	}
	o := &l.p.Options[option]
	if p := l.t.M.Pools[o.Pool]; p.Limits != nil {
		resources.AddScaled(l.used[o.Pool], p.RowCost(int(o.Row)), 1)
	}
	if o.Commitment > 0 {
		l.committed[o.Commitment-1] -= o.Used
	}
	if id := offers.Reservation(l.t.M.Pools, o.Pool, o.Slot); id != "" {
		l.reserved[id]++
	}
	return true
}

// gated reports whether some option uses a pool with limits or a reservation.
func (t Solving) gated(p *offers.Choice) bool {
	return slices.ContainsFunc(p.Options, func(o pricing.Option) bool {
		return t.M.Pools[o.Pool].Limits != nil || offers.Reservation(t.M.Pools, o.Pool, o.Slot) != ""
	})
}
