package reconcilers

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/provisioning"
)

// The type evictions asks the eviction API to evict pods. Each pod has its own rate of retries, and only a few requests are in progress at
// a time.
type evictions struct {
	client   client.Client
	recorder *recorder
	metrics  *metrics
	log      *slog.Logger
	now      func() time.Time

	mu    sync.Mutex
	queue *provisioning.EvictionQueue
	// asked contains the time at which the API granted each pod's eviction. The eviction is not repeated until the watch shows the
	// deletion.
	asked map[types.UID]time.Time
	wake  chan struct{}
}

// watchLag is the maximum time until the watch shows that an evicted pod is being deleted.
const watchLag = 10 * time.Second

// evictionParallelism is how many eviction requests are in progress at a time.
const evictionParallelism = 10

func newEvictions(c client.Client, r *recorder, m *metrics, log *slog.Logger, now func() time.Time) *evictions {
	return &evictions{client: c, recorder: r, metrics: m, log: log, now: now, queue: provisioning.NewEvictionQueue(), asked: map[types.UID]time.Time{}, wake: make(chan struct{}, 1)}
}

func (e *evictions) add(pod provisioning.EvictPod) {
	now := e.now()
	e.mu.Lock()
	if now.Sub(e.asked[pod.UID]) < watchLag {
		e.mu.Unlock()
		return
	}
	e.queue.Add(pod, now)
	e.mu.Unlock()
	wake(e.wake)
}

// remove forgets the pods of a node that no longer exists.
func (e *evictions) remove(pods []*corev1.Pod) {
	uids := make([]types.UID, 0, len(pods))
	for _, pod := range pods {
		uids = append(uids, pod.UID)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue.Remove(uids...)
	for _, uid := range uids {
		delete(e.asked, uid)
	}
}

// NeedLeaderElection returns true: only one process evicts.
func (e *evictions) NeedLeaderElection() bool { return true }

// Start evicts until ctx ends.
func (e *evictions) Start(ctx context.Context) error {
	slots := make(chan struct{}, evictionParallelism)
	var group sync.WaitGroup
	defer group.Wait()
	for ctx.Err() == nil {
		e.mu.Lock()
		pod, late, ok, again := e.queue.Next(e.now())
		e.mu.Unlock()
		if !ok {
			rest(ctx, e.wake, again)
			continue
		}
		if late {
			// The next reconcile of the node finds out whether, and how, the pod must be deleted.
			e.mu.Lock()
			e.queue.Report(pod, provisioning.EvictionDone, e.now())
			e.mu.Unlock()
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		group.Go(func() {
			defer func() { <-slots }()
			e.report(pod, e.evict(ctx, pod))
		})
	}
	return nil
}

func (e *evictions) report(pod provisioning.EvictPod, outcome provisioning.EvictionOutcome) {
	now := e.now()
	e.mu.Lock()
	e.queue.Report(pod, outcome, now)
	if outcome == provisioning.EvictionDone {
		maps.DeleteFunc(e.asked, func(_ types.UID, at time.Time) bool { return now.Sub(at) >= watchLag })
		e.asked[pod.UID] = now
	}
	e.mu.Unlock()
	wake(e.wake) // after a refusal, the loop must learn when the next attempt is due
}

// evict asks once.
func (e *evictions) evict(ctx context.Context, target provisioning.EvictPod) provisioning.EvictionOutcome {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: target.Key.Namespace, Name: target.Key.Name}}
	uid := target.UID
	err := e.client.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: target.Key.Namespace, Name: target.Key.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	})
	e.metrics.evictionAnswered(codeOf(err))
	event := provisioning.Event{Kind: "Pod", Namespace: target.Key.Namespace, Name: target.Key.Name, UID: target.UID}
	switch {
	case err == nil:
		e.metrics.podDrained("evicted")
		event.Reason, event.Message = provisioning.EventEvicted, "Evicted pod: "+target.Why
		e.recorder.publish([]provisioning.Event{event})
		return provisioning.EvictionDone
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return provisioning.EvictionDone
	case apierrors.IsTooManyRequests(err), apierrors.IsInternalError(err):
		// 429: a PodDisruptionBudget does not allow the eviction now. 500: several PodDisruptionBudgets select the pod, which the API does
		// not support.
		event.Warning, event.Reason, event.Message = true, provisioning.EventFailedDraining, fmt.Sprintf("Failed to evict: %v", err)
		e.recorder.publish([]provisioning.Event{event})
		return provisioning.EvictionRefused
	}
	if ctx.Err() == nil {
		e.log.Warn("cannot evict pod, retrying", "pod", target.Key, "error", err)
	}
	return provisioning.EvictionFailed
}

// codeOf returns the HTTP status of an answer.
func codeOf(err error) string {
	if err == nil {
		return "200"
	}
	if status, ok := err.(apierrors.APIStatus); ok {
		return strconv.Itoa(int(status.Status().Code))
	}
	return "0"
}
