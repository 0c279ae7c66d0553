package decision

import (
	"math"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// BudgetUse is the present use of a budget.
type BudgetUse struct {
	// Budget by name.
	Budget string
	// Counts reports whether its calendar is open now.
	Counts bool
	// Allowed and InUse in its unit; InUse may be higher, because of disruption that no budget limits.
	Allowed, InUse float64
}

// Unlimited is PoolUse.Allowed if no budget of the pool covers the reason.
const Unlimited = math.MaxInt32

// PoolUse is the present use of a NodePool's own budgets for a voluntary reason, for metrics and events.
type PoolUse struct {
	Pool   v1.PoolKey
	Reason Reason
	// Total is the number of nodes that percentages refer to: managed, initialized, and not being terminated. Disrupting of them are not
	// ready or being removed, for any reason.
	Total, Disrupting int
	// Allowed is how many nodes may be disrupted at a time; Unlimited without a budget.
	Allowed int
}

// Window is when budgets allow a node's disruption.
type Window struct {
	// Start is the first moment, now or later; zero if none is known.
	Start time.Time
	// Block is the budget that prevents it now, or, while Start is zero, forever; nil if the node may go now.
	Block *Block
}
