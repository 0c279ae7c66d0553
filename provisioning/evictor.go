package provisioning

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Evictor decides how pods of drained nodes are evicted: EvictAtOnce, or SurgeFirst. DrainNode decides which pods must leave, the Evictor
// decides how they leave, and EvictionQueue schedules the eviction requests. Implementations are pure and safe for concurrent use.
// DrainNode deletes pods whose deadline has passed, independent of the Evictor.
type Evictor interface {
	// Evict decides which pods of one group (see Workloads.Leaving) to evict now, and how to scale their workload. Call it again after the
	// time Step.Again, and when the group changes. It may return an effect again until the result is observed.
	Evict(l Leaving, now time.Time) Step
}

// Leaving is a group of pods that must leave drained nodes: all such pods of one workload, or all such pods without a workload.
type Leaving struct {
	// Evictions requested by the drains of all nodes.
	Evictions []EvictPod
	// Workload owns the pods; it is nil for pods whose owner can't be scaled up.
	Workload *Workload
	// Pods are all pods of the workload, on any node; used only with a Workload.
	Pods []*corev1.Pod
}

// EvictAtOnce evicts every pod at once, like Karpenter: a pod's replacement is created when the pod is gone, and only PodDisruptionBudgets
// keep enough pods running.
type EvictAtOnce struct{}

// Evict evicts all pods, and undoes a surge that another Evictor left.
func (EvictAtOnce) Evict(l Leaving, _ time.Time) Step {
	step := Step{Effects: evictAll(l.Evictions)}
	if l.Workload != nil {
		step.Effects = append(step.Effects, l.Workload.withdraw()...)
	}
	return step
}

// SurgeFirst scales a workload up by one or a few pods before its pods are evicted, and down again when all have left. So the workload
// always has as many ready pods as before, even if it has only one replica. Evictions still go through the eviction API, which honours
// PodDisruptionBudgets; with the additional pods, even a budget without allowed disruptions permits them.
//
// Pods that are not ready are evicted at once. Of the ready pods, it evicts as many as there are in excess of the workload's number of
// replicas. Its state is stored only on the workload (SurgeAnnotation), so a crash loses nothing. If somebody else, for example an
// autoscaler, scales the workload in the meantime, the new number stays, and its pods are evicted at once. After the last eviction the
// workload has one pod too many for a moment, which is deleted before it runs.
//
// The zero value is ready to use.
type SurgeFirst struct {
	// Pods is the maximum number of additional pods of a workload; less than 1 counts as 1.
	Pods int
	// Patience is how long to wait for a replacement before the pods are evicted anyway. nil means DefaultSurgePatience; with 0 or less,
	// there is no waiting.
	Patience *time.Duration
	// LastCall is the time before its deadline (EvictPod.Deadline) at which a pod is evicted at the latest, so that it is evicted and not
	// deleted. nil means DefaultSurgeLastCall; with 0 or less, the pod may be deleted.
	LastCall *time.Duration
}

// Times of SurgeFirst.
const (
	// DefaultSurgePatience is long enough to launch an instance and to start a pod on it.
	DefaultSurgePatience = 10 * time.Minute
	DefaultSurgeLastCall = time.Minute
	// surgeEvery is how often a workload is checked while it waits for replacements.
	surgeEvery = 2 * time.Second
)

// EventSurgeGivenUp says that replacements did not become ready in time, so the pods are evicted without them. Karpenter has no such event.
const EventSurgeGivenUp EventReason = "SurgeGivenUp"

// Evict returns the next step of the surge.
func (s SurgeFirst) Evict(l Leaving, now time.Time) Step {
	w := l.Workload
	switch {
	case w == nil || w.NoSurge != "":
		return EvictAtOnce{}.Evict(l, now)
	case len(l.Evictions) == 0:
		return Step{Effects: w.withdraw()}
	case w.Surge != nil && w.Surge.By > 0 && w.Replicas != w.Surge.From+w.Surge.By:
		// Another client has changed the number of replicas. A Surge without By is recorded, so that SurgeFirst does not change the number
		// again until all pods have left the node.
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
	patience := max(0, option.Or(s.Patience, DefaultSurgePatience))
	switch {
	case w.Surge == nil:
		by := int32(min(max(1, s.Pods), len(staying)))
		step.Effects = append(step.Effects, w.scale(w.Replicas+by, &Surge{From: w.Replicas, By: by, Since: now}))
	case len(going) > 0 && now.Sub(w.Surge.Since) > patience/2:
		// A replacement became ready, so the time of Patience starts again for the other replacements.
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

// sort divides the evictions into two lists: pods that may be evicted now (going) and pods that wait for a replacement (staying). Both
// lists are sorted by namespace and name.
func (s SurgeFirst) sort(l Leaving, now time.Time) (going, staying []EvictPod) {
	ready := map[evictionKey]bool{}
	spare := -int(l.Workload.asks())
	for _, pod := range l.Pods {
		if servesNow(pod) {
			ready[evictionKey{namespacedName(pod), pod.UID}] = true
			spare++
		}
	}
	lastCall := max(0, option.Or(s.LastCall, DefaultSurgeLastCall))
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

// ForcefulTermination is the eviction reason for pods of a node that no command disrupts.
const ForcefulTermination = "Forceful Termination"

// EvictionReason returns why pods are evicted from the claim's node: the reason of the command that disrupts it (condition
// DisruptionReason). Without such a command, or for a nil claim, it is ForcefulTermination.
func EvictionReason(claim *v1.NodeClaim) string {
	if claim == nil {
		return ForcefulTermination
	}
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == v1.ConditionDisruptionReason && c.Status == "True" {
			return cmp.Or(c.Reason, ForcefulTermination)
		}
	}
	return ForcefulTermination
}

// explain sets the reason of all evictions and deletions of the drain to the given text.
func (d *Drain) explain(why string) {
	for i, effect := range d.Effects {
		switch e := effect.(type) {
		case EvictPod:
			e.Why = why
			d.Effects[i] = e
		case DeletePod:
			e.Why = why
			d.Effects[i] = e
		}
	}
}
