package provisioning

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Drain is the progress of a node's drain.
type Drain struct {
	// Waiting is the number of pods that still must leave, of all tiers; 0 means drained.
	Waiting int
	// Tier is the current tier; undefined if Waiting is 0.
	Tier pods.DrainTier
	// Effects are evictions of the tier's pods, and deletions of pods of any tier whose deadline has passed; sorted by namespace
	// and name.
	Effects []Effect
	// Blocked are pods of the tier that are protected from eviction: the drain waits until they are no longer protected.
	Blocked []types.NamespacedName
	// Again is the time until the next deadline of a pod or the next end of a protection; 0 if neither is expected.
	Again time.Duration
}

// DrainNode decides which pods of list must leave the node next. At the deadline the node is terminated with the remaining pods; a zero
// deadline means no deadline. Pods leave tier by tier. The drain waits for protected pods and for pods that are terminating. When less time
// than a pod's grace period is left before the deadline, the pod is deleted with the remaining time as grace period, regardless of tier,
// annotations and PodDisruptionBudgets.
func DrainNode(list []*corev1.Pod, deadline, now time.Time) Drain {
	return DrainMarkedNode(v1.MarkerTaint, list, deadline, now)
}

// DrainMarkedNode is like DrainNode, for a node with the given marker. If the node is cordoned instead of tainted, pods that tolerate the
// cordon stay, for example those of DaemonSets.
func DrainMarkedNode(marker v1.DisruptionMarker, list []*corev1.Pod, deadline, now time.Time) Drain {
	d := Drain{Tier: pods.TierCriticalDaemon}
	sorted := slices.SortedFunc(slices.Values(present(list)), func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, pod := range sorted {
		if !pods.AwaitedByDrainFrom(marker, pod, now) {
			continue
		}
		d.Waiting++
		d.Tier = min(d.Tier, pods.DrainTierOf(pod))
	}
	for _, pod := range sorted {
		if pods.AwaitedByDrainFrom(marker, pod, now) {
			d.decide(pod, deadline, now)
		}
	}
	return d
}

func (d *Drain) decide(pod *corev1.Pod, deadline, now time.Time) {
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	due, grace, until := overdue(pod, deadline, now)
	switch {
	case due:
		d.Effects = append(d.Effects, DeletePod{Key: key, UID: pod.UID, Grace: grace})
		return
	case !until.IsZero():
		d.Again = untilDue(d.Again, max(until.Sub(now), time.Nanosecond))
	}
	if pods.Terminating(pod) || pods.DrainTierOf(pod) != d.Tier {
		return
	}
	if p := pods.ProtectionOf(pod, now); p.Active {
		d.Blocked = append(d.Blocked, key)
		if !p.Until.IsZero() {
			d.Again = untilDue(d.Again, p.Until.Sub(now))
		}
		return
	}
	d.Effects = append(d.Effects, EvictPod{Key: key, UID: pod.UID, Deadline: until})
}

// overdue reports whether the pod must be deleted now, so that its grace period ends by the deadline of the drain. It returns true in two
// cases: the pod is not terminating and the deadline is closer than the pod's grace period, or the pod is terminating and would end after
// the deadline. The second result (grace) is the time until the deadline, but at least a second. If the first result is false, the third
// result is the time from which the pod must be deleted; zero means never. A pod without a grace period is never overdue.
func overdue(pod *corev1.Pod, deadline, now time.Time) (due bool, grace time.Duration, until time.Time) {
	if deadline.IsZero() || pod.Spec.TerminationGracePeriodSeconds == nil {
		return false, 0, time.Time{}
	}
	left := max(deadline.Sub(now).Truncate(time.Second), time.Second)
	if pods.Terminating(pod) {
		// If the grace period was shortened already, the deletion ends by the deadline or within a second. Then it need not be shortened
		// again.
		return pod.DeletionTimestamp.After(deadline) && pod.DeletionTimestamp.After(now.Add(time.Second)), left, time.Time{}
	}
	until = deadline.Add(-time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second)
	return now.After(until), left, until
}
