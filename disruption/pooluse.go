package disruption

import (
	"math"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Unlimited is PoolUse.Allowed where no budget of the pool speaks of the reason.
const Unlimited = math.MaxInt32

// PoolUse is how a NodePool's own budgets stand for a voluntary reason: what its metrics and events tell.
type PoolUse struct {
	Pool   v1.PoolKey
	Reason Reason
	// Total is how many nodes shares are taken of: managed, initialised, and not ending. Disrupting of them are not ready
	// or on their way out, for whatever reason.
	Total, Disrupting int
	// Allowed is how many nodes may be disrupted at a time; Unlimited without a budget.
	Allowed int
}

// VoluntaryReasons are the reasons that budgets know, in the order in which they are tried. The slice is the caller's.
func VoluntaryReasons() []Reason {
	return []Reason{ReasonEmpty, ReasonDrifted, ReasonUnderutilized}
}

// PoolUses says how the pools' own budgets stand now, pools by key. What was taken since the ledger was opened is not
// counted: it is on its way only once its command has started.
func (l *Ledger) PoolUses() []PoolUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []v1.PoolKey
	for key := range l.fleet.pools {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, v1.PoolKey.Compare)
	var out []PoolUse
	for _, key := range keys {
		use := PoolUse{Pool: key}
		for _, m := range l.fleet.pools[key].machines {
			if !counted(m) {
				continue
			}
			use.Total++
			if l.fleet.disrupting(m) {
				use.Disrupting++
			}
		}
		for _, r := range VoluntaryReasons() {
			use.Reason, use.Allowed = r, l.allowed(key, r)
			out = append(out, use)
		}
	}
	return out
}

// allowed is the least that a budget of the pool allows for the reason now.
func (l *Ledger) allowed(key v1.PoolKey, r Reason) int {
	least := Unlimited
	for _, b := range l.books {
		if b.ofPool && b.Scope.Pool == key && b.holds(r) && b.Calendar.Counts(l.fleet.now) {
			least = min(least, int(b.amount(b.total)))
		}
	}
	return least
}
