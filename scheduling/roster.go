package scheduling

import (
	"hash/maphash"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// roster lists all pods of a snapshot while a model is compiled: the waiting ones, placeholders, then those of each node.
// Every pod is read once to make it. Tens of thousands of pods don't fit into a processor's caches, so that coming back
// to each of them costs more than what is then done with it; what is the same for pods of one workload is asked of one of
// them.
type roster struct {
	pods  []*corev1.Pod
	marks []podMarks
	// order has, for each node, the places of its pods in the order of comparePods, as its pods follow each other.
	order []int32
	// like is each pod's place in patterns: those of one pattern differ in nothing that planning reads but age and name.
	like     []int32
	patterns []pattern
	// claims counts pods marked with hasClaims, daemons those with ofDaemonSet.
	claims, daemons int

	seed   maphash.Seed
	hashes []uint64
	slots  []int32 // from 1 on; 0 is free
	byText map[string]int32
	// resources are numbered as they are come upon.
	resources *resources.Table
	present   []bool
	names     map[corev1.ResourceName]struct{}
	writer    keyWriter
	// owners tells that rules depend on who controls the pod.
	owners bool
}

// pattern stands for pods that are alike.
type pattern struct {
	// first of them, by comparePods.
	first *corev1.Pod
	// rules is where those of the pods stand: see topology.Index.Remember.
	rules       int32
	placeholder bool
	// class is the number of the pods' class once there is one.
	class int32
}

// podMarks are facts of one pod that making nodes ready asks for.
type podMarks uint8

const (
	hasEnded podMarks = 1 << iota
	isDeleted
	ofDaemonSet
	isStatic
	// hasClaims: other pods or objects have a say in its volumes.
	hasClaims
)

func marksOf(pod *corev1.Pod) podMarks {
	var m podMarks
	if terminal(pod) {
		m |= hasEnded
	}
	if pod.DeletionTimestamp != nil {
		m |= isDeleted
	}
	if len(pod.OwnerReferences) > 0 {
		if _, ok := match.DaemonOwner(pod); ok {
			m |= ofDaemonSet
		}
		if staticPod(pod) {
			m |= isStatic
		}
	}
	if len(pod.Spec.Volumes) > 0 && usesClaims(pod) {
		m |= hasClaims
	}
	return m
}

// nodePods is what the roster knows of one node's pods: their marks, and the pods by their places in the order of comparePods.
type nodePods struct {
	marks []podMarks
	order []int32
}

// readPods makes it for a node alone.
func readPods(pods []*corev1.Pod) nodePods {
	out := nodePods{make([]podMarks, len(pods)), make([]int32, 0, len(pods))}
	for i, pod := range pods {
		out.marks[i] = marksOf(pod)
	}
	out.order = inOrder(out.order, pods)
	return out
}

// inOrder appends the places of the pods in the order of comparePods.
func inOrder(to []int32, pods []*corev1.Pod) []int32 {
	from := len(to)
	for i := range pods {
		to = append(to, int32(i))
	}
	order := to[from:]
	earlier := func(a, b int32) int { return comparePods(pods[a], pods[b]) }
	if !slices.IsSortedFunc(order, earlier) {
		slices.SortFunc(order, earlier)
	}
	return to
}

func newRoster(s *Snapshot) *roster {
	n := countPods(s)
	size := 8
	for size < 2*n {
		size *= 2
	}
	return &roster{
		pods: make([]*corev1.Pod, 0, n), order: make([]int32, 0, n-len(s.Pods)-len(s.Placeholders)), marks: make([]podMarks, 0, n), like: make([]int32, 0, n),
		seed: maphash.MakeSeed(), hashes: make([]uint64, 0, n), slots: make([]int32, size), byText: make(map[string]int32),
		resources: resources.NewTable(), names: make(map[corev1.ResourceName]struct{}),
		writer: keyWriter{}, owners: len(s.DefaultTopologySpread) > 0,
	}
}

// add lists the pod. It reports false if one of that name is listed.
func (r *roster) add(pod *corev1.Pod, placeholder bool) bool {
	if !r.enter(pod) {
		return false
	}
	marks := marksOf(pod)
	if marks&hasClaims != 0 {
		r.claims++
	}
	if marks&ofDaemonSet != 0 {
		r.daemons++
	}
	r.pods, r.marks = append(r.pods, pod), append(r.marks, marks)
	n := int32(len(r.patterns))
	if marks&hasClaims == 0 { // else what is in other objects has to be looked at first
		text := r.text(pod, placeholder)
		if known, ok := r.byText[string(text)]; ok {
			r.like = append(r.like, known)
			if p := &r.patterns[known]; comparePods(pod, p.first) < 0 {
				p.first = pod
			}
			return true
		}
		r.byText[string(text)] = n
	}
	r.like = append(r.like, n)
	r.patterns = append(r.patterns, pattern{first: pod, rules: topology.NoRules, placeholder: placeholder})
	return true
}

// enter notes the pod's name.
func (r *roster) enter(pod *corev1.Pod) bool {
	hash := maphash.String(r.seed, pod.Namespace)*31 + maphash.String(r.seed, pod.Name)
	mask := uint64(len(r.slots) - 1)
	at := hash & mask
	for ; r.slots[at] != 0; at = (at + 1) & mask {
		other := r.slots[at] - 1
		if r.hashes[other] == hash && podKey(r.pods[other]) == podKey(pod) {
			return false
		}
	}
	r.hashes = append(r.hashes, hash)
	r.slots[at] = int32(len(r.hashes))
	return true
}

// What of the optional parts of a pod its text has, so that no two texts are the same by chance.
const (
	textPlaceholder = 1 << iota
	textOS
	textDaemon
	textSpreads
	textPodAffinity
	textHostPorts
	textSummed
	textOwner
)

// text writes all that planning reads of a pod without claims, its age and its name aside. It is valid until the next call.
func (r *roster) text(pod *corev1.Pod, placeholder bool) []byte {
	w, spec := &r.writer, &pod.Spec
	has := 0
	note := func(is bool, what int) {
		if is {
			has |= what
		}
	}
	ports, owner := topology.HasHostPorts(spec), (*metav1.OwnerReference)(nil)
	if r.owners {
		owner = metav1.GetControllerOf(pod)
	}
	affinity := spec.Affinity != nil && (spec.Affinity.PodAffinity != nil || spec.Affinity.PodAntiAffinity != nil)
	note(placeholder, textPlaceholder)
	note(spec.OS != nil, textOS)
	note(match.BoundDaemon(pod), textDaemon)
	note(len(spec.TopologySpreadConstraints) > 0, textSpreads)
	note(affinity, textPodAffinity)
	note(ports, textHostPorts)
	note(summed(pod), textSummed)
	note(owner != nil, textOwner)
	w.Buf = w.Buf[:0]
	w.Number(int64(has))
	w.Text(pod.Namespace)
	w.Labels(pod.Labels)
	r.amounts(pod)
	w.placement(pod)
	w.standing(pod)
	if len(spec.TopologySpreadConstraints) > 0 {
		w.Number(int64(len(spec.TopologySpreadConstraints)))
		for i := range spec.TopologySpreadConstraints {
			w.Spread(&spec.TopologySpreadConstraints[i], pod.Labels)
		}
	}
	if affinity {
		w.PodAffinity(spec.Affinity, pod.Labels)
	}
	if ports {
		list := topology.HostPorts(spec)
		w.Number(int64(len(list)))
		for _, p := range list {
			w.Text(string(p.Protocol))
			w.Number(int64(p.Port))
			w.Text(p.IP)
		}
	}
	if owner != nil {
		w.Text(owner.Kind)
		w.Text(owner.Name)
	}
	return w.Buf
}

// amounts writes what the pod requests, and of which resources: also one of which it wants 0 is one that it names.
func (r *roster) amounts(pod *corev1.Pod) {
	w := &r.writer
	if !summed(pod) {
		clear(r.names)
		resourceNames(pod, r.names)
		for name := range r.names {
			r.resources.Intern(name)
		}
		total := resources.OfPod(pod)
		for name := range total {
			r.resources.Intern(name)
		}
		r.fit()
		for name := range r.names {
			at, _ := r.resources.At(name)
			r.present[at] = true
		}
		r.resources.Requests(total, w.requests)
	} else {
		r.fit()
		for i := range pod.Spec.Containers {
			r.addAmounts(pod.Spec.Containers[i].Resources.Requests)
		}
	}
	for at, amount := range w.requests {
		switch {
		case r.present[at]:
			w.Number(int64(2*at + 1))
			w.Number(amount)
		case amount != 0:
			w.Number(int64(2*at + 2))
			w.Number(amount)
		}
	}
	w.Number(0)
}

// fit makes an empty vector with room for all resources that are known.
func (r *roster) fit() {
	n := r.resources.Len()
	w := &r.writer
	w.requests = slices.Grow(w.requests[:0], n)[:n]
	r.present = slices.Grow(r.present[:0], n)[:n]
	clear(w.requests)
	clear(r.present)
}

func (r *roster) addAmounts(list corev1.ResourceList) {
	w, left := &r.writer, len(list)
	if q, ok := list[corev1.ResourceCPU]; ok {
		w.requests[resources.CPU] += resources.Up(corev1.ResourceCPU, q)
		r.present[resources.CPU] = true
		left--
	}
	if left == 0 {
		return
	}
	if q, ok := list[corev1.ResourceMemory]; ok {
		w.requests[resources.Memory] += resources.Up(corev1.ResourceMemory, q)
		r.present[resources.Memory] = true
		left--
	}
	if left == 0 {
		return
	}
	for name, q := range list {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			continue
		}
		at := r.resources.Intern(name)
		for at >= len(w.requests) {
			w.requests, r.present = append(w.requests, 0), append(r.present, false)
		}
		w.requests[at] += resources.Up(name, q)
		r.present[at] = true
	}
}

// span is a part of the roster, without to.
type span struct{ from, to int }

// ofNodes yields where in the roster the pods of each of the snapshot's nodes are.
func (r *roster) ofNodes(s *Snapshot) func(yield func(node int, pods span) bool) {
	return func(yield func(node int, pods span) bool) {
		to := len(s.Pods) + len(s.Placeholders)
		for i := range s.Nodes {
			from := to
			to += len(s.Nodes[i].Pods)
			if !yield(i, span{from, to}) {
				return
			}
		}
	}
}

// claimants yields the pods with claims as volumesOf wants them: bound ones first, no placeholders.
func (r *roster) claimants(s *Snapshot) func(yield func(pod *corev1.Pod, bound bool) bool) {
	waiting := len(s.Pods) + len(s.Placeholders)
	return func(yield func(pod *corev1.Pod, bound bool) bool) {
		if r.claims == 0 {
			return
		}
		for i := waiting; i < len(r.pods); i++ {
			if r.marks[i]&hasClaims != 0 && !yield(r.pods[i], true) {
				return
			}
		}
		for i := range s.Pods {
			if r.marks[i]&hasClaims != 0 && !yield(r.pods[i], false) {
				return
			}
		}
	}
}
