package survey

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// budgetsOf returns the pool's budgets, or the default budget if the pool has no budgets. It also returns the budget of driftOneByOne.
// While a budget is invalid, the pool allows no disruption for the reasons of that budget. (Karpenter then allows no disruption for any
// reason.)
func budgetsOf(key v1.PoolKey, object *v1.NodePool) []decision.Budget {
	list := object.Spec.Disruption.Budgets
	if list == nil {
		list = []v1.Budget{{Nodes: v1.DefaultBudgetNodes}}
	}
	out := make([]decision.Budget, 0, len(list))
	for i := range list {
		from := &list[i]
		b := decision.Budget{
			Name: budgetName(key, i), Scope: decision.Scope{Pool: key}, Unit: decision.UnitNodes,
		}
		if from.Reasons != nil {
			b.Reasons = []decision.Reason{} // an empty list in the NodePool means no reason, but nil means all
		}
		for _, r := range from.Reasons {
			b.Reasons = append(b.Reasons, decision.Reason(r))
		}
		nodes, err := v1.ParseBudgetNodes(from.Nodes)
		calendar, calendarErr := calendarOf(from)
		switch {
		case err != nil:
			b.Name += " (nodes: " + err.Error() + ")"
		case calendarErr != nil:
			b.Name += " (" + calendarErr.Error() + ")"
		default:
			b.Amount, b.Percent, b.Calendar = float64(nodes.Value), nodes.Percent, calendar
		}
		out = append(out, b)
	}
	if b, ok := driftOneByOne(key, object); ok {
		out = append(out, b)
	}
	return out
}

// BudgetFaults returns the invalid budgets of NodePools, by pool and index, as *BudgetErrors. Until a budget is corrected, no node of its
// pool is disrupted for the reasons of the budget.
func (f *Fleet) BudgetFaults() []error {
	pools := slices.SortedFunc(maps.Values(f.Pools), func(a, b *Pool) int { return a.Key.Compare(b.Key) })
	var out []error
	for _, p := range pools {
		for i := range p.Object.Spec.Disruption.Budgets {
			b := &p.Object.Spec.Disruption.Budgets[i]
			name := budgetName(p.Key, i)
			if _, err := v1.ParseBudgetNodes(b.Nodes); err != nil {
				out = append(out, &decision.BudgetError{Budget: name, Field: "nodes", Rule: err.Error()})
			}
			var fault *decision.CalendarError
			if _, err := calendarOf(b); errors.As(err, &fault) {
				out = append(out, &decision.BudgetError{Budget: name, Field: fault.Field, Rule: fault.Err.Error()})
			}
		}
	}
	return out
}

func budgetName(key v1.PoolKey, i int) string {
	return fmt.Sprintf("spec.disruption.budgets[%d] of nodepool %s", i, key)
}

func calendarOf(b *v1.Budget) (*decision.Calendar, error) {
	switch {
	case b.Schedule == nil && b.Duration == nil:
		return nil, nil
	case b.Schedule == nil:
		return nil, &decision.CalendarError{Field: "schedule", Err: fmt.Errorf("is missing: a budget with a duration needs a schedule")}
	case b.Duration == nil:
		return nil, &decision.CalendarError{Field: "duration", Err: fmt.Errorf("is missing: a budget with a schedule needs a duration")}
	}
	return decision.ParseCalendar(*b.Schedule, b.Duration.Duration, "")
}

// counted reports whether the node counts in a budget's total. It counts if it is managed and initialized, and its instance is not being
// terminated. Replacements that are not ready yet don't count.
func counted(m *cluster.NodeState) bool {
	if m.Claim == nil || m.Node == nil || m.Phase != cluster.PhaseInitialized {
		return false
	}
	_, ending := TrueSince(m.Claim, v1.ConditionInstanceTerminating)
	return !ending
}

// disrupting reports whether a counted node counts as being disrupted now. It does if it is not ready, or if it is being removed for any
// reason.
func (f *Fleet) disrupting(m *cluster.NodeState) bool {
	_, executing := f.In.Executing[m.Name]
	return executing || m.Leaving || m.Marked || !Ready(m.Node)
}

func zoneOf(m *cluster.NodeState) string { return label(m, corev1.LabelTopologyZone) }
