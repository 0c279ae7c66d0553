package likeness

import (
	"hash/maphash"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Roster lists all pods of a snapshot while a model is compiled: first the pending pods, then the placeholders, then the pods of each node.
// Each pod is read only once. Tens of thousands of pods don't fit into a processor's caches, so reading each pod again would take longer
// than the computation. Properties that pods of one workload share are read from one of them.
type Roster struct {
	// waiting is the number of pending pods, which come first. unbound also counts the placeholders, which follow. nodes has the number of
	// pods of each node.
	waiting, unbound int
	nodes            []int

	Pods  []*corev1.Pod
	Marks []Marks
	// Order contains, for each node, the indices of its pods in the order of Compare.
	Order []int32
	// Like has, for each pod, the index of its pattern. Of the properties that planning reads, pods of one pattern differ only in age and
	// name.
	Like     []int32
	Patterns []Pattern
	// Claims is the number of pods marked with HasClaims, daemons the number of pods marked with OfDaemonSet.
	Claims, Daemons int

	// Apart reports whether a pod differs from all other pods because of other objects. It is nil if no pod differs.
	Apart func(pod *corev1.Pod) bool

	seed   maphash.Seed
	hashes []uint64
	slots  []int32 // numbered from 1; 0 means that the slot is free
	// namespace is the namespace of the pod that was added last, and namespaceHash is its hash. The next pod often has the same namespace.
	namespace     string
	namespaceHash uint64
	byText        map[string]int32
	// resources are numbered in the order in which they are found.
	resources *resources.Table
	present   []bool
	names     map[corev1.ResourceName]struct{}
	writer    Writer
	// owners means that rules depend on the controller of a pod.
	owners bool
}

// Pattern represents equal pods.
type Pattern struct {
	// First is the first of the pods by Compare.
	First *corev1.Pod
	// RuledAs is the pod whose topology rules the pods follow; nil means that it is First. If the planner binds the pods of a gang to a
	// domain, they follow the rules of the original pod.
	RuledAs *corev1.Pod
	// Refused says why an annotation of the pods makes planning them impossible. It is nil for most pods.
	Refused error
	// Rules is the position of the pods' rules in the index: see topology.Index.Remember.
	Rules       int32
	Placeholder bool
	// Class is the number of the pods' class, once it is known.
	Class int32
}

// Ruled returns the pod whose topology rules the pods follow.
func (p *Pattern) Ruled() *corev1.Pod {
	if p.RuledAs != nil {
		return p.RuledAs
	}
	return p.First
}

// ReadAs returns the pod from which the properties of a pod of the pattern are read. That is the pod itself, or First if the planner has
// restricted where its pods may run.
func (p *Pattern) ReadAs(pod *corev1.Pod) *corev1.Pod {
	if p.RuledAs != nil {
		return p.First
	}
	return pod
}

// NewRoster allocates a roster for the given numbers of pending pods, placeholders and pods of each node. byOwner means that rules depend
// on the controller of a pod.
func NewRoster(waiting, placeholders int, ofNodes []int, byOwner bool) *Roster {
	bound := 0
	for _, k := range ofNodes {
		bound += k
	}
	n, size := waiting+placeholders+bound, 8
	for size < 2*n {
		size *= 2
	}
	return &Roster{
		waiting: waiting, unbound: waiting + placeholders, nodes: ofNodes,
		Pods: make([]*corev1.Pod, 0, n), Order: make([]int32, 0, bound), Marks: make([]Marks, 0, n), Like: make([]int32, 0, n),
		seed: maphash.MakeSeed(), hashes: make([]uint64, 0, n), slots: make([]int32, size), byText: make(map[string]int32),
		resources: resources.NewTable(), names: make(map[corev1.ResourceName]struct{}),
		writer: Writer{}, owners: byOwner,
	}
}

// Add adds the pod to the list. It returns false if a pod with the same name is already listed.
func (r *Roster) Add(pod *corev1.Pod, placeholder bool) bool {
	if !r.enter(pod) {
		return false
	}
	marks := marksOf(pod)
	if marks&HasClaims != 0 {
		r.Claims++
	}
	if marks&OfDaemonSet != 0 {
		r.Daemons++
	}
	r.Pods, r.Marks = append(r.Pods, pod), append(r.Marks, marks)
	n := int32(len(r.Patterns))
	if marks&HasClaims == 0 && (r.Apart == nil || !r.Apart(pod)) { // if not, other objects that determine the pod's properties must be read first
		text := r.text(pod, placeholder)
		if known, ok := r.byText[string(text)]; ok {
			r.Like = append(r.Like, known)
			if p := &r.Patterns[known]; Compare(pod, p.First) < 0 {
				p.First = pod
			}
			return true
		}
		r.byText[string(text)] = n
	}
	r.Like = append(r.Like, n)
	r.Patterns = append(r.Patterns, Pattern{First: pod, Rules: topology.NoRules, Placeholder: placeholder})
	return true
}

// enter records the pod's name, and returns false if it is already recorded.
func (r *Roster) enter(pod *corev1.Pod) bool {
	if pod.Namespace != r.namespace || len(r.hashes) == 0 {
		r.namespace, r.namespaceHash = pod.Namespace, maphash.String(r.seed, pod.Namespace)*31
	}
	hash := r.namespaceHash + maphash.String(r.seed, pod.Name)
	mask := uint64(len(r.slots) - 1)
	at := hash & mask
	for ; r.slots[at] != 0; at = (at + 1) & mask {
		other := r.slots[at] - 1
		if r.hashes[other] == hash && r.Pods[other].Name == pod.Name && r.Pods[other].Namespace == pod.Namespace {
			return false
		}
	}
	r.hashes = append(r.hashes, hash)
	r.slots[at] = int32(len(r.hashes))
	return true
}

// These flags say which optional parts of a pod its text contains, so that different pods never have the same text by chance.
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

// text returns all properties of a pod without claims that planning reads, except its age and name. It is valid until the next call.
func (r *Roster) text(pod *corev1.Pod, placeholder bool) []byte {
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
	w.deviceClaims(spec)
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

// amounts adds the pod's requests to the text. A request of 0 is also added, because the pod names the resource.
func (r *Roster) amounts(pod *corev1.Pod) {
	w := &r.writer
	if !summed(pod) {
		clear(r.names)
		ResourceNames(pod, r.names)
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
		r.resources.Requests(total, w.Requests)
	} else {
		r.fit()
		for i := range pod.Spec.Containers {
			r.addAmounts(pod.Spec.Containers[i].Resources.Requests)
		}
	}
	for at, amount := range w.Requests {
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

// fit resets w.Requests and r.present, with one entry for each known resource.
func (r *Roster) fit() {
	n := r.resources.Len()
	w := &r.writer
	w.Requests = slices.Grow(w.Requests[:0], n)[:n]
	r.present = slices.Grow(r.present[:0], n)[:n]
	clear(w.Requests)
	clear(r.present)
}

func (r *Roster) addAmounts(list corev1.ResourceList) {
	w, left := &r.writer, len(list)
	if q, ok := list[corev1.ResourceCPU]; ok {
		w.Requests[resources.CPU] += resources.Up(corev1.ResourceCPU, q)
		r.present[resources.CPU] = true
		left--
	}
	if left == 0 {
		return
	}
	if q, ok := list[corev1.ResourceMemory]; ok {
		w.Requests[resources.Memory] += resources.Up(corev1.ResourceMemory, q)
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
		for at >= len(w.Requests) {
			w.Requests, r.present = append(w.Requests, 0), append(r.present, false)
		}
		w.Requests[at] += resources.Up(name, q)
		r.present[at] = true
	}
}

// Span is the part of the roster from index From up to, but not including, To.
type Span struct{ From, To int }

// OfNodes yields, for each node of the snapshot, the part of the roster that has its pods.
func (r *Roster) OfNodes(yield func(node int, pods Span) bool) {
	to := r.unbound
	for i, n := range r.nodes {
		from := to
		to += n
		if !yield(i, Span{from, to}) {
			return
		}
	}
}

// Claimants yields the pods with claims in the order that volumes.Objects requires: bound pods first, and no placeholders.
func (r *Roster) Claimants(yield func(pod *corev1.Pod, bound bool) bool) {
	if r.Claims == 0 {
		return
	}
	for i := r.unbound; i < len(r.Pods); i++ {
		if r.Marks[i]&HasClaims != 0 && !yield(r.Pods[i], true) {
			return
		}
	}
	for i := range r.waiting {
		if r.Marks[i]&HasClaims != 0 && !yield(r.Pods[i], false) {
			return
		}
	}
}
