package disruption

import (
	"fmt"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// BudgetTracker keeps the books on all disruption budgets of a fleet: those of its NodePools and those of Input.Budgets. What is
// taken never exceeds any of them, in whatever order nodes are taken and given back. It is safe for concurrent use.
type BudgetTracker struct{ books *survey.BudgetTracker }

// NewBudgetTracker opens the books: nothing is taken yet. The error is a *BudgetError for a budget that can't be.
func NewBudgetTracker(f *Fleet) (*BudgetTracker, error) {
	p := f.seen()
	if p == nil {
		return nil, option.Missing("NewBudgetTracker", "the fleet of Survey")
	}
	books, err := survey.NewBudgetTracker(p)
	if err != nil {
		return nil, err
	}
	return &BudgetTracker{books}, nil
}

// Take uses budgets up for the disruption of a candidate, or says which budget has no room; nothing is then changed. A
// node that is taken already is not taken twice: its first reason stays.
func (t *BudgetTracker) Take(c *Candidate, r Reason) *Block { return t.books.Take(c, r) }

// TakeAll takes for all candidates or for none: the block is that of the first, by the order given, that has no room.
func (t *BudgetTracker) TakeAll(list []*Candidate, r Reason) (*Candidate, *Block) {
	return t.books.TakeAll(list, r)
}

// Return gives back what a Take of the node used up; a node that was not taken is none.
func (t *BudgetTracker) Return(node string) { t.books.Return(node) }

// Blocks says which budget has no room for the candidate now; nil when Take would succeed.
func (t *BudgetTracker) Blocks(c *Candidate, r Reason) *Block { return t.books.Blocks(c, r) }

// NextWindow says when budgets would let a candidate go for a reason if nothing but time changed: calendars close, and
// what was started falls out of windows. What is under way now is taken to last: a budget that is used up by it has no end
// in sight. A candidate that was taken has its share already, and may go now.
func (t *BudgetTracker) NextWindow(c *Candidate, r Reason) Window { return t.books.NextWindow(c, r) }

// Uses says how all budgets stand now, those of pools first, in the order of the snapshot.
func (t *BudgetTracker) Uses() []BudgetUse { return t.books.Uses() }

// PoolUses says how the pools' own budgets stand now, pools by key. What was taken since the books were opened is not
// counted: it is on its way only once its command has started.
func (t *BudgetTracker) PoolUses() []PoolUse { return t.books.PoolUses() }

// Events are about the pools that have nodes and whose own budgets let none go now, one for each reason.
func (t *BudgetTracker) Events() []Event {
	var out []Event
	for _, use := range t.PoolUses() {
		if use.Allowed > 0 || use.Total == 0 {
			continue
		}
		out = append(out, Event{
			Kind: decision.KindNodePool, Name: use.Pool.String(), Reason: EventDisruptionBlocked, Identity: string(use.Reason), Every: every(poolBlockedEvery),
			Message: fmt.Sprintf("no node may be disrupted for %s: spec.disruption.budgets allows 0 of %d", use.Reason, use.Total),
		})
	}
	return out
}

// Samples are what pools' own budgets allow and how many nodes draw on them. The reason is spelled as in the API.
func (t *BudgetTracker) Samples() []Sample {
	var out []Sample
	for _, use := range t.PoolUses() {
		labels := map[string]string{decision.LabelPool: use.Pool.String(), decision.LabelReason: string(use.Reason)}
		out = append(out, Sample{Metric: MetricAllowedDisruptions, Labels: labels, Value: float64(use.Allowed)}, Sample{Metric: MetricConsumingBudgets, Labels: labels, Value: float64(use.Disrupting)})
	}
	return out
}
