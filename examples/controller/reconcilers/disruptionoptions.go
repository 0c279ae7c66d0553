package reconcilers

import (
	"time"

	"github.com/drawknife/drawknife/disruption"
)

// DisruptionOptions say how nodes are removed and replaced. The zero value does as Karpenter does.
type DisruptionOptions struct {
	// Planner decides which nodes go. Nil is a *disruption.Reference with Options.Query and the features.
	Planner disruption.Planner
	// Period is how often it is asked although nothing has changed. 0 is DefaultDisruptionPeriod (DIS-076).
	Period time.Duration
	// PlanTimeout ends a plan that takes too long. 0 is DefaultDisruptionPlanTimeout.
	PlanTimeout time.Duration
	// Budgets bound disruption beside those of the NodePools.
	Budgets []disruption.Budget
	// Off removes and replaces no node unless something forces it out.
	Off bool
}

const (
	// DefaultDisruptionPeriod is DIS-021's.
	DefaultDisruptionPeriod = 10 * time.Second
	// DefaultDisruptionPlanTimeout is what multi-node and single-node consolidation may take together (DIS-110, DIS-117).
	DefaultDisruptionPlanTimeout = 4 * time.Minute
)

// complete checks the options and fills in defaults.
func (d *DisruptionOptions) complete(o *Options) error {
	if d.Period < 0 || d.PlanTimeout < 0 {
		return &OptionError{Option: "Disruption.Period, Disruption.PlanTimeout", Rule: "they must not be negative"}
	}
	if err := disruption.ValidateBudgets(d.Budgets); err != nil {
		return &OptionError{Option: "Disruption.Budgets", Rule: err.Error()}
	}
	if d.Planner == nil {
		d.Planner = &disruption.Reference{Query: o.Query, SpotToSpot: o.Features.SpotToSpotConsolidation}
	}
	if d.Period == 0 {
		d.Period = DefaultDisruptionPeriod
	}
	if d.PlanTimeout == 0 {
		d.PlanTimeout = DefaultDisruptionPlanTimeout
	}
	return nil
}

// longestWindow is how far back budgets with a rate look.
func (d *DisruptionOptions) longestWindow() time.Duration {
	longest := time.Duration(0)
	for i := range d.Budgets {
		longest = max(longest, d.Budgets[i].Window)
	}
	return longest
}
