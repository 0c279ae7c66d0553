package provisioning

import (
	"context"
	"fmt"

	"github.com/drawknife/drawknife/api/option"
)

// Handler carries effects out, with a method for each kind. A kind that comes with a later release is a method more, so that a Handler
// that lacks it no longer compiles, and no effect is overlooked. Do hands an effect to its method.
type Handler interface {
	// PutClaim stores a claim, unless it is gone or another one: then the rest of its step is not to be done.
	PutClaim(context.Context, PutClaim) error
	// DeleteClaim asks the API to delete a claim; one that is gone is no error.
	DeleteClaim(context.Context, DeleteClaim) error
	// CreateInstance launches an instance, and hands the answer to Lifecycle.Created.
	CreateInstance(context.Context, CreateInstance) error
	// FindInstance looks for an instance with the UID of the claim; what it finds is ClaimTermination.Found.
	FindInstance(context.Context, FindInstance) error
	// AskInstance asks whether an instance is there; the answer is the state of the instance.
	AskInstance(context.Context, AskInstance) error
	// TerminateInstance asks for the end of an instance; the answer is the state of the instance.
	TerminateInstance(context.Context, TerminateInstance) error
	// AskGates asks the registration gates; their answers are ClaimState.Gates.
	AskGates(context.Context, AskGates) error
	// PutNode stores a node, unless it is gone or another one: then the rest of its step is not to be done.
	PutNode(context.Context, PutNode) error
	// DeleteNode asks the API to delete a node; one that is gone is no error.
	DeleteNode(context.Context, DeleteNode) error
	// EvictPod asks the eviction API to let a pod go; one that is gone is no error.
	EvictPod(context.Context, EvictPod) error
	// DeletePod deletes a pod whatever budgets say; one that is gone is no error.
	DeletePod(context.Context, DeletePod) error
	// ScaleWorkload changes the number of replicas, unless the workload has changed since it was seen.
	ScaleWorkload(context.Context, ScaleWorkload) error
}

// Do has the handler carry the effect out. The error is the handler's own, or an *option.ArgumentError for an effect or a handler that is nil.
func Do(ctx context.Context, effect Effect, handler Handler) error {
	switch {
	case effect == nil:
		return option.Missing("Do", "the effect")
	case handler == nil:
		return option.Missing("Do", "the handler")
	}
	return effect.do(ctx, handler)
}

func (e PutClaim) do(ctx context.Context, h Handler) error       { return h.PutClaim(ctx, e) }
func (e DeleteClaim) do(ctx context.Context, h Handler) error    { return h.DeleteClaim(ctx, e) }
func (e CreateInstance) do(ctx context.Context, h Handler) error { return h.CreateInstance(ctx, e) }
func (e FindInstance) do(ctx context.Context, h Handler) error   { return h.FindInstance(ctx, e) }
func (e AskInstance) do(ctx context.Context, h Handler) error    { return h.AskInstance(ctx, e) }
func (e TerminateInstance) do(ctx context.Context, h Handler) error {
	return h.TerminateInstance(ctx, e)
}
func (e AskGates) do(ctx context.Context, h Handler) error      { return h.AskGates(ctx, e) }
func (e PutNode) do(ctx context.Context, h Handler) error       { return h.PutNode(ctx, e) }
func (e DeleteNode) do(ctx context.Context, h Handler) error    { return h.DeleteNode(ctx, e) }
func (e EvictPod) do(ctx context.Context, h Handler) error      { return h.EvictPod(ctx, e) }
func (e DeletePod) do(ctx context.Context, h Handler) error     { return h.DeletePod(ctx, e) }
func (e ScaleWorkload) do(ctx context.Context, h Handler) error { return h.ScaleWorkload(ctx, e) }

// RefusedEffectError is an effect that a Handler was never to be asked for.
type RefusedEffectError struct{ Effect Effect }

// Error names the effect.
func (e *RefusedEffectError) Error() string {
	return fmt.Sprintf("cannot %v: there is no handler for it", e.Effect)
}

// RefuseEffects is a Handler that refuses everything with a *RefusedEffectError. Embed it in one that is asked for some kinds alone, such as
// those of an Evictor. The compiler then says nothing of kinds that are new: a Handler of all should not embed it.
type RefuseEffects struct{}

var _ Handler = RefuseEffects{}

// PutClaim refuses it.
func (RefuseEffects) PutClaim(_ context.Context, e PutClaim) error { return &RefusedEffectError{e} }

// DeleteClaim refuses it.
func (RefuseEffects) DeleteClaim(_ context.Context, e DeleteClaim) error {
	return &RefusedEffectError{e}
}

// CreateInstance refuses it.
func (RefuseEffects) CreateInstance(_ context.Context, e CreateInstance) error {
	return &RefusedEffectError{e}
}

// FindInstance refuses it.
func (RefuseEffects) FindInstance(_ context.Context, e FindInstance) error {
	return &RefusedEffectError{e}
}

// AskInstance refuses it.
func (RefuseEffects) AskInstance(_ context.Context, e AskInstance) error {
	return &RefusedEffectError{e}
}

// TerminateInstance refuses it.
func (RefuseEffects) TerminateInstance(_ context.Context, e TerminateInstance) error {
	return &RefusedEffectError{e}
}

// AskGates refuses it.
func (RefuseEffects) AskGates(_ context.Context, e AskGates) error { return &RefusedEffectError{e} }

// PutNode refuses it.
func (RefuseEffects) PutNode(_ context.Context, e PutNode) error { return &RefusedEffectError{e} }

// DeleteNode refuses it.
func (RefuseEffects) DeleteNode(_ context.Context, e DeleteNode) error { return &RefusedEffectError{e} }

// EvictPod refuses it.
func (RefuseEffects) EvictPod(_ context.Context, e EvictPod) error { return &RefusedEffectError{e} }

// DeletePod refuses it.
func (RefuseEffects) DeletePod(_ context.Context, e DeletePod) error { return &RefusedEffectError{e} }

// ScaleWorkload refuses it.
func (RefuseEffects) ScaleWorkload(_ context.Context, e ScaleWorkload) error {
	return &RefusedEffectError{e}
}
