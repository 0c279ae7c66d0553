package reconcilers

import (
	"context"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// commandEffects executes the effects of one command; run is nil for effects that clean up after earlier commands. It implements a method
// for every kind of effect: a new kind of effect causes a compile error until it has a method here.
type commandEffects struct {
	d   *disruptor
	run *commandRun
}

var _ disruption.Handler = commandEffects{}

func (h commandEffects) ValidateCommand(_ context.Context, _ disruption.ValidateCommand) error {
	h.d.mu.Lock()
	h.run.asksValidation = true
	h.d.mu.Unlock()
	wake(h.d.changed)
	return nil
}

func (h commandEffects) AskApproval(ctx context.Context, e disruption.AskApproval) error {
	return h.d.askApproval(ctx, h.run, e)
}

func (h commandEffects) WriteRecord(ctx context.Context, e disruption.WriteRecord) error {
	err := h.d.changeClaim(ctx, e.Claim, e.UID, func(claim *v1.NodeClaim) {
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[v1.DisruptionCommandAnnotationKey] = e.Record
	})
	h.d.noteTainting(h.run, nodeOf(h.run, e.Claim), err)
	return err
}

func (h commandEffects) ClearRecord(ctx context.Context, e disruption.ClearRecord) error {
	return h.d.changeClaim(ctx, e.Claim, e.UID, func(claim *v1.NodeClaim) { delete(claim.Annotations, v1.DisruptionCommandAnnotationKey) })
}

func (h commandEffects) TaintNode(ctx context.Context, e disruption.TaintNode) error {
	return h.mark(ctx, e.Node, v1.MarkerTaint)
}

func (h commandEffects) CordonNode(ctx context.Context, e disruption.CordonNode) error {
	return h.mark(ctx, e.Node, v1.MarkerCordon)
}

// mark sets the marker on the node, and reports a failure to the execution.
func (h commandEffects) mark(ctx context.Context, node string, marker v1.DisruptionMarker) error {
	err := h.d.changeNode(ctx, node, marker.Mark)
	h.d.noteTainting(h.run, node, err)
	return err
}

func (h commandEffects) UntaintNode(ctx context.Context, e disruption.UntaintNode) error {
	return h.d.changeNode(ctx, e.Node, v1.TakeTaintOff)
}

func (h commandEffects) UncordonNode(ctx context.Context, e disruption.UncordonNode) error {
	return h.d.changeNode(ctx, e.Node, v1.TakeCordonOff)
}

func (h commandEffects) SetReason(ctx context.Context, e disruption.SetReason) error {
	err := h.d.setReason(ctx, e)
	h.d.noteTainting(h.run, nodeOf(h.run, e.Claim), err)
	return err
}

func (h commandEffects) ClearReason(ctx context.Context, e disruption.ClearReason) error {
	return h.d.changeClaim(ctx, e.Claim, e.UID, func(claim *v1.NodeClaim) { claim.Conditions().Clear(v1.ConditionDisruptionReason, h.d.now()) })
}

func (h commandEffects) LaunchReplacement(ctx context.Context, e disruption.LaunchReplacement) error {
	return h.d.launchReplacement(ctx, h.run, e)
}

func (h commandEffects) MarkNode(_ context.Context, e disruption.MarkNode) error {
	h.d.state.Mark(e.Node)
	return nil
}

func (h commandEffects) UnmarkNode(_ context.Context, e disruption.UnmarkNode) error {
	h.d.state.Unmark(e.Node)
	return nil
}

func (h commandEffects) NominateNode(_ context.Context, e disruption.NominateNode) error {
	h.d.state.Nominate(e.Node, h.d.now().Add(h.d.nomination))
	return nil
}

func (h commandEffects) NoteDisruptions(ctx context.Context, e disruption.NoteDisruptions) error {
	return h.d.noteDisruptions(ctx, h.run, e)
}

func (h commandEffects) DeleteMember(ctx context.Context, e disruption.DeleteMember) error {
	return h.d.deleteMember(ctx, h.run, e)
}

func (h commandEffects) DeleteReplacement(ctx context.Context, e disruption.DeleteReplacement) error {
	return h.d.deleteReplacement(ctx, h.run, e)
}
