package pods

import (
	"fmt"
	"math"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// stuckAfter is how long a drain still waits for a terminating pod after the pod's deletion timestamp, which includes the grace period.
const stuckAfter = time.Minute

// Evictable reports whether a drain may evict the pod now, without regard to PodDisruptionBudgets.
func Evictable(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return EvictableFrom(v1.MarkerTaint, pod, now)
}

// EvictableFrom is Evictable for a pod on a node with the given marker.
func EvictableFrom(marker v1.DisruptionMarker, pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return Active(pod) && !ToleratesMarker(pod, marker) && !Static(pod) && !Protected(pod, now)
}

// Reschedulable reports whether the pod, or the pod that replaces it, needs another node when its node is removed. The pod must be active,
// or a terminating pod of a StatefulSet, which is replaced only after it has ended. It must not be tied to its node.
func Reschedulable(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return (Active(pod) || Terminating(pod) && OwnedByStatefulSet(pod)) && !OwnedByDaemonSet(pod) && !Static(pod)
}

// ReschedulableNow reports whether the pod is reschedulable and nothing keeps it on its node: neither its own annotation nor a budget that
// never allows a disruption. On leaving nodes, planning treats these pods as if they were pending.
func ReschedulableNow(pod *corev1.Pod, budgets *Budgets, now time.Time) bool {
	if pod == nil {
		return false
	}
	return ReschedulableNowFrom(v1.MarkerTaint, pod, budgets, now)
}

// ReschedulableNowFrom is ReschedulableNow for a pod on a node with the given marker.
func ReschedulableNowFrom(marker v1.DisruptionMarker, pod *corev1.Pod, budgets *Budgets, now time.Time) bool {
	if pod == nil {
		return false
	}
	return Reschedulable(pod) && Disruptable(pod, now) && !budgets.NeverAllowFrom(marker, pod)
}

// Unbound returns a copy of the pod without a node. It represents the pod that will replace this pod while a planner looks for a new node.
// It shares all other data with the pod.
func Unbound(pod *corev1.Pod) *corev1.Pod {
	if pod == nil {
		return nil
	}
	free := *pod
	free.Spec.NodeName = ""
	return &free
}

// Drainable reports whether a drain must remove the pod: it does not tolerate the disruption taint, is not static, and is not stuck. A
// pod is stuck if it is still terminating more than a minute after its deletion timestamp. Protected pods are drainable: the drain waits
// for them.
func Drainable(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return DrainableFrom(v1.MarkerTaint, pod, now)
}

// DrainableFrom is Drainable for a pod on a node with the given marker.
func DrainableFrom(marker v1.DisruptionMarker, pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	if ToleratesMarker(pod, marker) || Static(pod) {
		return false
	}
	return !Terminating(pod) || !now.After(pod.DeletionTimestamp.Add(stuckAfter))
}

// AwaitedByDrain reports whether a drain waits for the pod: it is drainable and has not ended.
func AwaitedByDrain(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return AwaitedByDrainFrom(v1.MarkerTaint, pod, now)
}

// AwaitedByDrainFrom is AwaitedByDrain for a pod on a node with the given marker.
func AwaitedByDrainFrom(marker v1.DisruptionMarker, pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return DrainableFrom(marker, pod, now) && !Terminal(pod)
}

// DrainTier says when a drain evicts a pod: a tier starts when no pod of an earlier tier remains.
type DrainTier int

// The tiers, in the order in which a drain evicts them.
const (
	TierOrdinary DrainTier = iota
	TierOrdinaryDaemon
	TierCritical
	TierCriticalDaemon
)

// String returns a word for messages.
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

// DrainTierOf returns the pod's tier in a drain. Critical pods have the priority class system-cluster-critical or system-node-critical.
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

// The bounds of EvictionCost.
const (
	minEvictionCost = -10
	maxEvictionCost = 10
)

// EvictionCost returns the cost of evicting the pod, in units of an ordinary pod: 1 + d/2²⁷ + p/2²⁵, limited to the range from -10 to 10. d
// is the number in its annotation controller.kubernetes.io/pod-deletion-cost, and p is its priority. A missing value, or one that is not a
// finite number, counts as 0.
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

// RescheduleCost returns the cost of disrupting a node with these pods, in units of an ordinary pod: 1 for the node, plus the eviction cost
// of each reschedulable pod if it is positive. A node whose cost is 1 counts as empty.
func RescheduleCost(list []*corev1.Pod) float64 {
	cost := 1.0
	for _, pod := range list {
		if Reschedulable(pod) {
			cost += max(0, EvictionCost(pod))
		}
	}
	return cost
}

// RemainingLifetime returns the share of its lifetime that a node still has: (expireAfter - age) / expireAfter, limited to the range from 0
// to 1. It is 1 if expireAfter is nil, which means that the node never expires.
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
