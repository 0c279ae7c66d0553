package scheduling

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// keyWriter spells out what a scheduler looks at in a pod, so that pods that no scheduler could tell apart have equal
// text and become one class. It keeps its buffers between pods: classing a pod allocates nothing once they have grown.
type keyWriter struct {
	resources *resources.Table
	volumes   *volumes.Index
	requests  []int64
	buf       []byte
	pairs     []pair
	// The shape is the part of the text from shapeAt to shapeEnd: before it stand the requests, after it what does not
	// bear on which machines would do.
	shapeAt, shapeEnd int
	// daemon tells that the pod is one of boundDaemon.
	daemon bool
	// From stakeAt to stakeEnd stand the topology groups: see Model.classText.
	stakeAt, stakeEnd int
}

// write returns the pod's class text; it is valid until the next call, as is w.requests.
func (w *keyWriter) write(pod *corev1.Pod) []byte {
	w.buf = w.buf[:0]
	w.sumRequests(pod)
	for _, v := range w.requests {
		w.number(v)
	}
	w.shapeAt = len(w.buf)
	w.placement(pod)
	if len(pod.Spec.Volumes) > 0 {
		w.buf = w.volumes.AppendText(pod, w.buf)
	}
	w.shapeEnd = len(w.buf)
	w.standing(pod)
	return w.buf
}

// placement writes which nodes the pod may go to, volumes aside.
func (w *keyWriter) placement(pod *corev1.Pod) {
	spec := &pod.Spec
	w.labels(spec.NodeSelector)
	if spec.OS != nil {
		w.text(string(spec.OS.Name))
	}
	w.daemon = boundDaemon(pod)
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		w.number(1)
		w.nodeAffinity(spec.Affinity.NodeAffinity)
	} else {
		w.number(0)
	}
	w.tolerations(spec.Tolerations)
}

// standing writes what does not bear on which nodes would do.
func (w *keyWriter) standing(pod *corev1.Pod) {
	spec := &pod.Spec
	if claimsDevices(spec) {
		w.text("devices")
	}
	if spec.Priority != nil {
		w.number(int64(*spec.Priority))
	} else {
		w.number(0)
	}
	if to := nominatedTo(pod); to != "" {
		w.text("nominated")
		w.text(to)
	}
	if neverPreempts(spec) {
		w.text("never preempts")
	}
}

// writeTopology adds the pod's stake to the text of its class.
func (w *keyWriter) writeTopology(o *ownership) []byte {
	for _, list := range [2][]int32{o.owns, o.in} {
		w.number(int64(len(list)))
		for _, g := range list {
			w.number(int64(g))
		}
	}
	return w.buf
}

func (w *keyWriter) number(v int64) { w.buf = binary.AppendVarint(w.buf, v) }

func (w *keyWriter) text(s string) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *keyWriter) texts(list []string) {
	w.number(int64(len(list)))
	for _, s := range list {
		w.text(s)
	}
}

func (w *keyWriter) labels(labels map[string]string) {
	w.number(int64(len(labels)))
	if len(labels) == 0 {
		return
	}
	w.pairs = w.pairs[:0]
	for k, v := range labels { // few: each is put in its place at once
		w.pairs = append(w.pairs, pair{k, v})
		for i := len(w.pairs) - 1; i > 0 && w.pairs[i].key < w.pairs[i-1].key; i-- {
			w.pairs[i], w.pairs[i-1] = w.pairs[i-1], w.pairs[i]
		}
	}
	for i := range w.pairs {
		w.text(w.pairs[i].key)
		w.text(w.pairs[i].value)
	}
}

// pair is a label.
type pair struct{ key, value string }

func (w *keyWriter) nodeAffinity(a *corev1.NodeAffinity) {
	if a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		w.number(-1)
	} else {
		terms := a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		w.number(int64(len(terms)))
		for i := range terms {
			w.term(&terms[i])
		}
	}
	w.number(int64(len(a.PreferredDuringSchedulingIgnoredDuringExecution)))
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		p := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
		w.number(int64(p.Weight))
		w.term(&p.Preference)
	}
}

func (w *keyWriter) term(t *corev1.NodeSelectorTerm) {
	fields := t.MatchFields
	if w.daemon && len(fields) > 0 {
		w.text("its node")
		fields = nil
	}
	for _, list := range [2][]corev1.NodeSelectorRequirement{t.MatchExpressions, fields} {
		w.number(int64(len(list)))
		for i := range list {
			w.text(list[i].Key)
			w.text(string(list[i].Operator))
			w.texts(list[i].Values)
		}
	}
}

func (w *keyWriter) tolerations(list []corev1.Toleration) {
	w.number(int64(len(list)))
	for i := range list {
		t := &list[i]
		w.text(t.Key)
		w.text(string(t.Operator))
		w.text(t.Value)
		w.text(string(t.Effect))
	}
}

// sumRequests fills w.requests with resources.OfPod(pod). Most pods have containers alone, for which no list is built.
func (w *keyWriter) sumRequests(pod *corev1.Pod) {
	if !summed(pod) {
		w.resources.Requests(resources.OfPod(pod), w.requests)
		return
	}
	spec := &pod.Spec
	clear(w.requests)
	for i := range spec.Containers {
		w.resources.AddTo(w.requests, spec.Containers[i].Resources.Requests)
	}
	w.requests[resources.Pods] = 1
}

// summed reports whether what the pod requests is what its containers do together.
func summed(pod *corev1.Pod) bool {
	spec := &pod.Spec
	return len(spec.InitContainers) == 0 && spec.Resources == nil && len(spec.Overhead) == 0 && !anyResized(pod)
}

// claimsDevices reports whether the pod asks for devices through dynamic resource allocation.
func claimsDevices(spec *corev1.PodSpec) bool {
	claims := func(list []corev1.Container) bool {
		return slices.ContainsFunc(list, func(c corev1.Container) bool { return len(c.Resources.Claims) > 0 })
	}
	return len(spec.ResourceClaims) > 0 || claims(spec.Containers) || claims(spec.InitContainers)
}

func anyResized(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Resources != nil {
			return true
		}
	}
	return false
}

// resourceNames adds the names of everything the pod requests but processors and memory, which every model has.
func resourceNames(pod *corev1.Pod, into map[corev1.ResourceName]struct{}) {
	spec := &pod.Spec
	for i := range spec.Containers {
		noteNames(spec.Containers[i].Resources.Requests, into)
	}
	for i := range spec.InitContainers {
		noteNames(spec.InitContainers[i].Resources.Requests, into)
	}
	if spec.Resources != nil {
		noteNames(spec.Resources.Requests, into)
	}
	noteNames(spec.Overhead, into)
}

// noteNames adds the list's names. Most pods name processors and memory alone, and to ask a map for those is faster than to
// go through it.
func noteNames(list corev1.ResourceList, into map[corev1.ResourceName]struct{}) {
	others := len(list)
	if others == 0 {
		return
	}
	if _, ok := list[corev1.ResourceCPU]; ok {
		others--
	}
	if others > 0 {
		if _, ok := list[corev1.ResourceMemory]; ok {
			others--
		}
	}
	if others == 0 {
		return
	}
	for name := range list {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			into[name] = struct{}{}
		}
	}
}
