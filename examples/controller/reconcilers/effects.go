package reconcilers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/provisioning"
)

// roundEffects carries out the effects of one round. It has a method for every kind of effect: a new kind of effect causes a compile error
// until it has a method here.
type roundEffects struct {
	actor *actor
	round *round
}

var _ provisioning.Handler = roundEffects{}

func (h roundEffects) PutClaim(ctx context.Context, e provisioning.PutClaim) error {
	return h.actor.putClaim(ctx, h.round, e.Claim)
}

func (h roundEffects) DeleteClaim(ctx context.Context, e provisioning.DeleteClaim) error {
	return h.actor.deleteClaim(ctx, h.round, e)
}

func (h roundEffects) CreateInstance(ctx context.Context, e provisioning.CreateInstance) error {
	return h.actor.createInstance(ctx, h.round, e)
}

func (h roundEffects) FindInstance(ctx context.Context, e provisioning.FindInstance) error {
	return h.actor.findInstance(ctx, h.round, e.Claim)
}

func (h roundEffects) AskInstance(ctx context.Context, e provisioning.AskInstance) error {
	_, err := h.actor.provider.Get(ctx, e.Claim.Status.ProviderID)
	return h.round.answered(err, provisioning.InstanceThere)
}

func (h roundEffects) TerminateInstance(ctx context.Context, e provisioning.TerminateInstance) error {
	return h.actor.terminateInstance(ctx, h.round, e.Claim)
}

func (h roundEffects) AskGates(ctx context.Context, e provisioning.AskGates) error {
	h.round.gates = h.actor.askGates(ctx, e.Claim)
	return nil
}

func (h roundEffects) PutNode(ctx context.Context, e provisioning.PutNode) error {
	return h.actor.putNode(ctx, h.round, e.Node)
}

func (h roundEffects) DeleteNode(ctx context.Context, e provisioning.DeleteNode) error {
	return deleteExactly(ctx, h.actor.client, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: e.Name, UID: e.UID}})
}

func (h roundEffects) EvictPod(_ context.Context, e provisioning.EvictPod) error {
	h.actor.evict(e)
	return nil
}

func (h roundEffects) DeletePod(ctx context.Context, e provisioning.DeletePod) error {
	return h.actor.deletePod(ctx, e)
}

// ScaleWorkload returns an error: only surgeEffects scales workloads, and no step of a claim or node does.
func (h roundEffects) ScaleWorkload(_ context.Context, e provisioning.ScaleWorkload) error {
	return fmt.Errorf("only surge eviction scales workloads, but a step asked to scale %s %s", e.Kind, e.Key)
}
