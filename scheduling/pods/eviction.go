package pods

import (
	"fmt"
	"math"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// stuckAfter is how long past its deletion timestamp, which includes the grace period, a terminating pod is waited
// for.
const stuckAfter = time.Minute

// Evictable reports whether the pod may be asked to go at the time now, disruption budgets aside.
func Evictable(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return EvictableFrom(v1.MarkerTaint, pod, now)
}

// EvictableFrom is Evictable on a node that is so marked.
func EvictableFrom(marker v1.DisruptionMarker, pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return Active(pod) && !ToleratesMarker(pod, marker) && !Static(pod) && !Protected(pod, now)
}

// Reschedulable reports whether the pod, or its successor, will need another place when its node goes: it is active, or
// terminating and a StatefulSet's, whose successor can't be made before; and it is not tied to its node.
func Reschedulable(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return (Active(pod) || Terminating(pod) && OwnedByStatefulSet(pod)) && !OwnedByDaemonSet(pod) && !Static(pod)
}

// ReschedulableNow reports whether the pod is reschedulable and nothing keeps it where it is at the time now: neither
// its own annotation nor a budget that never allows a disruption. These pods of leaving nodes are planned for as if they
// were pending.
func ReschedulableNow(pod *corev1.Pod, budgets *Budgets, now time.Time) bool {
	if pod == nil {
		return false
	}
	return ReschedulableNowFrom(v1.MarkerTaint, pod, budgets, now)
}

// ReschedulableNowFrom is ReschedulableNow for a pod of a node that is so marked.
func ReschedulableNowFrom(marker v1.DisruptionMarker, pod *corev1.Pod, budgets *Budgets, now time.Time) bool {
	if pod == nil {
		return false
	}
	return Reschedulable(pod) && Disruptable(pod, now) && !budgets.NeverAllowFrom(marker, pod)
}

// Unbound is a copy of the pod that is bound to no node: what stands for its successor while a new place is looked for.
// It shares everything else with the pod.
func Unbound(pod *corev1.Pod) *corev1.Pod {
	if pod == nil {
		return nil
	}
	free := *pod
	free.Spec.NodeName = ""
	return &free
}

// Drainable reports whether a drain has to see to the pod: it does not tolerate the disruption, is not static, and is
// not stuck, that is, terminating for over a minute longer than it was given. Protected pods are drainable: the drain
// waits for them.
func Drainable(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return DrainableFrom(v1.MarkerTaint, pod, now)
}

// DrainableFrom is Drainable on a node that is so marked.
func DrainableFrom(marker v1.DisruptionMarker, pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	if ToleratesMarker(pod, marker) || Static(pod) {
		return false
	}
	return !Terminating(pod) || !now.After(pod.DeletionTimestamp.Add(stuckAfter))
}

// AwaitedByDrain reports whether a drain is not over while the pod is there: it is drainable and has not ended.
func AwaitedByDrain(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return AwaitedByDrainFrom(v1.MarkerTaint, pod, now)
}

// AwaitedByDrainFrom is AwaitedByDrain on a node that is so marked.
func AwaitedByDrainFrom(marker v1.DisruptionMarker, pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return DrainableFrom(marker, pod, now) && !Terminal(pod)
}

// DrainTier is a pod's turn in a drain: a tier starts when no pod of an earlier one remains.
type DrainTier int

// The tiers, in their order.
const (
	TierOrdinary DrainTier = iota
	TierOrdinaryDaemon
	TierCritical
	TierCriticalDaemon
)

// String is a word for messages.
func (t DrainTier) String() string {
	switch t {
	case TierOrdinary:
		return "ordinary pods"
	case TierOrdinaryDaemon:
		return "pods of DaemonSets"
	case TierCritical:
		return "critical pods"
	case TierCriticalDaemon:
		return "critical pods of DaemonSets"
	}
	return fmt.Sprintf("DrainTier(%d)", int(t))
}

// DrainTierOf is the pod's turn in a drain. Critical are the priority classes system-cluster-critical and
// system-node-critical.
func DrainTierOf(pod *corev1.Pod) DrainTier {
	if pod == nil {
		return 0
	}
	critical := pod.Spec.PriorityClassName == "system-cluster-critical" || pod.Spec.PriorityClassName == "system-node-critical"
	switch {
	case critical && OwnedByDaemonSet(pod):
		return TierCriticalDaemon
	case critical:
		return TierCritical
	case OwnedByDaemonSet(pod):
		return TierOrdinaryDaemon
	}
	return TierOrdinary
}

// Bounds of the cost of an eviction.
const (
	minEvictionCost = -10
	maxEvictionCost = 10
)

// EvictionCost is how much it matters that the pod is evicted, in units of an ordinary pod: 1 + d/2²⁷ + p/2²⁵ within
// -10 and 10, d being the number in its annotation controller.kubernetes.io/pod-deletion-cost and p its priority.
// What is missing, or no finite number, counts as 0.
func EvictionCost(pod *corev1.Pod) float64 {
	if pod == nil {
		return 0
	}
	cost := 1.0
	if d, err := strconv.ParseFloat(pod.Annotations[corev1.PodDeletionCost], 64); err == nil && !math.IsNaN(d) && !math.IsInf(d, 0) {
		cost += d / (1 << 27)
	}
	if pod.Spec.Priority != nil {
		cost += float64(*pod.Spec.Priority) / (1 << 25)
	}
	return min(max(cost, minEvictionCost), maxEvictionCost)
}

// RescheduleCost is what disrupting a node with these pods costs, in units of an ordinary pod: 1 for the node, and the
// eviction cost of each reschedulable pod that has a positive one. A node whose cost is 1 counts as empty.
func RescheduleCost(list []*corev1.Pod) float64 {
	cost := 1.0
	for _, pod := range list {
		if Reschedulable(pod) {
			cost += max(0, EvictionCost(pod))
		}
	}
	return cost
}

// RemainingLifetime is the share of its life that a node has before it: (expireAfter - age) / expireAfter within 0 and
// 1, and 1 for one that never expires, which is what a nil expireAfter means.
func RemainingLifetime(created, now time.Time, expireAfter *time.Duration) float64 {
	switch {
	case expireAfter == nil:
		return 1
	case *expireAfter <= 0:
		return 0
	}
	left := created.Add(*expireAfter).Sub(now)
	return min(max(left.Seconds()/expireAfter.Seconds(), 0), 1)
}
