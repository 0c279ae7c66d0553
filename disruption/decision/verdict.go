package decision

import v1 "github.com/drawknife/drawknife/api/v1"

// Outcome is what becomes of a node.
type Outcome string

// The outcomes.
const (
	// OutcomeKept: it stays, for the reasons that Verdict.Blocks give.
	OutcomeKept Outcome = "Kept"
	// OutcomeRemoved: it goes without a replacement.
	OutcomeRemoved Outcome = "Removed"
	// OutcomeReplaced: it goes once its replacement is ready.
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
