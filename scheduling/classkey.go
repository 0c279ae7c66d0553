package scheduling

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// keyWriter spells out what a scheduler looks at in a pod, so that pods that no scheduler could tell apart have equal
// text and become one class. It keeps its buffers between pods: classing a pod allocates nothing once they have grown.
type keyWriter struct {
	resources *resourceTable
	volumes   *volumeIndex
	requests  []int64
	buf       []byte
	keys      []string
	// The shape is the part of the text from shapeAt to shapeEnd: before it stand the requests, after it what does not
	// bear on which machines would do.
	shapeAt, shapeEnd int
}

// write returns the pod's class text; it is valid until the next call, as is w.requests.
func (w *keyWriter) write(pod *corev1.Pod) []byte {
	w.buf = w.buf[:0]
	w.sumRequests(pod)
	for _, v := range w.requests {
		w.number(v)
	}
	w.shapeAt = len(w.buf)
	spec := &pod.Spec
	w.labels(spec.NodeSelector)
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		w.number(1)
		w.nodeAffinity(spec.Affinity.NodeAffinity)
	} else {
		w.number(0)
	}
	w.tolerations(spec.Tolerations)
	if len(spec.Volumes) > 0 {
		w.buf = w.volumes.text(pod, w.buf)
	}
	w.shapeEnd = len(w.buf)
	if claimsDevices(spec) {
		w.text("devices")
	}
	if spec.Priority != nil {
		w.number(int64(*spec.Priority))
	} else {
		w.number(0)
	}
	return w.buf
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
	w.keys = w.keys[:0]
	for k := range labels {
		w.keys = append(w.keys, k)
	}
	slices.Sort(w.keys)
	for _, k := range w.keys {
		w.text(k)
		w.text(labels[k])
	}
}

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
	for _, list := range [2][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
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

// sumRequests fills w.requests with PodRequests(pod). Most pods have containers alone, for which no list is built.
func (w *keyWriter) sumRequests(pod *corev1.Pod) {
	spec := &pod.Spec
	if len(spec.InitContainers) > 0 || spec.Resources != nil || len(spec.Overhead) > 0 || anyResized(pod) {
		w.resources.requestVector(PodRequests(pod), w.requests)
		return
	}
	clear(w.requests)
	for i := range spec.Containers {
		w.resources.addTo(w.requests, spec.Containers[i].Resources.Requests)
	}
	w.requests[dimPods] = 1
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

// resourceNames adds the names of everything the pod requests.
func resourceNames(pod *corev1.Pod, into map[corev1.ResourceName]struct{}) {
	note := func(list corev1.ResourceList) {
		if len(list) > len(into) || !onlyNames(list, into) {
			for name := range list {
				into[name] = struct{}{}
			}
		}
	}
	spec := &pod.Spec
	for i := range spec.Containers {
		note(spec.Containers[i].Resources.Requests)
	}
	for i := range spec.InitContainers {
		note(spec.InitContainers[i].Resources.Requests)
	}
	if spec.Resources != nil {
		note(spec.Resources.Requests)
	}
	note(spec.Overhead)
}

// onlyNames reports whether the list has no other names. Most pods name the same two or three resources, and to ask a map
// for those is faster than to go through it.
func onlyNames(list corev1.ResourceList, names map[corev1.ResourceName]struct{}) bool {
	known := 0
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if _, ok := list[name]; !ok {
			continue
		}
		if _, ok := names[name]; !ok {
			return false
		}
		known++
	}
	return known == len(list)
}
