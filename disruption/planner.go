package disruption

import (
	"context"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Planner decides which nodes to disrupt. Implementations are pure: the same fleet gives the same plan, and nothing is
// changed. Reference and Global are such.
type Planner interface {
	// Plan finds what is worth doing now. A cancelled context gives ctx.Err() and no plan.
	Plan(ctx context.Context, f *Fleet) (*Plan, error)
	// Validate says whether a command that was planned before is still good in the fleet as it is now: the command to be
	// started, which may have fewer members if it may shrink. The error is a *RejectedError when it is not.
	Validate(ctx context.Context, f *Fleet, cmd *Command) (*Command, error)
}

// Plan is what a planner decided, plain data in a total order.
type Plan struct {
	// Time it was made for.
	Time time.Time `json:"time"`
	// Commands in the order in which they were found. All of them may be carried out at the same time.
	Commands []*Command `json:"commands,omitempty"`
	// Waves say in which order to carry them out and how long that takes; Commands are in that order. Reference makes none.
	Waves []Wave `json:"waves,omitempty"`
	// FloorPrices are what proofs in Verdicts go by, by the numbers that these give.
	FloorPrices []FloorPrices `json:"floorPrices,omitempty"`
	// Cost of the candidates in USD per hour; Floor is what new nodes for the pods of all nodes would cost at least. Reference
	// leaves them 0.
	Cost  float64 `json:"cost,omitempty"`
	Floor float64 `json:"floor,omitempty"`
	// Verdicts, one for each node of the view that a pool owns, by name.
	Verdicts []Verdict `json:"verdicts"`
	// Waiting says that something was left out for lack of budget, or until a time: looking again is worth it although
	// nothing has changed. Again is when, if that is known.
	Waiting bool      `json:"waiting,omitempty"`
	Again   time.Time `json:"again,omitzero"`
	// Unsettled are commands, by ID, for whose pods provisioning may launch further nodes: see Global.Checks. Reference, like
	// Karpenter, does not look, and lists none.
	Unsettled []string `json:"unsettled,omitempty"`
	// Unreached are pools that the search did not come to: hand them in with the next Input.
	Unreached []v1.PoolKey `json:"unreached,omitempty"`
}

// Outcome is what becomes of a node.
type Outcome string

// The outcomes.
const (
	// OutcomeKept: it stays, for the reasons that Verdict.Blocks give.
	OutcomeKept Outcome = "Kept"
	// OutcomeRemoved: it goes, and nothing comes in its stead.
	OutcomeRemoved Outcome = "Removed"
	// OutcomeReplaced: it goes once what is launched in its stead is ready.
	OutcomeReplaced Outcome = "Replaced"
)

// Verdict is what a plan says of one node, with numbers.
type Verdict struct {
	Node    string     `json:"node"`
	Pool    v1.PoolKey `json:"pool,omitzero"`
	Outcome Outcome    `json:"outcome"`
	// Command and Method that remove it.
	Command string `json:"command,omitempty"`
	Method  Method `json:"method,omitempty"`
	// Blocks are why it stays: one without a method when it is no candidate, else one for each method, in their order.
	Blocks []MethodBlock `json:"blocks,omitempty"`
	// Price in USD per hour, and Cost of the disturbance in units of an ordinary pod; 0 when it is no candidate.
	Price float64 `json:"price,omitempty"`
	Cost  float64 `json:"cost,omitempty"`
}

// MethodBlock is what keeps a node from a method; from all when Method is empty.
type MethodBlock struct {
	Method Method `json:"method,omitempty"`
	Block  *Block `json:"block"`
}

// String is a sentence for operators.
func (v Verdict) String() string {
	switch v.Outcome {
	case OutcomeRemoved:
		return v.Node + " is removed by " + string(v.Method)
	case OutcomeReplaced:
		return v.Node + " is replaced by " + string(v.Method)
	}
	s := v.Node + " stays"
	for i, b := range v.Blocks {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		s += sep
		if b.Method != "" {
			s += string(b.Method) + ": "
		}
		s += b.Block.String()
	}
	return s
}

// RejectionCategory says what kind of change made a command void.
type RejectionCategory string

// The categories.
const (
	// RejectedChurn: members no longer qualify.
	RejectedChurn RejectionCategory = "churn"
	// RejectedBudget: a member is nominated, or budgets no longer suffice.
	RejectedBudget RejectionCategory = "budget"
	// RejectedScheduling: the pods would go elsewhere than planned.
	RejectedScheduling RejectionCategory = "scheduling"
)

// RejectedError is a command that is void since things have changed.
type RejectedError struct {
	// Command's ID.
	Command  string
	Category RejectionCategory
	// Node that the block is about.
	Node  string
	Block *Block
}

func (e *RejectedError) Error() string {
	return "command " + e.Command + " is void (" + string(e.Category) + "): node " + e.Node + ": " + e.Block.String()
}
