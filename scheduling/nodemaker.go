package scheduling

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// nodeMaker makes nodes ready for planning.
type nodeMaker struct {
	resources  *resources.Table
	volumes    *volumes.Index
	limits     *attachLimits
	daemonSets []daemonset.Set
	groups     *groups
	classes    []*podclass.Class
	// poolIndex numbers the pools.
	poolIndex map[v1.PoolKey]int
}

// node makes one node ready; classes are those of its pods. What it has free is written to free.
func (m *nodeMaker) node(n *nodeSource, view *nodeView, classes []int32, on likeness.NodePods, group int32, pods *podArena, free []int64) node {
	compiled := node{source: n, name: n.Name, pool: -1, initialized: view.initialized, capacity: view.capacity, usable: !n.Leaving, group: group}
	if at, ok := m.poolIndex[n.Pool]; ok {
		compiled.pool = int32(at)
	}
	m.resources.Capacity(view.allocatable, free)
	m.resources.AttachRoom(free, m.limits.of(n, view))
	if len(n.Pods) > 0 {
		compiled.bound, compiled.movable = take(&pods.bound, len(n.Pods)), take(&pods.movable, len(n.Pods))
		m.chargePods(n, classes, on, &compiled, free)
	}
	if slices.ContainsFunc(on.Marks, func(k likeness.Marks) bool { return k&likeness.HasClaims != 0 }) {
		m.giveBackShared(n.Pods, free)
	}
	m.chargeAttachments(n, free)
	m.reserveDaemons(n, group, free)
	for at := range free {
		if free[at] < 0 && compiled.over == nil {
			compiled.over = make([]int64, len(free))
		}
		if free[at] < 0 {
			compiled.over[at] = -free[at]
		}
		// kube-scheduler's NodeResourcesFit compares only what a pod asks for: what is overcommitted is as good as used up.
		free[at] = max(free[at], 0)
	}
	return compiled
}

// podArena hands out lists of pods from one piece of memory.
type podArena struct{ bound, movable []boundPod }

// newPodArena has room for so many pods: lists that need more have their own.
func newPodArena(pods int) *podArena {
	return &podArena{make([]boundPod, 0, pods), make([]boundPod, 0, pods)}
}

// take is an empty list with room for n pods.
func take(from *[]boundPod, n int) []boundPod {
	if cap(*from)-len(*from) < n {
		return make([]boundPod, 0, n)
	}
	at := len(*from)
	*from = (*from)[:at+n]
	return (*from)[at : at : at+n]
}

// chargePods takes the bound pods off the machine's free amounts and notes those that could move.
func (m *nodeMaker) chargePods(n *nodeSource, classes []int32, on likeness.NodePods, into *node, free []int64) {
	for i, is := range on.Marks {
		if is&likeness.HasEnded == 0 {
			resources.AddScaled(free, m.classes[classes[i]].Requests, -1)
			into.bound = append(into.bound, boundPod{classes[i], is&likeness.IsDeleted != 0, n.Pods[i]})
		}
	}
	for _, i := range on.Order {
		pod, is := n.Pods[i], on.Marks[i]
		switch {
		case is&likeness.HasEnded != 0:
			if awaited(pod) {
				into.movable = append(into.movable, boundPod{classes[i], true, pod})
			}
		case is&(likeness.OfDaemonSet|likeness.IsStatic) == 0:
			into.movable = append(into.movable, boundPod{classes[i], is&likeness.IsDeleted != 0, pod})
		}
	}
	if len(into.bound) == 0 {
		into.bound = nil
	}
	if len(into.movable) == 0 {
		into.movable = nil
	}
}

// awaited reports whether the pod, which has ended, is being deleted to make room for its successor: a StatefulSet makes that
// only then, and it needs a place.
func awaited(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "StatefulSet" && o.APIVersion == appsv1.SchemeGroupVersion.String()
	})
}

// reserveDaemons keeps room for the DaemonSet pods that belong on the machine but are not bound to it yet: for each
// DaemonSet what it wants beyond what its own pods there hold.
func (m *nodeMaker) reserveDaemons(n *nodeSource, group int32, free []int64) {
	if len(m.daemonSets) == 0 {
		return
	}
	held := make([]int64, len(free))
	for i := range m.daemonSets {
		d := &m.daemonSets[i]
		if !d.BelongsOn(m.groups.list[group].labels, m.groups.list[group].taints) {
			continue
		}
		clear(held)
		for _, pod := range n.Pods {
			if uid, ok := match.DaemonOwner(pod); ok && uid == d.Object.UID && !likeness.Ended(pod) {
				own := make([]int64, len(free))
				m.resources.Requests(resources.OfPod(pod), own)
				resources.AddScaled(held, own, 1)
			}
		}
		for r := range free {
			free[r] -= max(d.Requests[r]-held[r], 0)
		}
	}
}

// giveBackShared corrects a machine's room for volumes that several of its pods share: each counts once.
func (m *nodeMaker) giveBackShared(pods []*corev1.Pod, free []int64) {
	seen := map[volumes.ID]bool{}
	for _, pod := range pods {
		if len(pod.Spec.Volumes) == 0 || likeness.Ended(pod) {
			continue
		}
		for _, c := range m.volumes.Attached(pod) {
			if c.Handle != "" && seen[c.ID] {
				if at, ok := m.resources.At(resources.Attachable(c.Driver)); ok {
					free[at]++
				}
			}
			seen[c.ID] = true
		}
	}
}

// chargeAttachments takes the volumes off the machine's room that are attached to it although none of its pods uses them:
// of pods that have gone, until they are detached. A pod that brings such a volume back counts it again, as in
// kube-scheduler.
func (m *nodeMaker) chargeAttachments(n *nodeSource, free []int64) {
	for driver, count := range m.volumes.Unused(n.Name, n.Pods) {
		if at, ok := m.resources.At(resources.Attachable(driver)); ok {
			free[at] -= count
		}
	}
}
