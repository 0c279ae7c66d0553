package likeness

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/match"
)

// Marks are properties of a pod that are needed to prepare nodes.
type Marks uint8

const (
	// HasEnded: the pod has ended and no longer uses resources.
	HasEnded Marks = 1 << iota
	// IsDeleted: the pod is being deleted.
	IsDeleted
	// OfDaemonSet: a DaemonSet owns the pod.
	OfDaemonSet
	// IsStatic: the pod belongs to its node.
	IsStatic
	// HasClaims: the volumes of the pod depend on other objects.
	HasClaims
	// HasRunTime: the pod itself states how long it runs at most.
	HasRunTime
)

func marksOf(pod *corev1.Pod) Marks {
	var m Marks
	if Ended(pod) {
		m |= HasEnded
	}
	if pod.DeletionTimestamp != nil {
		m |= IsDeleted
	}
	if len(pod.OwnerReferences) > 0 {
		if _, ok := match.DaemonOwner(pod); ok {
			m |= OfDaemonSet
		}
		if static(pod) {
			m |= IsStatic
		}
	}
	if len(pod.Spec.Volumes) > 0 && UsesClaims(pod) {
		m |= HasClaims
	}
	if pod.Spec.ActiveDeadlineSeconds != nil {
		m |= HasRunTime
	}
	return m
}

// NodePods contains the marks of one node's pods, and the pods in the order of Compare.
type NodePods struct {
	Marks []Marks
	Order []int32
}

// ReadPods returns the NodePods of a single node.
func ReadPods(pods []*corev1.Pod) NodePods {
	out := NodePods{make([]Marks, len(pods)), make([]int32, 0, len(pods))}
	for i, pod := range pods {
		out.Marks[i] = marksOf(pod)
	}
	out.Order = InOrder(out.Order, pods)
	return out
}

// InOrder appends to to the indexes of the pods in the order of Compare.
func InOrder(to []int32, pods []*corev1.Pod) []int32 {
	from := len(to)
	for i := range pods {
		to = append(to, int32(i))
	}
	order := to[from:]
	earlier := func(a, b int32) int { return Compare(pods[a], pods[b]) }
	if !slices.IsSortedFunc(order, earlier) {
		slices.SortFunc(order, earlier)
	}
	return to
}
