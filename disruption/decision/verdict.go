package decision

import v1 "github.com/drawknife/drawknife/api/v1"

// Outcome is what a plan does with a node.
type Outcome string

// The outcomes.
const (
	// OutcomeKept: it stays, for the reasons in Verdict.Blocks.
	OutcomeKept Outcome = "Kept"
	// OutcomeRemoved: it is removed without a replacement.
	OutcomeRemoved Outcome = "Removed"
	// OutcomeReplaced: it is removed once its replacement is ready.
	OutcomeReplaced Outcome = "Replaced"
)

// Verdict says what a plan does with one node and why, with numbers.
type Verdict struct {
	Node    string     `json:"node"`
	Pool    v1.PoolKey `json:"pool,omitzero"`
	Outcome Outcome    `json:"outcome"`
	// Command and Method that remove it.
	Command string `json:"command,omitempty"`
	Method  Method `json:"method,omitempty"`
	// Blocks are why it stays: one block without a method if it is no candidate, else one for each method, in their order.
	Blocks []MethodBlock `json:"blocks,omitempty"`
	// Price in USD per hour, and Cost of the disruption in units of an ordinary pod; 0 if it is no candidate.
	Price float64 `json:"price,omitempty"`
	Cost  float64 `json:"cost,omitempty"`
}

// MethodBlock is why a method, or every method if Method is empty, does not accept a node.
type MethodBlock struct {
	Method Method `json:"method,omitempty"`
	Block  *Block `json:"block"`
}

// String returns a sentence for operators.
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

// RejectionCategory says what kind of change made a command invalid.
type RejectionCategory string

// The categories.
const (
	// RejectedChurn: members no longer qualify.
	RejectedChurn RejectionCategory = "churn"
	// RejectedBudget: a member is nominated, or budgets no longer suffice.
	RejectedBudget RejectionCategory = "budget"
	// RejectedScheduling: the pods no longer have their planned places.
	RejectedScheduling RejectionCategory = "scheduling"
)

// RejectedError means that a command is no longer valid because the cluster has changed.
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
