package decision

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Unit says what a budget counts.
type Unit string

// The units.
const (
	// UnitNodes counts nodes.
	UnitNodes Unit = "nodes"
	// UnitPods counts the pods on nodes that would have to move.
	UnitPods Unit = "pods"
	// UnitPrice adds up the nodes' prices in USD per hour. Nodes with an unknown price count as 0.
	UnitPrice Unit = "USD/h"
)

// Scope selects the nodes of a budget: those that match all fields that are set. The zero value is the whole cluster.
type Scope struct {
	// Pool is the pool that owns the node.
	Pool v1.PoolKey
	// Zone is the zone in the node's label.
	Zone string
	// Labels selects nodes by their labels; nil or empty selects all.
	Labels labels.Selector
}

// Includes reports whether the scope includes a node with this pool, zone and labels.
func (s *Scope) Includes(pool v1.PoolKey, zone string, set labels.Set) bool {
	return (s.Pool.IsZero() || s.Pool == pool) && (s.Zone == "" || s.Zone == zone) && (s.Labels == nil || s.Labels.Matches(set))
}

// Budget limits how much is disrupted at the same time, or within a period. The limit is Amount of Unit, or a share of the total, for nodes
// in Scope and for Reasons, while Calendar is open. It limits voluntary disruption. Forced removals always happen, and count as in use.
type Budget struct {
	// Name for messages. Required and unique.
	Name string
	// Reasons are the reasons that the budget limits. Nil means all voluntary reasons; an empty list means no reason.
	Reasons []Reason
	Scope   Scope
	Unit    Unit
	// Amount is in Unit. If Percent is true, it is a percentage, from 0 to 100, of the managed and initialized nodes in the scope. A share
	// of nodes or pods is rounded up, so that any share above 0 allows at least one.
	Amount  float64
	Percent bool
	// Window is 0 if the budget limits simultaneous disruption. Otherwise the budget limits the disruptions that start within any period of
	// this length, whether they succeed or not.
	Window time.Duration
	// Calendar says when the budget is in force; nil means always.
	Calendar *Calendar
}

// BudgetError means that a Budget is invalid.
type BudgetError struct {
	// Budget is the name of the budget, or its index if it has no name.
	Budget string
	// Field is the wrong field, and Rule the rule that it breaks.
	Field, Rule string
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("disruption budget %s: %s: %s", e.Budget, e.Field, e.Rule)
}

// ValidateBudgets returns a *BudgetError for the first invalid budget, or nil.
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

// Holds reports whether the budget limits disruptions for the reason.
func (b *Budget) Holds(r Reason) bool {
	return b.Reasons == nil || slices.Contains(b.Reasons, r)
}

// Allows returns the amount that the budget allows, in its unit. total is the amount in the budget's scope.
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
