package survey

import (
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// PoolUses returns the present use of the pools' own budgets, sorted by pool key. It does not count amounts that Take has reserved, because
// such a disruption begins only when its command starts.
func (l *BudgetTracker) PoolUses() []decision.PoolUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []v1.PoolKey
	for key := range l.fleet.Pools {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, v1.PoolKey.Compare)
	var out []decision.PoolUse
	for _, key := range keys {
		use := decision.PoolUse{Pool: key}
		for _, m := range l.fleet.Pools[key].Nodes {
			if !counted(m) {
				continue
			}
			use.Total++
			if l.fleet.disrupting(m) {
				use.Disrupting++
			}
		}
		for _, r := range decision.VoluntaryReasons() {
			use.Reason, use.Allowed = r, l.allowed(key, r)
			out = append(out, use)
		}
	}
	return out
}

// allowed returns the number of nodes that the pool's budgets allow to be disrupted now for the reason. This is the smallest number of all
// budgets that apply, or decision.Unlimited if no budget applies.
func (l *BudgetTracker) allowed(key v1.PoolKey, r decision.Reason) int {
	least := decision.Unlimited
	for _, b := range l.books {
		if b.ofPool && b.Scope.Pool == key && b.Holds(r) && b.Calendar.Counts(l.fleet.Now) {
			least = min(least, int(b.Allows(b.total)))
		}
	}
	return least
}
