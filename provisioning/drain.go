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

// Drain is how far the drain of a node has come.
type Drain struct {
	// Waiting is how many pods it waits for, of any tier; 0 is drained.
	Waiting int
	// Tier is the one that has its turn; meaningless when nothing is waited for.
	Tier pods.DrainTier
	// Effects are evictions of the tier's pods and deletions of those, of any tier, whose deadline has come; by
	// namespace and name.
	Effects []Effect
	// Blocked are the pods of the tier that protect themselves: they are waited for until they do so no more.
	Blocked []types.NamespacedName
	// Again is when a deadline or a protection ends next; 0 if neither does.
	Again time.Duration
}

// DrainNode decides who has to go next from a node with these pods at the time now. deadline is
// when the node ends whatever is left on it; zero is never. Pods go tier by tier; protected ones are waited for, and so
// are those that are on their way. Once a pod could not use its whole grace period before the deadline any more, it is
// deleted with what is left, whatever its tier, its annotations and its budgets say.
func DrainNode(list []*corev1.Pod, deadline, now time.Time) Drain {
	return DrainMarkedNode(v1.MarkerTaint, list, deadline, now)
}

// DrainMarkedNode is DrainNode for a node that is so marked: on one that is cordoned instead of tainted, pods that tolerate
// the cordon stay, as those of DaemonSets do.
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

// overdue reports whether the pod is to be deleted by the deadline's rule: one that has not been asked to go
// once less than its grace period is left, one that is going when its end lies beyond the deadline; with what is left
// as grace, at least a second. Otherwise until is when that will be, zero for never. A pod without a grace period of its
// own is never deleted by the rule.
func overdue(pod *corev1.Pod, deadline, now time.Time) (due bool, grace time.Duration, until time.Time) {
	if deadline.IsZero() || pod.Spec.TerminationGracePeriodSeconds == nil {
		return false, 0, time.Time{}
	}
	left := max(deadline.Sub(now).Truncate(time.Second), time.Second)
	if pods.Terminating(pod) {
		// A deletion that was shortened already ends at the deadline, or a second from when it was.
		return pod.DeletionTimestamp.After(deadline) && pod.DeletionTimestamp.After(now.Add(time.Second)), left, time.Time{}
	}
	until = deadline.Add(-time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second)
	return now.After(until), left, until
}
