package provisioning

import (
	"context"
	"fmt"

	"github.com/drawknife/drawknife/api/option"
)

// Handler carries out effects, with one method for each kind. If a later release adds a kind of effect, it adds a method, so a
// Handler without it no longer compiles and no effect is overlooked. Do calls the right method.
type Handler interface {
	// PutClaim stores a claim, unless it is gone or was replaced: then skip the rest of its step.
	PutClaim(context.Context, PutClaim) error
	// DeleteClaim deletes a claim in the API; it is not an error if the claim is gone.
	DeleteClaim(context.Context, DeleteClaim) error
	// CreateInstance launches an instance, and passes the result to Lifecycle.Created.
	CreateInstance(context.Context, CreateInstance) error
	// FindInstance looks for an instance with the UID of the claim; the result becomes ClaimTermination.Found.
	FindInstance(context.Context, FindInstance) error
	// AskInstance asks the provider whether an instance exists; the answer is the instance's state.
	AskInstance(context.Context, AskInstance) error
	// TerminateInstance terminates an instance; the answer is the instance's state.
	TerminateInstance(context.Context, TerminateInstance) error
	// AskGates calls the registration gates; their answers become ClaimState.Gates.
	AskGates(context.Context, AskGates) error
	// PutNode stores a node, unless it is gone or was replaced: then skip the rest of its step.
	PutNode(context.Context, PutNode) error
	// DeleteNode deletes a node in the API; it is not an error if the node is gone.
	DeleteNode(context.Context, DeleteNode) error
	// EvictPod evicts a pod by the eviction API; it is not an error if the pod is gone.
	EvictPod(context.Context, EvictPod) error
	// DeletePod deletes a pod regardless of PodDisruptionBudgets; it is not an error if the pod is gone.
	DeletePod(context.Context, DeletePod) error
	// ScaleWorkload changes the number of replicas, unless the workload has changed since it was seen.
	ScaleWorkload(context.Context, ScaleWorkload) error
}

// Do calls the handler's method for the effect. The error is the handler's, or an *option.ArgumentError if the effect or the
// handler is nil.
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

// RefusedEffectError is an effect that a Handler does not support.
type RefusedEffectError struct{ Effect Effect }

// Error names the effect.
func (e *RefusedEffectError) Error() string {
	return fmt.Sprintf("cannot %v: there is no handler for it", e.Effect)
}

// RefuseEffects is a Handler that refuses everything with a *RefusedEffectError. Embed it in a Handler for some kinds only, such as
// those of an Evictor. The compiler then does not report missing methods for new kinds, so a Handler for all kinds should not embed
// it.
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
