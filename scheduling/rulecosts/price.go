package rulecosts

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/scheduling"
)

// DefaultMaxPlans is Options.MaxPlans of DefaultOptions.
const DefaultMaxPlans = 32

// Options say how the plans are made. Start from DefaultOptions.
type Options struct {
	// Query is the query of each plan. The zero value can be used.
	Query scheduling.Query
	// Compile are the options of each compilation; may be nil.
	Compile []scheduling.CompileOption
	// MaxPlans is the maximum number of rules for which a plan without the rule is made; at least 0. The rules that come first in the list
	// are planned first.
	MaxPlans int
	// Progress is called before each plan with the number of finished plans and the total number of plans. It may be nil.
	Progress func(made, all int)
}

// DefaultOptions plan without up to DefaultMaxPlans rules.
func DefaultOptions() Options { return Options{MaxPlans: DefaultMaxPlans} }

// Base is a snapshot with its plan, with which the plans without a rule are compared. It is immutable and safe for concurrent use.
type Base struct {
	// Snapshot that was planned. Do not change it.
	Snapshot *scheduling.Snapshot
	// Plan with all rules. Do not change it.
	Plan *scheduling.Plan

	options Options
}

// New plans a snapshot with all its rules. Errors are those of scheduling.Compile and Solve, or an *option.Error for MaxPlans below 0.
func New(ctx context.Context, s *scheduling.Snapshot, o Options) (*Base, error) {
	if o.MaxPlans < 0 {
		return nil, &option.Error{Package: "rulecosts", Option: "MaxPlans", Rule: fmt.Sprintf("%d is below 0; with 0, all rules are kept", o.MaxPlans)}
	}
	b := &Base{Snapshot: s, options: o}
	plan, err := b.plan(ctx, s)
	if err != nil {
		return nil, err
	}
	b.Plan = plan
	return b, nil
}

func (b *Base) plan(ctx context.Context, s *scheduling.Snapshot) (*scheduling.Plan, error) {
	model, err := scheduling.Compile(s, b.options.Compile...)
	if err != nil {
		return nil, fmt.Errorf("compiling the snapshot: %w", err)
	}
	plan, err := model.Solve(ctx, b.options.Query)
	if err != nil {
		return nil, fmt.Errorf("planning: %w", err)
	}
	return plan, nil
}

// Report contains the costs of rules.
type Report struct {
	// Costs of the rules, largest saving first; rules with equal savings keep their order.
	Costs []Cost
	// NotPlanned are the rules that Options.MaxPlans left out.
	NotPlanned []Rule
	// Plans is how many plans were made for the report.
	Plans int
}

// Cost is the cost of a rule.
type Cost struct {
	Rule
	// Saving is how much less the new nodes cost without the rule, in USD per hour. It is negative if the nodes cost more without the rule,
	// because more pods are placed or more pods of DaemonSets have to run.
	Saving float64
	// MorePods is how many more pods are placed without the rule.
	MorePods int
	// Plan without the rule.
	Plan *scheduling.Plan
}

// Without makes one plan for each of the rules: it plans the snapshot without this rule. Errors are those of planning; a rule whose removal
// makes the snapshot invalid is also an error. It ends early if ctx ends.
func (b *Base) Without(ctx context.Context, rules []Rule) (Report, error) {
	n := min(len(rules), b.options.MaxPlans)
	r := Report{NotPlanned: slices.Clone(rules[n:]), Plans: n}
	for i, rule := range rules[:n] {
		if b.options.Progress != nil {
			b.options.Progress(i, n)
		}
		plan, err := b.plan(ctx, rule.Without(b.Snapshot))
		if err != nil {
			return Report{}, fmt.Errorf("planning without %s of %s: %w", rule.Path, rule.Object, err)
		}
		c := Cost{Rule: rule, Saving: b.Plan.HourlyCost - plan.HourlyCost, MorePods: len(b.Plan.Unschedulable) - len(plan.Unschedulable), Plan: plan}
		if c.MorePods <= 0 && rule.Kind != Taints {
			c.Saving, c.MorePods = max(c.Saving, 0), max(c.MorePods, 0) // the plan with the rule is also valid without the rule, so a plan without the rule can't be worse
		}
		r.Costs = append(r.Costs, c)
	}
	slices.SortStableFunc(r.Costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.MorePods, a.MorePods), cmp.Compare(b.Saving, a.Saving))
	})
	return r, nil
}
