package reconcilers

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// podTimes follows pods from their first event until they are ready, have failed or are deleted, and measures the durations. Standbys
// also keep these times, so that a new leader can continue; only the leader records metrics.
type podTimes struct {
	leader  *leadership
	metrics *metrics
	now     func() time.Time

	mu   sync.Mutex
	pods map[types.UID]*podTime
}

// podTime contains the times at which a pod reached each stage. A zero time means that the pod has not reached this stage.
type podTime struct {
	name types.NamespacedName
	// created is when the API server created the pod. seen is when this process first saw it. decided is when a planning pass first handled
	// it. placed is when a plan first had a place for it.
	created, seen, decided, placed time.Time
	bound                          bool
}

func newPodTimes(leader *leadership, m *metrics, now func() time.Time) *podTimes {
	return &podTimes{leader: leader, metrics: m, now: now, pods: map[types.UID]*podTime{}}
}

// seen handles a change of a pod.
func (p *podTimes) seen(before, after client.Object) {
	pod, ok := after.(*corev1.Pod)
	if !ok {
		if old, was := before.(*corev1.Pod); was {
			p.mu.Lock()
			delete(p.pods, old.UID)
			p.mu.Unlock()
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.pods[pod.UID]
	switch {
	case pods.Terminal(pod):
		delete(p.pods, pod.UID)
		return
	case t == nil && before == nil && pod.Spec.NodeName == "":
		t = &podTime{name: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, created: pod.CreationTimestamp.Time, seen: p.now()}
		p.pods[pod.UID] = t
	case t == nil:
		return // the process did not see the start of the pod, or the pod has been ready for a long time
	}
	if !t.bound && pod.Spec.NodeName != "" {
		t.bound = true
		p.measure(t, conditionTime(pod, corev1.PodScheduled, p.now()), p.metrics.podBound, p.metrics.podPlacedBound)
	}
	if t.bound && pods.Ready(pod) {
		p.measure(t, conditionTime(pod, corev1.PodReady, p.now()), p.metrics.podStartup, p.metrics.podPlacedStartup)
		delete(p.pods, pod.UID)
	}
}

// measure records how long a pod took to reach a stage, both since its creation and since the first plan with a place for it.
func (p *podTimes) measure(t *podTime, at time.Time, sinceCreated, sincePlaced prometheus.Observer) {
	if !p.leader.Load() {
		return
	}
	sinceCreated.Observe(max(0, at.Sub(t.created).Seconds()))
	if !t.placed.IsZero() {
		sincePlaced.Observe(max(0, at.Sub(t.placed).Seconds()))
	}
}

// planned records the results of a planning pass.
func (p *podTimes) planned(waiting []*corev1.Pod, plan *scheduling.Plan) {
	without := make(map[scheduling.PodKey]bool, len(plan.Unschedulable))
	for i := range plan.Unschedulable {
		without[plan.Unschedulable[i].Pod] = true
	}
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pod := range waiting {
		t := p.pods[pod.UID]
		if t == nil {
			continue
		}
		if t.decided.IsZero() {
			t.decided = now
			p.metrics.podDecision.Observe(now.Sub(t.seen).Seconds())
		}
		if t.placed.IsZero() && !without[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] {
			t.placed = now
		}
	}
}

// collect sends the metrics of pods that are not ready yet.
func (p *podTimes) collect(s *stateMetrics, now time.Time, gauge func(*prometheus.Desc, float64, ...string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.pods {
		show := func(d *prometheus.Desc, since time.Time) {
			gauge(d, now.Sub(since).Seconds(), t.name.Name, t.name.Namespace)
		}
		show(s.unstarted, t.created)
		if !t.bound {
			show(s.unbound, t.created)
			if t.decided.IsZero() {
				show(s.undecided, t.seen)
			}
		}
		if !t.placed.IsZero() {
			show(s.placedUnstarted, t.placed)
			if !t.bound {
				show(s.placedUnbound, t.placed)
			}
		}
	}
}

// conditionTime returns when the pod got the condition, or now if the pod does not state the time.
func conditionTime(pod *corev1.Pod, kind corev1.PodConditionType, now time.Time) time.Time {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Time
		}
	}
	return now
}
