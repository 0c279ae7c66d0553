package disruption

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Step is what an execution wants done, and when it wants to be asked again. The caller carries the effects out in
// their order, reports in Observed what failed, and asks again with what there is then. Effects may be asked for again until
// what they bring about is observed: each may be done twice.
type Step struct {
	Effects []Effect
	// Events to publish; they may get lost.
	Events []Event
	// Again is when to ask again if nothing changes before; 0 once State is final.
	Again time.Duration
	// State that the execution is in after this step.
	State State
	// Err is why it failed, with StateFailed.
	Err error
}

// Effect is one thing to do to the world: one of the types below that say so. Do hands it to a Handler.
type Effect interface {
	// String says what is to be done, in a word or two and the object's name.
	String() string
	// do calls the method of its kind.
	do(ctx context.Context, handler Handler) error
}

// ValidateCommand asks for Planner.Validate with a fleet of this moment, and its answer as Observed.Validation. That fleet's
// Input.Executing leaves out the command's own members, which otherwise are no candidates for it.
type ValidateCommand struct{ Command *Command }

// AskApproval asks the Approver about the command, by Ask for instance, and hands its answer in as Observed.Approval. At the
// deadline its silence is taken for an answer.
type AskApproval struct {
	Command  *Command
	Deadline time.Time
}

// WriteRecord puts the record on the claim, under v1.DisruptionCommandAnnotationKey.
type WriteRecord struct {
	Claim  string
	UID    types.UID
	Record string
}

// ClearRecord takes v1.DisruptionCommandAnnotationKey off the claim.
type ClearRecord struct {
	Claim string
	UID   types.UID
}

// TaintNode puts the taint v1.DisruptedTaint on the node, so that nothing new comes to it: v1.MarkerTaint.Mark.
type TaintNode struct{ Node string }

// UntaintNode takes it off again, and the taint of v1beta1 too: v1.TakeTaintOff.
type UntaintNode struct{ Node string }

// CordonNode cordons the node instead, if its pool was born in the first generation, and notes on it that it did, unless
// somebody had: v1.MarkerCordon.Mark.
type CordonNode struct{ Node string }

// UncordonNode takes a cordon off that CordonNode put on, and no other: v1.TakeCordonOff.
type UncordonNode struct{ Node string }

// SetReason sets the claim's condition DisruptionReason to true, with the reason.
type SetReason struct {
	Claim  string
	UID    types.UID
	Reason Reason
}

// ClearReason removes the condition.
type ClearReason struct {
	Claim string
	UID   types.UID
}

// LaunchReplacement creates the claim of a replacement, subject to limits and the launch rate limiter like any other launch, and reports
// it in Observed.Replacements at the place of Index. Token is the same whichever process asks: a claim that was created for
// it is there already. Record goes on the claim in the very request that creates it, under v1.DisruptionCommandAnnotationKey.
type LaunchReplacement struct {
	Index       int
	Replacement Replacement
	Token       string
	Record      string
}

// MarkNode marks the node as leaving in memory (cluster.State.Mark): from now on its pods are planned for.
type MarkNode struct{ Node string }

// UnmarkNode takes the mark back.
type UnmarkNode struct{ Node string }

// NominateNode keeps a node that pods are planned for from disruption for a while (cluster.State.Nominate).
type NominateNode struct{ Node string }

// NoteDisruptions adds to the history (History.Add) and stores it with the NodePools (History.Annotation, under
// v1.DisruptionHistoryAnnotationKey). That it failed is reported in Observed.NoteErr.
type NoteDisruptions struct{ Disruptions []Disruption }

// DeleteMember deletes the claim of a member: its node drains and goes. It counts one disruption.
type DeleteMember struct {
	Claim  string
	UID    types.UID
	Node   string
	Reason Reason
}

// DeleteReplacement deletes the claim of a replacement that is of no use any more.
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
