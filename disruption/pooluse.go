package disruption

import (
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// PoolUses says how the pools' own budgets stand now, pools by key. What was taken since the books were opened is not
// counted: it is on its way only once its command has started.
func (l *tracker) PoolUses() []PoolUse {
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
func (l *tracker) allowed(key v1.PoolKey, r Reason) int {
	least := Unlimited
	for _, b := range l.books {
		if b.ofPool && b.Scope.Pool == key && b.Holds(r) && b.Calendar.Counts(l.fleet.now) {
			least = min(least, int(b.Allows(b.total)))
		}
	}
	return least
}
