package disruption

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
)

// Step contains the effects that an execution needs now, and the time until its next call. Carry out the effects in order, report failures
// in Observed, and call Next again with the state observed then. An effect is repeated until its result is observed, so carrying it out
// twice must be safe.
type Step struct {
	Effects []Effect
	// Events are the events to publish. It does not matter if some are lost.
	Events []Event
	// Again is the time after which Next must be called again if nothing changes before; 0 once State is final.
	Again time.Duration
	// State is the state after this step.
	State State
	// Err is the cause of the failure. It is set only if State is StateFailed.
	Err error
}

// Effect is one action that the caller must carry out. Its kinds are the types below. Do passes it to a Handler.
type Effect interface {
	// String returns the action and the object's name.
	String() string
	// do calls the handler's method for this kind of effect.
	do(ctx context.Context, handler Handler) error
}

// ValidateCommand asks for a call of Planner.Validate with the present fleet. Pass its answer in Observed.Validation. To survey that fleet,
// leave the command's own members out of Input.Executing: otherwise they are no candidates.
type ValidateCommand struct{ Command *Command }

// AskApproval asks for the Approver's decision about the command; Ask makes the call. Pass its answer in Observed.Approval. After the
// deadline, ApprovalPolicy.Silence is the decision.
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

// TaintNode adds the taint v1.DisruptedTaint to the node, so that it gets no new pods (see v1.MarkerTaint.Mark).
type TaintNode struct{ Node string }

// UntaintNode removes the taint of TaintNode and the taint of v1beta1 (see v1.TakeTaintOff).
type UntaintNode struct{ Node string }

// CordonNode replaces TaintNode if the node's pool was created as v1alpha5. It cordons the node and records this on the node, unless the
// node was already cordoned (see v1.MarkerCordon.Mark).
type CordonNode struct{ Node string }

// UncordonNode removes a cordon that CordonNode has set, but no other cordon (see v1.TakeCordonOff).
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

// LaunchReplacement creates the claim of a replacement, within limits and the launch rate like any other launch. Report the result in
// Observed.Replacements at Index. Token identifies this launch, and is the same in every process. If a claim with this token exists, it was
// created for this effect: don't create a second claim. Record is written in the same request that creates the claim, as
// v1.DisruptionCommandAnnotationKey.
type LaunchReplacement struct {
	Index       int
	Replacement Replacement
	Token       string
	Record      string
}

// MarkNode marks the node in memory as being removed (cluster.State.Mark): from now on its pods count as pending.
type MarkNode struct{ Node string }

// UnmarkNode removes the mark of MarkNode.
type UnmarkNode struct{ Node string }

// NominateNode protects a node for a while from disruption, because pods are planned for it (cluster.State.Nominate).
type NominateNode struct{ Node string }

// NoteDisruptions adds Disruptions to the history (History.Add) and stores the history with the NodePools (History.Annotation, as
// v1.DisruptionHistoryAnnotationKey). Report an error in Observed.NoteErr.
type NoteDisruptions struct{ Disruptions []Disruption }

// DeleteMember deletes the claim of a member: its node is drained and terminated. The deletion counts as one disruption.
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

// Handler carries out the effects of commands, with one method for each kind of effect. If a later release has a new kind of effect,
// Handler gets a new method. An implementation without this method no longer compiles, so no effect is overlooked. Do calls the method of
// an effect.
type Handler interface {
	// ValidateCommand asks Planner.Validate whether the command is still valid; the answer is Observed.Validation.
	ValidateCommand(context.Context, ValidateCommand) error
	// AskApproval asks the Approver, as Ask does; the answer is Observed.Approval.
	AskApproval(context.Context, AskApproval) error
	// WriteRecord writes a record to a NodeClaim, unless the NodeClaim is gone or another NodeClaim has its name now.
	WriteRecord(context.Context, WriteRecord) error
	// ClearRecord removes the record from a NodeClaim. It is no error if the NodeClaim is gone.
	ClearRecord(context.Context, ClearRecord) error
	// TaintNode adds the taint to a node. It is no error if the node is gone.
	TaintNode(context.Context, TaintNode) error
	// UntaintNode removes the taint from a node. It is no error if the node is gone.
	UntaintNode(context.Context, UntaintNode) error
	// CordonNode cordons a node. It is no error if the node is gone.
	CordonNode(context.Context, CordonNode) error
	// UncordonNode removes a cordon that CordonNode has set. It is no error if the node is gone.
	UncordonNode(context.Context, UncordonNode) error
	// SetReason sets the condition of a NodeClaim, unless the NodeClaim is gone or another NodeClaim has its name now.
	SetReason(context.Context, SetReason) error
	// ClearReason removes the condition of a NodeClaim. It is no error if the NodeClaim is gone.
	ClearReason(context.Context, ClearReason) error
	// LaunchReplacement creates the NodeClaim of a replacement. Report the created NodeClaim in Observed.Replacements.
	LaunchReplacement(context.Context, LaunchReplacement) error
	// MarkNode marks a node in memory as being removed.
	MarkNode(context.Context, MarkNode) error
	// UnmarkNode removes the mark of MarkNode.
	UnmarkNode(context.Context, UnmarkNode) error
	// NominateNode protects a node from disruption for a while, in memory.
	NominateNode(context.Context, NominateNode) error
	// NoteDisruptions adds disruptions to the history and stores the history. Report an error in Observed.NoteErr.
	NoteDisruptions(context.Context, NoteDisruptions) error
	// DeleteMember deletes the NodeClaim of a member. It is no error if the NodeClaim is gone.
	DeleteMember(context.Context, DeleteMember) error
	// DeleteReplacement deletes the NodeClaim of a replacement. It is no error if the NodeClaim is gone.
	DeleteReplacement(context.Context, DeleteReplacement) error
}

