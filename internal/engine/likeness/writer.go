package likeness

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podtext"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Writer writes, as text, all properties of a pod that a scheduler reads. Pods that no scheduler could distinguish have equal texts and
// form one class. It keeps its buffers between pods: classifying a pod allocates nothing once the buffers have grown.
type Writer struct {
	podtext.Writer
	resources *resources.Table
	Volumes   *volumes.Index
	Requests  []int64
	// Pins returns selectors for the nodes where the pod must run because its claimed devices are already allocated. Pins is nil if no pod
	// has such devices.
	Pins func(pod *corev1.Pod) []*corev1.NodeSelector
	// Tolerated returns the tolerations that the pod has in common with the pods that must run on the same node. Tolerated is nil if no pod
	// claims devices.
	Tolerated func(pod *corev1.Pod) []corev1.Toleration
	// The shape is the part of the text from ShapeAt to ShapeEnd. The requests come before it; properties that do not affect the choice of
	// nodes come after it.
	ShapeAt, ShapeEnd int
	// The topology groups are the part from GroupsAt to GroupsEnd. They are added later: see WriteGroups.
	GroupsAt, GroupsEnd int
}

// NewWriter returns a writer that uses the numbers of the table for resources, and the volumes in vols.
func NewWriter(table *resources.Table, vols *volumes.Index) *Writer {
	return &Writer{resources: table, Volumes: vols, Requests: make([]int64, table.Len())}
}

// Write returns the text of the pod's class. The text and w.Requests are valid until the next call.
func (w *Writer) Write(pod *corev1.Pod) []byte {
	w.Buf = w.Buf[:0]
	w.sumRequests(pod)
	for _, v := range w.Requests {
		w.Number(v)
	}
	w.ShapeAt = len(w.Buf)
	w.placement(pod)
	if len(pod.Spec.Volumes) > 0 {
		w.Buf = w.Volumes.AppendText(pod, w.Buf)
	}
	if w.Pins != nil && len(pod.Spec.ResourceClaims) > 0 {
		for _, selector := range w.Pins(pod) {
			w.Text(selector.String())
		}
		w.Tolerations(w.Tolerated(pod))
	}
	w.ShapeEnd = len(w.Buf)
	w.standing(pod)
	return w.Buf
}

// placement writes which nodes the pod may run on, without regard to volumes.
func (w *Writer) placement(pod *corev1.Pod) {
	spec := &pod.Spec
	w.Labels(spec.NodeSelector)
	if spec.OS != nil {
		w.Text(string(spec.OS.Name))
	}
	w.Daemon = match.BoundDaemon(pod)
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		w.Number(1)
		w.NodeAffinity(spec.Affinity.NodeAffinity)
	} else {
		w.Number(0)
	}
	w.Tolerations(spec.Tolerations)
}

// standing writes the properties that do not affect the choice of nodes.
func (w *Writer) standing(pod *corev1.Pod) {
	spec := &pod.Spec
	if ClaimsDevices(spec) {
		w.Text("devices")
	}
	if spec.Priority != nil {
		w.Number(int64(*spec.Priority))
	} else {
		w.Number(0)
	}
	if to := NominatedTo(pod); to != "" {
		w.Text("nominated")
		w.Text(to)
	}
	if NeverPreempts(spec) {
		w.Text("never preempts")
	}
}

// deviceClaims writes the names of the objects that say which devices the pod claims. Pods with other names can still be in the same class,
// because the class depends on the content of the claims.
func (w *Writer) deviceClaims(spec *corev1.PodSpec) {
	for i := range spec.ResourceClaims {
		c := &spec.ResourceClaims[i]
		for _, name := range []*string{&c.Name, c.ResourceClaimName, c.ResourceClaimTemplateName} {
			if name == nil {
				w.Number(0)
				continue
			}
			w.Number(1)
			w.Text(*name)
		}
	}
}

// WriteDevices adds the devices that the pod's claims need to the text of its class.
func (w *Writer) WriteDevices(needs string) []byte {
	w.Text(needs)
	return w.Buf
}

// WriteGroups adds the pod's topology groups to the text of its class.
func (w *Writer) WriteGroups(o *topology.Groups) []byte {
	for _, list := range [2][]int32{o.Owns, o.In} {
		w.Number(int64(len(list)))
		for _, g := range list {
			w.Number(int64(g))
		}
	}
	return w.Buf
}

// sumRequests writes resources.OfPod(pod) to w.Requests. Most pods have only containers; no list is built for them.
func (w *Writer) sumRequests(pod *corev1.Pod) {
	if !summed(pod) {
		w.resources.Requests(resources.OfPod(pod), w.Requests)
		return
	}
	spec := &pod.Spec
	clear(w.Requests)
	for i := range spec.Containers {
		w.resources.AddTo(w.Requests, spec.Containers[i].Resources.Requests)
	}
	w.Requests[resources.Pods] = 1
}

// summed reports whether the pod's requests are the sum of its containers' requests.
func summed(pod *corev1.Pod) bool {
	spec := &pod.Spec
	return len(spec.InitContainers) == 0 && spec.Resources == nil && len(spec.Overhead) == 0 && !anyResized(pod)
}

// ClaimsDevices reports whether the pod asks for devices through dynamic resource allocation.
func ClaimsDevices(spec *corev1.PodSpec) bool {
	return len(spec.ResourceClaims) > 0 || anyClaims(spec.Containers) || anyClaims(spec.InitContainers)
}

// anyClaims reports whether a container claims devices. It reads the containers in place: they are large, and copying them for every pod
// would take longer than reading them.
func anyClaims(list []corev1.Container) bool {
	for i := range list {
		if len(list[i].Resources.Claims) > 0 {
			return true
		}
	}
	return false
}

func anyResized(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Resources != nil {
			return true
		}
	}
	return false
}

// ResourceNames adds to into the names of all resources that the pod requests, except cpu and memory, which every model has.
func ResourceNames(pod *corev1.Pod, into map[corev1.ResourceName]struct{}) {
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

// noteNames adds the names in the list to into, except CPU and memory, which every model has. Most pods request only CPU and memory.
// Looking these up in the map is faster than iterating over it.
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
