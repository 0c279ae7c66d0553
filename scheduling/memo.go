package scheduling

import (
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// memo is what Update keeps beside the model to find out what a change comes to: who is in each class, where, and what
// else depends on which pods there are. It is changed by each Update and belongs to the latest model alone.
type memo struct {
	// index reads rules, with a model of its own to note in what they ask about: the models that were handed out are in use.
	index   *topologyIndex
	classOf map[string]int32
	// members is indexed by class: its pods, waiting and bound, and DaemonSets that it stands for.
	members []int32
	// names counts the pods that request each resource, implicit those in namespaces that are not listed.
	names    map[corev1.ResourceName]int32
	implicit map[string]int32
	listed   map[string]bool
	keys     map[PodKey]struct{}
	// classes and daemons are indexed like Model.nodes: the classes of all pods of the machine, and those pods of it that
	// DaemonSets own.
	classes [][]int32
	daemons [][]*corev1.Pod
	// fixed are the resources that DaemonSets' templates name.
	fixed map[corev1.ResourceName]struct{}
	// promised tells that volumes have yet to be made that a machine was chosen for: whether it is there matters.
	promised bool
}

// memoOwner hands the memo to the first who asks: a second Update of the same model compiles anew.
type memoOwner struct{ atomic.Pointer[memo] }

// take is the memo, for one taker; nil for all others and for a model that has none.
func (o *memoOwner) take() *memo {
	if o == nil {
		return nil
	}
	return o.Swap(nil)
}

// keepMemo makes the memo of a model that was compiled whole. bound are the classes of its nodes' pods, in the
// snapshot's order.
func (m *Model) keepMemo(index *topologyIndex, classIndex map[string]int32, bound [][]int32) {
	s := m.snapshot
	k := &memo{
		index: index, classOf: classIndex, members: make([]int32, len(m.classes)),
		names: make(map[corev1.ResourceName]int32), implicit: make(map[string]int32), listed: make(map[string]bool, len(s.Namespaces)),
		keys:    make(map[PodKey]struct{}, len(m.pods)),
		classes: make([][]int32, len(m.nodes)), daemons: make([][]*corev1.Pod, len(m.nodes)),
		fixed: make(map[corev1.ResourceName]struct{}),
	}
	for _, ns := range s.Namespaces {
		k.listed[ns.Name] = true
	}
	for i := range m.daemonSets {
		k.members[m.daemonSets[i].class]++
		template := &m.daemonSets[i].set.Spec.Template.Spec
		resourceNames(&corev1.Pod{Spec: *template}, k.fixed)
		for c := range template.Containers {
			for name := range template.Containers[c].Resources.Limits {
				k.fixed[name] = struct{}{}
			}
		}
	}
	k.promised = slices.ContainsFunc(s.PersistentVolumeClaims, func(c *corev1.PersistentVolumeClaim) bool {
		return c.Spec.VolumeName == "" && c.Annotations[annSelectedNode] != ""
	})
	scratch := make(map[corev1.ResourceName]struct{})
	for i, pod := range m.pods {
		k.add(m, pod, m.podClass[i], scratch)
	}
	for i := range s.Nodes {
		at := m.nodeIndex[s.Nodes[i].Name]
		k.classes[at] = bound[i]
		k.daemons[at] = daemonPods(s.Nodes[i].Pods)
		for j, pod := range s.Nodes[i].Pods {
			k.add(m, pod, bound[i][j], scratch)
		}
	}
	// What reading rules asks about is noted in a copy: see usable.
	own := *m
	own.askedKeys = cloneKeys(m.askedKeys)
	own.topologyIndex = index
	own.snapshot, own.pods, own.podClass, own.nodes, own.nodeIndex, own.free, own.base = nil, nil, nil, nil, nil, nil, nil
	index.m, index.ofPods = &own, nil
	m.memo = &memoOwner{}
	m.memo.Store(k)
}

func cloneKeys(keys map[string]bool) map[string]bool {
	out := make(map[string]bool, len(keys))
	for key := range keys {
		out[key] = true
	}
	return out
}

func daemonPods(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if _, ok := daemonOwner(pod); ok {
			out = append(out, pod)
		}
	}
	return out
}

func podKey(pod *corev1.Pod) PodKey { return PodKey{pod.Namespace, pod.Name} }

// add counts a pod. It reports false if a pod of that name is there.
func (k *memo) add(m *Model, pod *corev1.Pod, class int32, scratch map[corev1.ResourceName]struct{}) bool {
	if _, twice := k.keys[podKey(pod)]; twice {
		return false
	}
	k.keys[podKey(pod)] = struct{}{}
	k.members[class]++
	k.count(m, pod, 1, scratch)
	return true
}

func (k *memo) remove(m *Model, pod *corev1.Pod, class int32, scratch map[corev1.ResourceName]struct{}) {
	delete(k.keys, podKey(pod))
	k.members[class]--
	k.count(m, pod, -1, scratch)
}

func (k *memo) count(m *Model, pod *corev1.Pod, n int32, scratch map[corev1.ResourceName]struct{}) {
	clear(scratch)
	resourceNames(pod, scratch)
	m.attachNames(pod, scratch)
	for name := range scratch {
		k.names[name] += n
	}
	if !k.listed[pod.Namespace] {
		k.implicit[pod.Namespace] += n
	}
}

// representatives is what the function of that name finds.
func (k *memo) representatives() map[types.UID]*corev1.Pod {
	nodes := make([]Node, len(k.daemons))
	for i := range k.daemons {
		nodes[i].Pods = k.daemons[i]
	}
	return representatives(nodes)
}
