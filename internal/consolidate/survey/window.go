package survey

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"time"
)

// maxSteps limits the number of openings and closings of calendars that NextWindow looks at.
const maxSteps = 1000

// NextWindow returns when budgets would allow the disruption of a candidate for a reason if only time passed, so that calendars close and
// earlier disruptions leave windows. It assumes that present disruptions do not end, so a budget that they use up stays used up. A
// candidate for which Take has reserved budget may be disrupted now.
func (l *BudgetTracker) NextWindow(c *decision.Candidate, r decision.Reason) decision.Window {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.fleet.Now
	if _, has := l.taken[c.Name]; has {
		return decision.Window{Start: at}
	}
	list, amounts := l.concerned(c.State, r)
	var first *decision.Block
	for range maxSteps {
		blocked := false
		next := at
		for i, b := range list {
			why := b.refuses(amounts[i], l.fleet.Now, at)
			if why == nil {
				continue
			}
			blocked = true
			if first == nil {
				first = why
			}
			if why.Until.IsZero() {
				return decision.Window{Block: why}
			}
			if why.Until.After(next) {
				next = why.Until
			}
		}
		if !blocked {
			return decision.Window{Start: at, Block: first}
		}
		at = next
	}
	return decision.Window{Block: first}
}

// frees is called if the budget has no room for the amount at the given time. It returns the first later time at which the budget has room
// if only time passes. At that time either the calendar's window closes, so that the budget does not apply, or enough earlier disruptions
// have left the budget's window. It returns zero if there is no such time.
func (b *book) frees(amount float64, now, at time.Time) time.Time {
	closes, room := b.closing(now, at), b.roomAgain(amount, now, at)
	if closes.IsZero() || !room.IsZero() && room.Before(closes) {
		return room
	}
	return closes
}

// roomAgain returns the first time after the given one at which a budget with a window has room for the amount again. Call it only if there
// is no room at the given time. It returns zero for a budget without a window, and if the budget never allows the amount. It adds up the
// disruptions in the window, beginning with the latest, until the budget has no room for the next one. The budget has room again when that
// disruption has left the window.
func (b *book) roomAgain(amount float64, now, at time.Time) time.Time {
	room := b.Allows(b.total) + slack - amount
	if b.Window == 0 || room < 0 {
		return time.Time{}
	}
	var last time.Time
	if b.sum > 0 && at.Sub(now) < b.Window {
		last = now.Add(b.Window)
		if room -= money.USD(b.sum); room < 0 {
			return last
		}
	}
	for _, c := range b.history {
		if at.Sub(c.at) >= b.Window {
			break
		}
		last = c.at.Add(b.Window)
		if room -= c.amount; room < 0 {
			break
		}
	}
	return last
}
