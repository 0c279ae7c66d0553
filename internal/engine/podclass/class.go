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
	// Sample is one of the pods; common properties are read from it.
	Sample   *corev1.Pod
	Requests []int64
	// Shape contains the demands without the requests.
	Shape int32
	// Invalid says why the pods can't be planned; empty if they can.
	Invalid error
	// Pending are the class's waiting pods, indices into the list of all that wait, in the order of likeness.Compare.
	Pending []int32
	// Shared are volumes that other pods use too.
	Shared []SharedVolume
	// Topology contains the topology groups of the class; nil for most classes.
	Topology *topology.Groups
	// Nominated is the node that the pods are nominated for; empty for none. never means that they don't preempt other pods.
	Nominated string
	Never     bool
	// Priority is the pods' priority: pods of higher priority get scarce resources first.
	Priority int32
	// Placeholder marks pods of capacity buffers.
	Placeholder bool
	// Stages are the ways to give the class a new node, best first; empty if no pool has one.
	Stages []int32
	// Costs is indexed like stages, for classes with preferences: an estimate of what one pod costs there, nano-USD.
	Costs []float64
}

// SharedVolume is a volume that pods of several places use: the resource of its driver, and which one it is.
type SharedVolume struct {
	Dim int
	ID  volumes.ID
}

// Unshared returns the amounts that a pod of the class takes on any node: its requests without volumes that it may share.
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

// PlainCost returns the least that a pod of the class could cost if none of its preferences were kept.
func (c *Class) PlainCost() float64 {
	return slices.Min(c.Costs)
}

// SortPending sorts the class's pending pods: which of them get scarce resources must not depend on the order of the input.
func (c *Class) SortPending(pods []*corev1.Pod) {
	earlier := func(a, b int32) int { return likeness.Compare(pods[a], pods[b]) }
	if !slices.IsSortedFunc(c.Pending, earlier) {
		slices.SortFunc(c.Pending, earlier)
	}
}
