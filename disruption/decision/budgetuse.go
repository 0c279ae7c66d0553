package decision

import (
	"math"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// BudgetUse is how a budget stands.
type BudgetUse struct {
	// Budget by name.
	Budget string
	// Counts says whether its calendar has it count now.
	Counts bool
	// Allowed and InUse in its unit; InUse may be more where nodes went that no budget holds.
	Allowed, InUse float64
}

// Unlimited is PoolUse.Allowed where no budget of the pool speaks of the reason.
const Unlimited = math.MaxInt32

// PoolUse is how a NodePool's own budgets stand for a voluntary reason: what its metrics and events say.
type PoolUse struct {
	Pool   v1.PoolKey
	Reason Reason
	// Total is how many nodes shares are taken of: managed, initialised, and not ending. Disrupting of them are not ready
	// or on their way out, for whatever reason.
	Total, Disrupting int
	// Allowed is how many nodes may be disrupted at a time; Unlimited without a budget.
	Allowed int
}

// Window is when a node may be disrupted as far as budgets are concerned.
type Window struct {
	// Start is the first moment, now or later; zero when none is in sight.
	Start time.Time
	// Block is the budget that stands in the way now, or while Start is zero the one that does for good; nil when the node may
	// go now.
	Block *Block
}
