package reconcilers

import (
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/provisioning"
)

// podEvents stores on each NodeClaim the time of the last pod event on its node, because consolidateAfter is counted from this time.
type podEvents struct {
	*actor
	mu sync.Mutex
	// last contains the time of the latest event on each node if that time is not stored yet. Keys are names of nodes.
	last map[string]time.Time
	// leads is true after Start was called. Before that, this process does not store events. Events older than handover are forgotten,
	// because the previous leader has stored them; swept is when old events were last forgotten.
	leads bool
	swept time.Time
}

const (
	// handover is longer than the time until another process becomes the leader.
	handover = 5 * time.Minute
	// podEventsEvery is the interval for storing events.
	podEventsEvery = time.Second
	// strangerFor is how long an event is kept if its node is not in the cache, or if no claim contains the node's name yet. Each kind has
	// its own watch, so pods may be seen before nodes and claims.
	strangerFor = 30 * time.Second
)

// seen handles a change of a pod.
func (p *podEvents) seen(before, after client.Object) {
	old, wasPod := before.(*corev1.Pod)
	pod, isPod := after.(*corev1.Pod)
	if !wasPod && !isPod || !provisioning.IsPodEvent(old, pod) {
		return
	}
	node := ""
	if isPod {
		node = pod.Spec.NodeName
	} else {
		node = old.Spec.NodeName
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.last[node] = now
	if !p.leads && now.Sub(p.swept) >= handover {
		maps.DeleteFunc(p.last, func(_ string, at time.Time) bool { return now.Sub(at) >= handover })
		p.swept = now
	}
}

// NeedLeaderElection returns true: only one process writes claims.
func (p *podEvents) NeedLeaderElection() bool { return true }

// Start stores events until ctx ends.
func (p *podEvents) Start(ctx context.Context) error {
	p.mu.Lock()
	p.leads = true
	p.mu.Unlock()
	ticker := time.NewTicker(podEventsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			p.store(ctx)
		}
	}
}

func (p *podEvents) store(ctx context.Context) {
	p.mu.Lock()
	batch := p.last
	p.last = map[string]time.Time{}
	p.mu.Unlock()
	for node, at := range batch {
		later, err := p.storeOne(ctx, node, at)
		if err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
			p.log.Warn("cannot update status.lastPodEventTime, retrying", "node", node, "error", err)
		}
		if later || err != nil {
			p.mu.Lock()
			if p.last[node].Before(at) {
				p.last[node] = at
			}
			p.mu.Unlock()
		}
	}
}

// storeOne stores one node's event. later means that it must be called again, because the last event is too recent, or because the node or
// its claim may still appear.
func (p *podEvents) storeOne(ctx context.Context, name string, at time.Time) (later bool, err error) {
	node := &corev1.Node{}
	if err := p.client.Get(ctx, types.NamespacedName{Name: name}, node); err != nil {
		return apierrors.IsNotFound(err) && p.now().Sub(at) < strangerFor, client.IgnoreNotFound(err)
	}
	claims, err := claimsWithProviderID(ctx, p.client, node.Spec.ProviderID)
	if err != nil || len(claims) != 1 {
		return len(claims) == 0 && p.now().Sub(at) < strangerFor, err
	}
	if p.foreignClaim(claims[0]) {
		return false, nil
	}
	out, again := provisioning.NotePodEvent(claims[0], at, p.now())
	if out == nil {
		return again > 0, nil
	}
	_, err = putClaim(ctx, p.client, claims[0], out)
	return false, err
}
