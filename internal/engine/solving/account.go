package solving

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// account keeps a packing within the limits of NodePools and the remaining amounts of reservations and commitments. It implements
// filling.Gate, with which a packer asks whether it may buy a node.
type account struct {
	t        *trial.Trial
	p        *offers.Choice
	used     [][]int64
	reserved map[string]int
	// committed has the remaining amount of each commitment.
	committed []int64
}

func newAccount(t *trial.Trial, p *offers.Choice) *account {
	a := &account{t: t, p: p, used: make([][]int64, len(t.S.Limits.Usage)), reserved: map[string]int{}, committed: slices.Clone(p.CommitmentLeft)}
	for i := range a.used {
		a.used[i] = slices.Clone(t.S.Limits.Usage[i])
	}
	for id, n := range t.S.Limits.Reserved {
		a.reserved[id] = n
	}
	return a
}

// Open reports whether one more node of the option may be bought.
func (a *account) Open(option int32) bool {
	o := &a.p.Options[option]
	if o.Commitment > 0 && a.committed[o.Commitment-1] < o.Used {
		return false
	}
	p := a.t.M.Pools[o.Pool]
	if p.Limits != nil && !a.t.S.Limits.Allows(o.Pool, a.used[o.Pool], p.RowCost(int(o.Row))) {
		return false
	}
	return state.Reservable(a.t.M.Pools, o.Pool, o.Row, o.Slot, a.reserved)
}

// Buy records the purchase of one node of the option. It returns false, and records nothing, if Open does not allow the purchase.
func (a *account) Buy(option int32) bool {
	if !a.Open(option) {
		return false
	}
	o := &a.p.Options[option]
	if p := a.t.M.Pools[o.Pool]; p.Limits != nil {
		resources.AddScaled(a.used[o.Pool], p.RowCost(int(o.Row)), 1)
	}
	if o.Commitment > 0 {
		a.committed[o.Commitment-1] -= o.Used
	}
	if id := offers.Reservation(a.t.M.Pools, o.Pool, o.Slot); id != "" {
		a.reserved[id]++
	}
	return true
}

// gated reports whether some option uses a pool with limits or a reservation.
func (t Solving) gated(p *offers.Choice) bool {
	return slices.ContainsFunc(p.Options, func(o pricing.Option) bool {
		return t.M.Pools[o.Pool].Limits != nil || offers.Reservation(t.M.Pools, o.Pool, o.Slot) != ""
	})
}
