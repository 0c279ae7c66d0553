package disruption

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Step is what an execution needs done, and when to call it again. Carry the effects out in order, report failures in Observed, and call
// again with the state observed then. An effect is repeated until its result is observed, so it must be safe to do it twice.
type Step struct {
	Effects []Effect
	// Events to publish; it does not matter if some are lost.
	Events []Event
	// Again is when to call again if nothing changes before; 0 once State is final.
	Again time.Duration
	// State after this step.
	State State
	// Err is the cause of the failure, with StateFailed.
	Err error
}

// Effect is one action: one of the types below. Do passes it to a Handler.
type Effect interface {
	// String is the action and the object's name.
	String() string
	// do calls the method of its kind.
	do(ctx context.Context, handler Handler) error
}

// ValidateCommand asks for a call of Planner.Validate with the present fleet; pass its answer in Observed.Validation. In that fleet's
// Input.Executing leave out the command's own members: otherwise they are no candidates.
type ValidateCommand struct{ Command *Command }

// AskApproval asks for the Approver's decision about the command, for instance by Ask; pass its answer in Observed.Approval. After the
// deadline ApprovalPolicy.Silence decides.
type AskApproval struct {
	Command  *Command
	Deadline time.Time
}

// WriteRecord writes the record to the claim, as v1.DisruptionCommandAnnotationKey.
type WriteRecord struct {
	Claim  string
	UID    types.UID
	Record string
}

// ClearRecord removes v1.DisruptionCommandAnnotationKey from the claim.
type ClearRecord struct {
	Claim string
	UID   types.UID
}

// TaintNode adds the taint v1.DisruptedTaint to the node, so that it gets no new pods: v1.MarkerTaint.Mark.
type TaintNode struct{ Node string }

// UntaintNode removes the taint of TaintNode and that of v1beta1: v1.TakeTaintOff.
type UntaintNode struct{ Node string }

// CordonNode cordons the node instead if its pool was created as v1alpha5, and records that on the node, unless it was already cordoned:
// v1.MarkerCordon.Mark.
type CordonNode struct{ Node string }

// UncordonNode removes a cordon of CordonNode, but no other: v1.TakeCordonOff.
type UncordonNode struct{ Node string }

// SetReason sets the claim's condition DisruptionReason to true, with the reason.
type SetReason struct {
	Claim  string
	UID    types.UID
	Reason Reason
}

// ClearReason removes the condition DisruptionReason.
type ClearReason struct {
	Claim string
	UID   types.UID
}

// LaunchReplacement creates the claim of a replacement, within limits and the launch rate like any other launch; report the result in
// Observed.Replacements at Index. Token is the same in every process: if a claim was created for it, it exists already. Record is written
// in the same request that creates the claim, as v1.DisruptionCommandAnnotationKey.
type LaunchReplacement struct {
	Index       int
	Replacement Replacement
	Token       string
	Record      string
}

// MarkNode marks the node as leaving in memory (cluster.State.Mark): from now on its pods count as pending.
type MarkNode struct{ Node string }

// UnmarkNode removes the mark of MarkNode.
type UnmarkNode struct{ Node string }

// NominateNode protects a node that pods are planned for from disruption for a while (cluster.State.Nominate).
type NominateNode struct{ Node string }

// NoteDisruptions adds to the history (History.Add) and stores it with the NodePools (History.Annotation, as
// v1.DisruptionHistoryAnnotationKey). Report a failure in Observed.NoteErr.
type NoteDisruptions struct{ Disruptions []Disruption }

// DeleteMember deletes the claim of a member: its node is drained and terminated. It counts as one disruption.
type DeleteMember struct {
	Claim  string
	UID    types.UID
	Node   string
	Reason Reason
}

// DeleteReplacement deletes the claim of a replacement that is no longer needed.
type DeleteReplacement struct{ Claim string }

// String names the effect and its object.
func (e ValidateCommand) String() string { return "validate command " + idOf(e.Command) }
func (e AskApproval) String() string     { return "ask for approval of command " + idOf(e.Command) }
func (e WriteRecord) String() string     { return "write command on nodeclaim " + e.Claim }
func (e ClearRecord) String() string     { return "take command off nodeclaim " + e.Claim }
func (e NoteDisruptions) String() string {
	return fmt.Sprintf("note %d disruptions", len(e.Disruptions))
}
func (e TaintNode) String() string    { return "taint node " + e.Node }
func (e UntaintNode) String() string  { return "untaint node " + e.Node }
func (e CordonNode) String() string   { return "cordon node " + e.Node }
func (e UncordonNode) String() string { return "uncordon node " + e.Node }
func (e SetReason) String() string {
	return "set reason of nodeclaim " + e.Claim + " (" + string(e.Reason) + ")"
}
func (e ClearReason) String() string { return "clear reason of nodeclaim " + e.Claim }
func (e LaunchReplacement) String() string {
	return "launch replacement of " + e.Replacement.Pool.String()
}
func (e MarkNode) String() string     { return "mark node " + e.Node }
func (e UnmarkNode) String() string   { return "unmark node " + e.Node }
func (e NominateNode) String() string { return "nominate node " + e.Node }
func (e DeleteMember) String() string {
	return "delete nodeclaim " + e.Claim + " (" + string(e.Reason) + ")"
}
func (e DeleteReplacement) String() string { return "delete replacement " + e.Claim }

func idOf(cmd *Command) string {
	if cmd == nil {
		return ""
	}
	return cmd.ID
}
