package disruption

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
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

// includes reports whether the node is in the scope.
func (s *Scope) includes(pool v1.PoolKey, zone string, set labels.Set) bool {
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

// holds reports whether the budget is about the reason.
func (b *Budget) holds(r Reason) bool {
	return b.Reasons == nil || slices.Contains(b.Reasons, r)
}

// amount is what the budget allows of a total.
func (b *Budget) amount(total float64) float64 {
	if !b.Percent {
		return b.Amount
	}
	share := total * b.Amount / 100
	if b.Unit == UnitPrice {
		return share
	}
	return max(0, math.Ceil(share-1e-9))
}

// Disruption is one that was started: what budgets with a window remember. What became of it does not matter.
type Disruption struct {
	// Node, and Time of its start.
	Node string
	Time time.Time
	// Command it was started for, by ID; empty for one that was forced. It counts once for a command and node.
	Command string
	// Reason it was for; forced ones count too.
	Reason Reason
	// Pool, Zone and Labels of the node at the time.
	Pool   v1.PoolKey
	Zone   string
	Labels map[string]string
	// Pods that had to move, and Price in USD per hour.
	Pods  int
	Price float64
	// Owners of those pods: Global leaves nodes with pods of theirs alone for a while, see Global.CoolDown.
	Owners []types.UID
}

// DisruptionOf notes that the disruption of a candidate was started.
func DisruptionOf(c *Candidate, r Reason, started time.Time) Disruption {
	if c == nil || c.Pool == nil || c.Machine == nil || c.Machine.Node == nil {
		return Disruption{}
	}
	return Disruption{
		Node: c.Name, Time: started, Reason: r, Pool: c.Pool.Key, Zone: c.Zone, Labels: c.Machine.Node.Labels,
		Pods: len(c.Pods), Price: c.Price, Owners: ownersOf(c.Pods),
	}
}

// ForcedDisruption notes that the removal of a claim's node was forced and has been started: by expiry, an interruption, or
// repair. It asked no budget, but those with a rate reckon with it; and pods' owners that it disturbed are left alone for a
// while by Global, whatever it was that moved them. node may be empty, moving are the pods that have to move, and Price is the
// caller's to fill in where it is known.
func ForcedDisruption(claim *v1.NodeClaim, node string, r Reason, moving []*corev1.Pod, started time.Time) Disruption {
	if claim == nil {
		return Disruption{}
	}
	return Disruption{
		Node: node, Time: started, Reason: r, Pool: v1.PoolOf(claim.Labels), Zone: claim.Labels[corev1.LabelTopologyZone], Labels: claim.Labels,
		Pods: len(moving), Owners: ownersOf(moving),
	}
}

// ownersOf are the owners of the pods, each once, in their order.
func ownersOf(list []*corev1.Pod) []types.UID {
	var out []types.UID
	for _, pod := range list {
		if pod == nil {
			continue
		}
		for i := range pod.OwnerReferences {
			if uid := pod.OwnerReferences[i].UID; !slices.Contains(out, uid) {
				out = append(out, uid)
			}
		}
	}
	return out
}

// budgetsOf are the budgets that a NodePool states or that its generation brings with it, and faults in them: while there
// is one, the pool lets nothing go for the reasons that the faulty budget is about. (The reference then lets nothing go
// at all.)
func budgetsOf(key v1.PoolKey, object *v1.NodePool) []Budget {
	list := object.Spec.Disruption.Budgets
	if list == nil {
		list = []v1.Budget{{Nodes: v1.DefaultBudgetNodes}}
	}
	out := make([]Budget, 0, len(list))
	for i := range list {
		from := &list[i]
		b := Budget{
			Name: budgetName(key, i), Scope: Scope{Pool: key}, Unit: UnitNodes,
		}
		if from.Reasons != nil {
			b.Reasons = []Reason{} // an empty list speaks of none
		}
		for _, r := range from.Reasons {
			b.Reasons = append(b.Reasons, Reason(r))
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

// BudgetFaults are the budgets of NodePools that can't be read, by pool and number, as *BudgetErrors: until they are mended,
// nothing goes for the reasons that they are about.
func (f *Fleet) BudgetFaults() []error {
	pools := slices.SortedFunc(maps.Values(f.pools), func(a, b *pool) int { return a.Key.Compare(b.Key) })
	var out []error
	for _, p := range pools {
		for i := range p.Object.Spec.Disruption.Budgets {
			b := &p.Object.Spec.Disruption.Budgets[i]
			name := budgetName(p.Key, i)
			if _, err := v1.ParseBudgetNodes(b.Nodes); err != nil {
				out = append(out, &BudgetError{name, "nodes", err.Error()})
			}
			var fault *CalendarError
			if _, err := calendarOf(b); errors.As(err, &fault) {
				out = append(out, &BudgetError{name, fault.Field, fault.Err.Error()})
			}
		}
	}
	return out
}

func budgetName(key v1.PoolKey, i int) string {
	return fmt.Sprintf("spec.disruption.budgets[%d] of nodepool %s", i, key)
}

func calendarOf(b *v1.Budget) (*Calendar, error) {
	switch {
	case b.Schedule == nil && b.Duration == nil:
		return nil, nil
	case b.Schedule == nil:
		return nil, &CalendarError{"schedule", fmt.Errorf("is missing: a duration needs one")}
	case b.Duration == nil:
		return nil, &CalendarError{"duration", fmt.Errorf("is missing: a schedule needs one")}
	}
	return ParseCalendar(*b.Schedule, b.Duration.Duration, "")
}

// counted reports whether the node is part of a budget's total: managed, initialised, and its instance not being
// ended. Replacements that come up enlarge nothing.
func counted(m *cluster.Machine) bool {
	if m.Claim == nil || m.Node == nil || m.Phase != cluster.PhaseInitialized {
		return false
	}
	_, ending := trueSince(m.Claim, v1.ConditionInstanceTerminating)
	return !ending
}

// disrupting reports whether a node that counts is disrupted already: not ready, or on its way out, whatever for.
func (f *Fleet) disrupting(m *cluster.Machine) bool {
	_, executing := f.in.Executing[m.Name]
	return executing || m.Leaving || m.Marked || !ready(m.Node)
}

func zoneOf(m *cluster.Machine) string { return label(m, corev1.LabelTopologyZone) }
