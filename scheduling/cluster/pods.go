package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/internal/podgroups"
	"github.com/drawknife/drawknife/scheduling/pods"
)

func (s *State) applyPod(pod *corev1.Pod, e *Event) {
	var old *corev1.Pod
	var known, news bool
	if e.Deleted {
		old, news = s.pods.remove(pod, &s.gone)
		known = news
	} else {
		old, known, news = s.pods.put(pod, e.Assumed, &s.gone)
	}
	if !news {
		return
	}
	if !known {
		old = nil
	}
	if e.Deleted {
		pod = nil
	}
	s.podEvents(old, pod, e.Time)
	was, is := placeOf(old), placeOf(pod)
	switch {
	case is.node != "" || is.waits:
		s.groups.setPod(keyOf(pod), s.groups.reader.Named(pod), false)
	case pod != nil && pod.Status.Phase == corev1.PodSucceeded:
		s.groups.setPod(keyOf(pod), podgroups.OfSucceeded(s.groups.reader.Named(pod)), true)
	default:
		s.groups.setPod(keyOf(e.Object), nil, false)
	}
	if was.node != "" && was.node != is.node {
		s.unbind(was.node, keyOf(old))
	}
	if is.node != "" {
		s.bind(is.node, pod)
	}
	switch {
	case is.waits:
		s.waiting.set(pod)
	case was.waits:
		s.waiting.remove(keyOf(old))
	}
}

// place is where a pod counts: on a Node, among the pending pods, or nowhere.
type place struct {
	node  string
	waits bool
}

func placeOf(pod *corev1.Pod) place {
	switch {
	case pod == nil:
		return place{}
	case pod.Spec.NodeName == "":
		return place{waits: pods.Provisionable(pod) || pods.Nominated(pod)}
	case pods.Terminal(pod):
		return place{}
	}
	return place{node: pod.Spec.NodeName}
}

func (s *State) bind(node string, pod *corev1.Pod) {
	on := s.onNode[node]
	if on == nil {
		on = make(map[types.NamespacedName]*corev1.Pod)
		s.onNode[node] = on
	}
	on[keyOf(pod)] = pod
	s.touchNode(node)
}

func (s *State) unbind(node string, key types.NamespacedName) {
	delete(s.onNode[node], key)
	if len(s.onNode[node]) == 0 {
		delete(s.onNode, node)
	}
	delete(s.displaced, key)
	s.touchNode(node)
}

// touchNode marks the entry of the Node for recomputation.
func (s *State) touchNode(name string) {
	if node := s.nodes.get(types.NamespacedName{Name: name}); node != nil {
		if key, ok := keyOfNode(node); ok {
			s.touch(key)
		}
	}
	s.sortOrphans(name)
}

// podEvents records on Nodes that a pod was bound, has ended or was asked to end. It ignores pods of DaemonSets. It also ignores pods that
// arrive before State is synced, because they belong to the initial state and are not events.
func (s *State) podEvents(old, pod *corev1.Pod, seen time.Time) {
	if seen.IsZero() || !s.barrier.open {
		return
	}
	was, is := boundNode(old), boundNode(pod)
	if was != "" && (was != is || !pods.Active(pod)) && pods.Active(old) && !pods.OwnedByDaemonSet(old) {
		s.notePodEvent(was, seen)
	}
	if is != "" && was != is && pods.Active(pod) && !pods.OwnedByDaemonSet(pod) {
		s.notePodEvent(is, seen)
	}
}

func boundNode(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.Spec.NodeName
}

func (s *State) notePodEvent(node string, seen time.Time) {
	if s.nodes.get(types.NamespacedName{Name: node}) == nil {
		return
	}
	if f := s.nodeFacts[node]; seen.After(f.lastPodEvent) {
		f.lastPodEvent = seen
		s.nodeFacts[node] = f
	}
}
