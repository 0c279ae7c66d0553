package decision

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Unit is what a budget counts.
type Unit string

// The units.
const (
	// UnitNodes counts nodes.
	UnitNodes Unit = "nodes"
	// UnitPods counts the pods on nodes that would have to move.
	UnitPods Unit = "pods"
	// UnitPrice adds up the nodes' prices, USD per hour. Nodes whose price is not known count as nothing.
	UnitPrice Unit = "USD/h"
)

// Scope says which nodes a budget is about: those that meet all that is set. The zero value is the whole cluster.
type Scope struct {
	// Pool that owns the node.
	Pool v1.PoolKey
	// Zone that the node is in, by its label.
	Zone string
	// Labels that the node bears; nil or empty asks for none.
	Labels labels.Selector
}

// Includes reports whether a node of the pool, in the zone and with the labels is in the scope.
func (s *Scope) Includes(pool v1.PoolKey, zone string, set labels.Set) bool {
	return (s.Pool.IsZero() || s.Pool == pool) && (s.Zone == "" || s.Zone == zone) && (s.Labels == nil || s.Labels.Matches(set))
}

// Budget bounds how much may be disrupted at one time, or in some time: Amount of Unit, or a share of what there is, in a
// Scope, for Reasons, while a Calendar counts. It holds voluntary disruption; what must go goes, and counts as in use.
type Budget struct {
	// Name for messages. Required and unique.
	Name string
	// Reasons that it holds; nil holds all voluntary ones, an empty list none.
	Reasons []Reason
	Scope   Scope
	Unit    Unit
	// Amount of Unit; with Percent a share of the total of managed, initialised nodes in the scope, 0 to 100. A share of
	// nodes or pods is rounded up, so that any but 0 lets one go.
	Amount  float64
	Percent bool
	// Window is 0 for a bound on what is being disrupted at one time. Otherwise it bounds what is started in any span of
	// this length, whatever became of it.
	Window time.Duration
	// Calendar is when the budget counts; nil is always.
	Calendar *Calendar
}

// BudgetError is a Budget that can't be.
type BudgetError struct {
	// Budget by name, or by number where it has none.
	Budget string
	// Field that is wrong, and Rule that it breaks.
	Field, Rule string
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("disruption budget %s: %s: %s", e.Budget, e.Field, e.Rule)
}

// ValidateBudgets says what is wrong with a list of budgets: a *BudgetError for the first fault, or nil.
func ValidateBudgets(list []Budget) error {
	seen := make(map[string]bool, len(list))
	for i := range list {
		b := &list[i]
		fail := func(field, rule string) error {
			name := b.Name
			if name == "" {
				name = fmt.Sprintf("number %d", i+1)
			}
			return &BudgetError{name, field, rule}
		}
		switch {
		case b.Name == "":
			return fail("Name", "is missing: messages name budgets")
		case seen[b.Name]:
			return fail("Name", "is taken: give each budget its own")
		case !slices.Contains([]Unit{UnitNodes, UnitPods, UnitPrice}, b.Unit):
			return fail("Unit", fmt.Sprintf("%q is none: use %s, %s or %s", b.Unit, UnitNodes, UnitPods, UnitPrice))
		case math.IsNaN(b.Amount) || math.IsInf(b.Amount, 0) || b.Amount < 0:
			return fail("Amount", fmt.Sprintf("%g is no amount: it must be finite and not negative", b.Amount))
		case b.Percent && b.Amount > 100:
			return fail("Amount", fmt.Sprintf("%g%% is more than all: use 0 to 100", b.Amount))
		case b.Window < 0:
			return fail("Window", fmt.Sprintf("%s is negative: use 0 for what is under way at one time", b.Window))
		}
		for _, r := range b.Reasons {
			if _, ok := r.Budgeted(); !ok {
				return fail("Reasons", fmt.Sprintf("%q is no voluntary reason: no budget holds it", r))
			}
		}
		seen[b.Name] = true
	}
	return nil
}

// Holds reports whether the budget is about the reason.
func (b *Budget) Holds(r Reason) bool {
	return b.Reasons == nil || slices.Contains(b.Reasons, r)
}

// Allows is how much the budget allows, in its unit, where there is so much of it in its scope.
func (b *Budget) Allows(total float64) float64 {
	if !b.Percent {
		return b.Amount
	}
	share := total * b.Amount / 100
	if b.Unit == UnitPrice {
		return share
	}
	return max(0, math.Ceil(share-1e-9))
}
