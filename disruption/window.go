package disruption

import "time"

// maxSteps bounds how many openings and closings of calendars NextWindow follows.
const maxSteps = 1000

// Window is when a node may be disrupted as far as budgets are concerned.
type Window struct {
	// Start is the first moment, now or later; zero when none is in sight.
	Start time.Time
	// Block is the budget that stands in the way now, or while Start is zero the one that does for good; nil when the node may
	// go now.
	Block *Block
}

// NextWindow tells when budgets would let a candidate go for a reason if nothing but time changed: calendars close, and
// what was started falls out of windows. What is under way now is taken to last: a budget that is used up by it has no end
// in sight. A candidate that was taken has its share already, and may go now.
func (l *Ledger) NextWindow(c *Candidate, r Reason) Window {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.fleet.now
	if _, has := l.taken[c.Name]; has {
		return Window{Start: at}
	}
	list, amounts := l.concerned(c.Machine, r)
	var first *Block
	for range maxSteps {
		blocked := false
		next := at
		for i, b := range list {
			why := b.refuses(amounts[i], l.fleet.now, at)
			if why == nil {
				continue
			}
			blocked = true
			if first == nil {
				first = why
			}
			frees := b.frees(amounts[i], l.fleet.now, at)
			if frees.IsZero() {
				return Window{Block: why}
			}
			if frees.After(next) {
				next = frees
			}
		}
		if !blocked {
			return Window{Start: at, Block: first}
		}
		at = next
	}
	return Window{Block: first}
}

// frees is the first moment after at, at which it refuses, that the budget may no longer do so; zero for none.
func (b *book) frees(amount float64, now, at time.Time) time.Time {
	best := b.closing(now, at)
	if b.Window == 0 || amount > b.amount(b.total)+slack {
		return best
	}
	consider := func(from time.Time) {
		if t := from.Add(b.Window); t.After(at) && (best.IsZero() || t.Before(best)) {
			best = t
		}
	}
	for _, c := range b.history {
		consider(c.at)
	}
	if len(b.takes) > 0 {
		consider(now)
	}
	return best
}
