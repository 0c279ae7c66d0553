package provisioning

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Evictor decides how the pods that drains want gone are made to leave: EvictAtOnce, or SurgeFirst. It stands between
// DrainNode, which says who has to go, and EvictionQueue, which paces the requests. Implementations are pure and safe for
// concurrent use. Pods whose deadline has come are deleted by DrainNode whatever an Evictor says.
type Evictor interface {
	// Evict says what to do now for one group of pods (see Workloads.Leaving): which to evict, and how to scale their
	// workload. It is asked again after Again, and when anything of the group changes. Effects may be asked for again until
	// what they bring about is observed.
	Evict(l Leaving, now time.Time) Step
}

// Leaving is a group of pods that drains want gone: all of one workload, or all those without one.
type Leaving struct {
	// Evictions that the drains of all nodes ask for.
	Evictions []EvictPod
	// Workload that owns the pods; nil for those whose owner can't have one more of them.
	Workload *Workload
	// Pods are all of the workload's, wherever they run; read with a Workload alone.
	Pods []*corev1.Pod
}

// EvictAtOnce asks for the eviction of every pod at once, as the reference does: its replacement is made once it is gone, and
// only PodDisruptionBudgets keep enough of its kind running.
type EvictAtOnce struct{}

// Evict evicts all, and takes a surge back that another Evictor left.
func (EvictAtOnce) Evict(l Leaving, _ time.Time) Step {
	step := Step{Effects: evictAll(l.Evictions)}
	if l.Workload != nil {
		step.Effects = append(step.Effects, l.Workload.withdraw()...)
	}
	return step
}

// SurgeFirst has a workload scaled up by a pod or a few before its pods are evicted, and down again when all have left, so
// that as many as it asks for are ready all the while: also those of a workload of one. Evictions still go through the
// eviction API, which honours PodDisruptionBudgets; a budget that asks for all but none of the surge then allows them.
//
// It evicts as many pods as are ready beyond what the workload asks for, at once those that are not ready themselves. What
// it did is written on the workload (SurgeAnnotation) and nowhere else, so that a crash loses nothing. A workload that
// somebody else scales meanwhile, an autoscaler for instance, keeps the number that it was given, and its pods are evicted
// at once. After the last eviction the workload has one pod too many for a moment, which is deleted before it runs.
//
// The zero value is ready.
type SurgeFirst struct {
	// Pods is how many more pods a workload has at most; 0 or less is 1.
	Pods int
	// Patience is how long a replacement may take until the pods that wait for it are evicted all the same; 0 or less is
	// DefaultSurgePatience.
	Patience time.Duration
	// LastCall is how long before its deadline (EvictPod.Deadline) a pod is evicted at the latest, so that it leaves by
	// eviction and not by force; 0 or less is DefaultSurgeLastCall.
	LastCall time.Duration
}

// Times of SurgeFirst.
const (
	// DefaultSurgePatience is long enough for an instance to come up and a pod on it.
	DefaultSurgePatience = 10 * time.Minute
	DefaultSurgeLastCall = time.Minute
	// surgeEvery is how often a workload is looked at while replacements come up.
	surgeEvery = 2 * time.Second
)

// EventSurgeGivenUp says that the replacements of pods that are to leave did not become ready in time: they are evicted
// without. It is not the reference's.
const EventSurgeGivenUp EventReason = "SurgeGivenUp"

func positive[T int | time.Duration](n, otherwise T) T {
	if n > 0 {
		return n
	}
	return otherwise
}

// Evict is the next step of the surge.
func (s SurgeFirst) Evict(l Leaving, now time.Time) Step {
	w := l.Workload
	switch {
	case w == nil || w.NoSurge != "":
		return EvictAtOnce{}.Evict(l, now)
	case len(l.Evictions) == 0:
		return Step{Effects: w.withdraw()}
	case w.Surge != nil && w.Surge.By > 0 && w.Replicas != w.Surge.From+w.Surge.By:
		// Somebody else has set the number: it is theirs. Until nobody leaves any more, it is not touched again.
		return Step{Effects: append(evictAll(l.Evictions), w.scale(w.Replicas, &Surge{From: w.Replicas, Since: w.Surge.Since}))}
	case w.Surge != nil && w.Surge.By <= 0:
		return Step{Effects: evictAll(l.Evictions)}
	}
	going, staying := s.sort(l, now)
	step := Step{Effects: evictAll(going)}
	if len(staying) == 0 {
		return step
	}
	step.Again = surgeEvery
	patience := positive(s.Patience, DefaultSurgePatience)
	switch {
	case w.Surge == nil:
		by := int32(min(positive(s.Pods, 1), len(staying)))
		step.Effects = append(step.Effects, w.scale(w.Replicas+by, &Surge{From: w.Replicas, By: by, Since: now}))
	case len(going) > 0 && now.Sub(w.Surge.Since) > patience/2:
		// Replacements do come up: those that are left have the whole time again.
		renewed := *w.Surge
		renewed.Since = now
		step.Effects = append(step.Effects, w.scale(w.Replicas, &renewed))
	case !now.Before(w.Surge.Since.Add(patience)):
		step.Effects = append(step.Effects, evictAll(staying)...)
		step.Events = []Event{{
			Kind: w.Kind, Namespace: w.Key.Namespace, Name: w.Key.Name, UID: w.UID, Warning: true, Reason: EventSurgeGivenUp,
			Message: "Pods are evicted although their replacements were not ready within " + patience.String(),
		}}
	default:
		step.Again = min(step.Again, w.Surge.Since.Add(patience).Sub(now))
	}
	return step
}

// sort tells those that may go now from those that wait for a replacement, by namespace and name.
func (s SurgeFirst) sort(l Leaving, now time.Time) (going, staying []EvictPod) {
	ready := map[evictionKey]bool{}
	spare := -int(l.Workload.asks())
	for _, pod := range l.Pods {
		if servesNow(pod) {
			ready[evictionKey{namespacedName(pod), pod.UID}] = true
			spare++
		}
	}
	lastCall := positive(s.LastCall, DefaultSurgeLastCall)
	for _, e := range sortedEvictions(l.Evictions) {
		late := !e.Deadline.IsZero() && !now.Before(e.Deadline.Add(-lastCall))
		switch {
		case !ready[evictionKey{e.Key, e.UID}]:
			going = append(going, e)
		case late || spare > 0:
			spare--
			going = append(going, e)
		default:
			staying = append(staying, e)
		}
	}
	return going, staying
}

func evictAll(list []EvictPod) []Effect {
	var out []Effect
	for _, e := range sortedEvictions(list) {
		out = append(out, e)
	}
	return out
}

func sortedEvictions(list []EvictPod) []EvictPod {
	return slices.SortedFunc(slices.Values(list), func(a, b EvictPod) int {
		return cmp.Or(cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name), cmp.Compare(a.UID, b.UID))
	})
}