// Do calls the handler's method for the effect. It returns the handler's error, or an *option.ArgumentError if effect or handler is nil.
func Do(ctx context.Context, effect Effect, handler Handler) error {
	switch {
	case effect == nil:
		return option.Missing("Do", "the effect")
	case handler == nil:
		return option.Missing("Do", "the handler")
	}
	return effect.do(ctx, handler)
}

func (e ValidateCommand) do(ctx context.Context, h Handler) error { return h.ValidateCommand(ctx, e) }
func (e AskApproval) do(ctx context.Context, h Handler) error     { return h.AskApproval(ctx, e) }
func (e WriteRecord) do(ctx context.Context, h Handler) error     { return h.WriteRecord(ctx, e) }
func (e ClearRecord) do(ctx context.Context, h Handler) error     { return h.ClearRecord(ctx, e) }
func (e TaintNode) do(ctx context.Context, h Handler) error       { return h.TaintNode(ctx, e) }
func (e UntaintNode) do(ctx context.Context, h Handler) error     { return h.UntaintNode(ctx, e) }
func (e CordonNode) do(ctx context.Context, h Handler) error      { return h.CordonNode(ctx, e) }
func (e UncordonNode) do(ctx context.Context, h Handler) error    { return h.UncordonNode(ctx, e) }
func (e SetReason) do(ctx context.Context, h Handler) error       { return h.SetReason(ctx, e) }
func (e ClearReason) do(ctx context.Context, h Handler) error     { return h.ClearReason(ctx, e) }
func (e LaunchReplacement) do(ctx context.Context, h Handler) error {
	return h.LaunchReplacement(ctx, e)
}
func (e MarkNode) do(ctx context.Context, h Handler) error        { return h.MarkNode(ctx, e) }
func (e UnmarkNode) do(ctx context.Context, h Handler) error      { return h.UnmarkNode(ctx, e) }
func (e NominateNode) do(ctx context.Context, h Handler) error    { return h.NominateNode(ctx, e) }
func (e NoteDisruptions) do(ctx context.Context, h Handler) error { return h.NoteDisruptions(ctx, e) }
func (e DeleteMember) do(ctx context.Context, h Handler) error    { return h.DeleteMember(ctx, e) }
func (e DeleteReplacement) do(ctx context.Context, h Handler) error {
	return h.DeleteReplacement(ctx, e)
}

// RefusedEffectError means that a Handler does not support an effect.
type RefusedEffectError struct{ Effect Effect }

// Error names the effect.
func (e *RefusedEffectError) Error() string {
	return fmt.Sprintf("cannot %v: there is no handler for it", e.Effect)
}

// RefuseEffects is a Handler that refuses all effects with a *RefusedEffectError. Embed it in a Handler that needs only a few kinds of
// effects, such as those of CleanUp. The compiler then does not report missing methods for new kinds. So don't embed it in a Handler for
// all kinds.
type RefuseEffects struct{}

var _ Handler = RefuseEffects{}

// ValidateCommand refuses it.
func (RefuseEffects) ValidateCommand(_ context.Context, e ValidateCommand) error {
	return &RefusedEffectError{e}
}

// AskApproval refuses it.
func (RefuseEffects) AskApproval(_ context.Context, e AskApproval) error {
	return &RefusedEffectError{e}
}

// WriteRecord refuses it.
func (RefuseEffects) WriteRecord(_ context.Context, e WriteRecord) error {
	return &RefusedEffectError{e}
}

// ClearRecord refuses it.
func (RefuseEffects) ClearRecord(_ context.Context, e ClearRecord) error {
	return &RefusedEffectError{e}
}

// TaintNode refuses it.
func (RefuseEffects) TaintNode(_ context.Context, e TaintNode) error { return &RefusedEffectError{e} }

// UntaintNode refuses it.
func (RefuseEffects) UntaintNode(_ context.Context, e UntaintNode) error {
	return &RefusedEffectError{e}
}

// CordonNode refuses it.
func (RefuseEffects) CordonNode(_ context.Context, e CordonNode) error { return &RefusedEffectError{e} }

// UncordonNode refuses it.
func (RefuseEffects) UncordonNode(_ context.Context, e UncordonNode) error {
	return &RefusedEffectError{e}
}

// SetReason refuses it.
func (RefuseEffects) SetReason(_ context.Context, e SetReason) error { return &RefusedEffectError{e} }

// ClearReason refuses it.
func (RefuseEffects) ClearReason(_ context.Context, e ClearReason) error {
	return &RefusedEffectError{e}
}

// LaunchReplacement refuses it.
func (RefuseEffects) LaunchReplacement(_ context.Context, e LaunchReplacement) error {
	return &RefusedEffectError{e}
}

// MarkNode refuses it.
func (RefuseEffects) MarkNode(_ context.Context, e MarkNode) error { return &RefusedEffectError{e} }

// UnmarkNode refuses it.
func (RefuseEffects) UnmarkNode(_ context.Context, e UnmarkNode) error { return &RefusedEffectError{e} }

// NominateNode refuses it.
func (RefuseEffects) NominateNode(_ context.Context, e NominateNode) error {
	return &RefusedEffectError{e}
}

// NoteDisruptions refuses it.
func (RefuseEffects) NoteDisruptions(_ context.Context, e NoteDisruptions) error {
	return &RefusedEffectError{e}
}

// DeleteMember refuses it.
func (RefuseEffects) DeleteMember(_ context.Context, e DeleteMember) error {
	return &RefusedEffectError{e}
}

// DeleteReplacement refuses it.
func (RefuseEffects) DeleteReplacement(_ context.Context, e DeleteReplacement) error {
	return &RefusedEffectError{e}
}
