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
	// Counts reports whether the budget's calendar is open now.
	Counts bool
	// Allowed and InUse are in the budget's unit. InUse may be higher than Allowed, because some disruptions happen without regard to
	// budgets, such as forced removals.
	Allowed, InUse float64
}

// Unlimited is the value of PoolUse.Allowed if no budget of the pool limits the reason.
const Unlimited = math.MaxInt32

// PoolUse is the present use of a NodePool's own budgets for a voluntary reason, for metrics and events.
type PoolUse struct {
	Pool   v1.PoolKey
	Reason Reason
	// Total is the number of nodes that percentages refer to: nodes that are managed, initialized, and not being terminated. Disrupting is
	// the number of these nodes that are not ready or are being removed, for any reason.
	Total, Disrupting int
	// Allowed is the number of nodes that may be disrupted at a time. It is Unlimited if no budget limits the reason.
	Allowed int
}

// Window says when budgets allow a node's disruption.
type Window struct {
	// Start is the first time, now or later, at which budgets allow the disruption; zero if no such time is known.
	Start time.Time
	// Block is the budget that prevents the disruption now. If Start is zero, the end of this block is not known. Block is nil if the node
	// may be disrupted now.
	Block *Block
}
