package decision

import v1 "github.com/drawknife/drawknife/api/v1"

// Outcome says what a plan does with a node.
type Outcome string

// The outcomes.
const (
	// OutcomeKept: the node stays, for the reasons in Verdict.Blocks.
	OutcomeKept Outcome = "Kept"
	// OutcomeRemoved: the node is removed without a replacement.
	OutcomeRemoved Outcome = "Removed"
	// OutcomeReplaced: the node is removed once its replacement is ready.
	OutcomeReplaced Outcome = "Replaced"
)

// Verdict says what a plan does with one node and why, with numbers.
type Verdict struct {
	Node    string     `json:"node"`
	Pool    v1.PoolKey `json:"pool,omitzero"`
	Outcome Outcome    `json:"outcome"`
	// Command and Method are the command that removes the node, and its method.
	Command string `json:"command,omitempty"`
	Method  Method `json:"method,omitempty"`
	// Blocks say why the node stays. If the node is not a candidate, there is one block without a method. Otherwise there is one block for
	// each method, in the order of the methods.
	Blocks []MethodBlock `json:"blocks,omitempty"`
	// Price is the node's price in USD per hour. Cost is the cost of the disruption in units of an ordinary pod. Both are 0 if the node is
	// not a candidate.
	Price float64 `json:"price,omitempty"`
	Cost  float64 `json:"cost,omitempty"`
}

// MethodBlock says why a method does not accept a node. If Method is empty, the block applies to all methods.
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
	// RejectedChurn: some members no longer qualify.
	RejectedChurn RejectionCategory = "churn"
	// RejectedBudget: a member is nominated, or budgets no longer allow the command.
	RejectedBudget RejectionCategory = "budget"
	// RejectedScheduling: the pods no longer have their planned places.
	RejectedScheduling RejectionCategory = "scheduling"
)

// RejectedError means that a command is no longer valid because the cluster has changed.
type RejectedError struct {
	// Command's ID.
	Command  string
	Category RejectionCategory
	// Node is the node that the block is about.
	Node  string
	Block *Block
}

func (e *RejectedError) Error() string {
	return "command " + e.Command + " is void (" + string(e.Category) + "): node " + e.Node + ": " + e.Block.String()
}
