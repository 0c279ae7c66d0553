package disruption

import (
	"fmt"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// BudgetTracker tracks all disruption budgets of a fleet: those of its NodePools and those of Input.Budgets. The nodes taken never exceed a
// budget, in whatever order nodes are taken and returned. It is safe for concurrent use.
type BudgetTracker struct{ books *survey.BudgetTracker }

// NewBudgetTracker returns a tracker in which no node is taken. The error is a *BudgetError for an invalid budget.
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

// Take reserves budget for the disruption of a candidate. If a budget does not allow one more disruption, Take changes nothing and returns
// a block with that budget. A node that is already taken is not counted again: it keeps its first reason.
func (t *BudgetTracker) Take(c *Candidate, r Reason) *Block { return t.books.Take(c, r) }

// TakeAll takes all candidates or none. The block is that of the first candidate, in the given order, that a budget does not allow.
func (t *BudgetTracker) TakeAll(list []*Candidate, r Reason) (*Candidate, *Block) {
	return t.books.TakeAll(list, r)
}

// Return gives back the amounts that Take reserved for the node. It does nothing if Take reserved none.
func (t *BudgetTracker) Return(node string) { t.books.Return(node) }

// Blocks returns a block with the budget that does not allow the candidate's disruption now, or nil if Take would succeed.
func (t *BudgetTracker) Blocks(c *Candidate, r Reason) *Block { return t.books.Blocks(c, r) }

// NextWindow returns when budgets would allow the disruption of a candidate for a reason if only time passed: calendars of budgets close,
// and earlier disruptions leave the windows of rates. It assumes that commands under way do not end, so a budget that they use up stays
// used up. A candidate that was already taken counts as allowed now.
func (t *BudgetTracker) NextWindow(c *Candidate, r Reason) Window { return t.books.NextWindow(c, r) }

// Uses returns the present use of all budgets in the order of the snapshot. Budgets of pools come first.
func (t *BudgetTracker) Uses() []BudgetUse { return t.books.Uses() }

// PoolUses returns the present use of the pools' own budgets, sorted by key. It does not count amounts that were taken from this tracker,
// because such a disruption is under way only once its command has started.
func (t *BudgetTracker) PoolUses() []PoolUse { return t.books.PoolUses() }

// Events returns events about pools whose own budgets allow no disruption now, one event for each reason. It leaves out pools without
// nodes.
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

// Samples returns the number of nodes that the pools' own budgets allow, and the number that count against them. The label of the reason
// has the reason's name in the NodePool API.
func (t *BudgetTracker) Samples() []Sample {
	var out []Sample
	for _, use := range t.PoolUses() {
		labels := map[string]string{decision.LabelPool: use.Pool.String(), decision.LabelReason: string(use.Reason)}
		out = append(out, Sample{Metric: MetricAllowedDisruptions, Labels: labels, Value: float64(use.Allowed)}, Sample{Metric: MetricConsumingBudgets, Labels: labels, Value: float64(use.Disrupting)})
	}
	return out
}
