package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// class is a group of pods that no scheduler could tell apart.
type class struct {
	// sample is one of the pods: what they have in common is read from it.
	sample   *corev1.Pod
	requests []int64
	// shape is everything but the requests.
	shape int32
	// invalid is why the pods can't be planned at all.
	invalid error
	// pending are the class's waiting pods, indices into Model.pods, in the order of comparePods.
	pending []int32
	// shared are volumes that other pods use too.
	shared []sharedVolume
	// topology is the class's stake in topology rules; nil for most pods.
	topology *topology.Groups
	// nominated is the node that the pods are nominated for; empty for none. never tells that they don't preempt others.
	nominated string
	never     bool
	// priority of the pods: the higher, the sooner they get what is scarce.
	priority int32
	// placeholder marks pods of capacity buffers.
	placeholder bool
	// stages are the ways to give the class a new machine, best first; empty when no pool has one.
	stages []int32
	// costs is indexed like stages, for classes with preferences: an estimate of what one pod costs there, nano-USD.
	costs []float64
}

// sharedVolume is a volume that pods of several places use: the resource of its driver, and which one it is.
type sharedVolume struct {
	dim int
	id  volumes.ID
}

// unshared is what a pod of the class takes of any machine: its requests without volumes that others may have brought.
func (c *class) unshared() []int64 {
	if len(c.shared) == 0 {
		return c.requests
	}
	out := slices.Clone(c.requests)
	for _, v := range c.shared {
		out[v.dim]--
	}
	return out
}

// plainCost is the least a pod of the class could cost with no preference kept.
func (c *class) plainCost() float64 {
	return slices.Min(c.costs)
}

// sortPending puts the class's waiting pods, of all that wait, in an order of their own: which of them get what is scarce must not depend on
// how they were listed.
func (c *class) sortPending(pods []*corev1.Pod) {
	earlier := func(a, b int32) int { return likeness.Compare(pods[a], pods[b]) }
	if !slices.IsSortedFunc(c.pending, earlier) {
		slices.SortFunc(c.pending, earlier)
	}
}
