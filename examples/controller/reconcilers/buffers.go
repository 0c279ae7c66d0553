package reconcilers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
)

// bufferResolver keeps capacity free for CapacityBuffers: it creates their placeholders for each pass, and writes the result to their
// status. A nil resolver has no buffers.
type bufferResolver struct {
	client client.Client
	log    *slog.Logger
	now    func() time.Time

	mu       sync.Mutex
	resolved []buffers.Resolved
}

// buffersTrigger triggers a pass for buffers.
const buffersTrigger types.UID = "buffers"

// buffersEvery is how often buffers are planned.
const buffersEvery = 30 * time.Second

// placeholders returns the present placeholders of all buffers.
func (b *bufferResolver) placeholders(ctx context.Context) ([]*corev1.Pod, error) {
	if b == nil {
		return nil, nil
	}
	var (
		list         v1beta1.CapacityBufferList
		templates    corev1.PodTemplateList
		deployments  appsv1.DeploymentList
		replicaSets  appsv1.ReplicaSetList
		statefulSets appsv1.StatefulSetList
	)
	for _, into := range []client.ObjectList{&list, &templates, &deployments, &replicaSets, &statefulSets} {
		if err := b.client.List(ctx, into); err != nil {
			return nil, err
		}
	}
	resolved := buffers.Resolve(buffers.Input{
		Buffers: pointers(list.Items), PodTemplates: pointers(templates.Items), Deployments: pointers(deployments.Items),
		ReplicaSets: pointers(replicaSets.Items), StatefulSets: pointers(statefulSets.Items),
	})
	b.mu.Lock()
	b.resolved = resolved
	b.mu.Unlock()
	return buffers.Placeholders(resolved), nil
}

// planned writes the result of the pass to the buffers.
func (b *bufferResolver) planned(ctx context.Context, plan *scheduling.Plan) {
	if b == nil {
		return
	}
	b.mu.Lock()
	resolved := b.resolved
	b.mu.Unlock()
	places := buffers.Locate(resolved, plan)
	for i := range resolved {
		base := resolved[i].Buffer
		out := base.DeepCopy()
		changed := resolved[i].Record(out, b.now())
		if resolved[i].Provisioning(places[i]).Record(out, b.now()) || changed {
			// After a write conflict, the next pass writes the status.
			if err := b.client.Status().Patch(ctx, out, unchangedSince(base)); err != nil && ctx.Err() == nil {
				b.log.Warn("cannot update status of CapacityBuffer, retrying in the next pass", "capacityBuffer", base.Namespace+"/"+base.Name, "error", err)
			}
		}
	}
}

// bufferTicker triggers passes for buffers regularly.
type bufferTicker struct{ add func(types.UID) }

// NeedLeaderElection returns true, because only the leader plans.
func (b bufferTicker) NeedLeaderElection() bool { return true }

// Start triggers passes until ctx ends.
func (b bufferTicker) Start(ctx context.Context) error {
	ticker := time.NewTicker(buffersEvery)
	defer ticker.Stop()
	for {
		b.add(buffersTrigger)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
