package podclass

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Class is a group of pods that no scheduler could distinguish.
type Class struct {
	// Sample is one of the pods. Properties that all pods share are read from it.
	Sample   *corev1.Pod
	Requests []int64
	// Shape is the index of the class's shape, which contains the demands of the pods without their requests.
	Shape int32
	// Invalid says why the pods can't be planned. It is nil if the pods can be planned.
	Invalid error
	// Pending are the class's pending pods in the order of likeness.Compare, as indexes in the list of all pending pods.
	Pending []int32
	// Shared are volumes that other pods also use.
	Shared []SharedVolume
	// Topology contains the topology groups of the class. It is nil for most classes.
	Topology *topology.Groups
	// Nominated is the node for which the pods are nominated, or "". Never means that the pods don't preempt other pods.
	Nominated string
	Never     bool
	// Priority is the pods' priority. Pods of higher priority get scarce resources first.
	Priority int32
	// Placeholder marks pods of capacity buffers.
	Placeholder bool
	// Stages are the ways to give pods of the class a new node, best first. It is empty if no pool has a suitable node.
	Stages []int32
	// Costs is indexed like Stages. It is set only for classes with preferences. It has an estimate of the cost of one pod at each stage,
	// in nano-USD per hour.
	Costs []float64
}

// SharedVolume is a volume that several pods use. It has the resource of the volume's driver, and the number of the volume.
type SharedVolume struct {
	Dim int
	ID  volumes.ID
}

// Unshared returns the amounts that a pod of the class always takes on a node: its requests without volumes that it may share.
func (c *Class) Unshared() []int64 {
	if len(c.Shared) == 0 {
		return c.Requests
	}
	out := slices.Clone(c.Requests)
	for _, v := range c.Shared {
		out[v.Dim]--
	}
	return out
}

// PlainCost returns the lowest cost of a pod of the class if none of its preferences were kept.
func (c *Class) PlainCost() float64 {
	return slices.Min(c.Costs)
}

// SortPending sorts the class's pending pods, because the order of the input must not determine which of them get scarce resources.
func (c *Class) SortPending(pods []*corev1.Pod) {
	earlier := func(a, b int32) int { return likeness.Compare(pods[a], pods[b]) }
	if !slices.IsSortedFunc(c.Pending, earlier) {
		slices.SortFunc(c.Pending, earlier)
	}
}
