package reconcilers

import (
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/disruption"
)

// DisruptionOptions configure how nodes are removed and replaced. The zero value is suitable for an ordinary cluster.
type DisruptionOptions struct {
	// Planner decides which nodes to disrupt. Nil means a *disruption.Global with Options.Query and the features, whose commands launch at
	// most as many nodes as the launch rate allows per minute. A *disruption.Reference plans like Karpenter.
	Planner disruption.Planner
	// Period is how often to plan if nothing has changed; more than 0. Nil is DefaultDisruptionPeriod.
	Period *time.Duration
	// PlanTimeout is the maximum duration of planning; more than 0. Nil is DefaultDisruptionPlanTimeout.
	PlanTimeout *time.Duration
	// Budgets limit disruption in addition to those of the NodePools.
	Budgets []disruption.Budget
	// Approver may delay or refuse commands before anything is done for them; see Approval. Nil approves all commands.
	Approver disruption.Approver
	Approval disruption.ApprovalPolicy
	// ApprovalNamespace makes each command wait for approval. A ConfigMap in this namespace shows the command until someone annotates it
	// with the digest (ApprovedAnnotationKey), for at most Approval.Wait. It needs permission to create, get, list, patch and delete
	// ConfigMaps there, and can't be combined with Approver. Empty: no ConfigMaps.
	ApprovalNamespace string
	// FormerApprovalNamespace is the namespace of approval ConfigMaps from an earlier configuration; they are deleted unless it equals
	// ApprovalNamespace. It needs permission to list and delete ConfigMaps there; without this permission, the ConfigMaps stay. If it is
	// empty, nothing is deleted.
	FormerApprovalNamespace string
	// Off disables disruption, except for forced removals.
	Off bool

	// nodesPerMinute is the maximum number of launches in a minute; 0 means no limit.
	nodesPerMinute int
}

const (
	// DefaultDisruptionPeriod is how often Karpenter looks for nodes to disrupt.
	DefaultDisruptionPeriod = 10 * time.Second
	// DefaultDisruptionPlanTimeout is the total time limit of multi-node and single-node consolidation.
	DefaultDisruptionPlanTimeout = 4 * time.Minute
)

// complete checks the options and fills in defaults.
func (d *DisruptionOptions) complete(o *Options) error {
	if d.Period != nil && *d.Period <= 0 || d.PlanTimeout != nil && *d.PlanTimeout <= 0 {
		return &option.Error{Package: "reconcilers", Option: "Disruption.Period, Disruption.PlanTimeout", Rule: "they must be more than 0: leave them nil for the defaults"}
	}
	if err := disruption.ValidateBudgets(d.Budgets); err != nil {
		return &option.Error{Package: "reconcilers", Option: "Disruption.Budgets", Rule: err.Error()}
	}
	if d.Approver != nil && d.ApprovalNamespace != "" {
		return &option.Error{Package: "reconcilers", Option: "Disruption.ApprovalNamespace", Rule: "ConfigMaps and an Approver exclude each other: leave one of them out"}
	}
	if d.Planner == nil {
		d.Planner = &disruption.Global{Query: o.Query, SpotToSpot: o.Features.SpotToSpotConsolidation}
	}
	d.nodesPerMinute = o.RateLimiter.NodesPerMinute
	d.Planner = withinRate(d.Planner, d.nodesPerMinute)
	d.Period, d.PlanTimeout = new(option.Or(d.Period, DefaultDisruptionPeriod)), new(option.Or(d.PlanTimeout, DefaultDisruptionPlanTimeout))
	return nil
}

// withinRate returns the planner with a limit: a command may launch at most nodesPerMinute nodes; 0 means no limit. Planners from outside
// package disruption are not changed: see disruptor.overRate.
func withinRate(planner disruption.Planner, nodesPerMinute int) disruption.Planner {
	global, ok := planner.(*disruption.Global)
	if !ok || global == nil || nodesPerMinute <= 0 {
		return planner
	}
	bound := *global
	bound.MaxBins = new(min(option.Or(bound.MaxBins, disruption.DefaultMaxBins), nodesPerMinute))
	return &bound
}

// approvalTimeout is the time limit for one answer of an approver.
const approvalTimeout = 10 * time.Second

// longestWindow returns the longest time for which disruptions must be remembered, for budgets with a rate and for planners with a
// cool-down.
func (d *DisruptionOptions) longestWindow() time.Duration {
	longest := disruption.DefaultCoolDown
	if global, ok := d.Planner.(*disruption.Global); ok {
		longest = max(longest, option.Or(global.CoolDown, 0))
	}
	for i := range d.Budgets {
		longest = max(longest, d.Budgets[i].Window)
	}
	return longest
}
