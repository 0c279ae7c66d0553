package requests

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	apiv1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// namePrefix is the beginning of the names of all pods that represent pods of a request.
const namePrefix = "provisioning-request-"

// demand is a ProvisioningRequest, with the pods for which it requests room.
type demand struct {
	// given is the request as the caller passed it. answer is the copy whose status is changed.
	given, answer *v1.ProvisioningRequest
	// moulds has, for each PodSet, a pod without a name from which the PodSet's pods are copied. It is nil if the pods can't be made.
	moulds []*corev1.Pod
	// prefix is the beginning of the names of the request's pods.
	prefix string
	// bound and waiting are the pods that use the request, with and without a node, by PodSet. surplus are waiting pods that no PodSet
	// needs.
	bound, waiting [][]consumer
	surplus        []consumer
	// pods is the total number of pods that use the request.
	pods int
	// booked says on which nodes room is booked for the request.
	booked places
}

func (d *demand) class() string { return d.answer.Spec.ProvisioningClassName }

// String is "ProvisioningRequest namespace/name".
func (d *demand) String() string {
	return v1.KindProvisioningRequest + " " + d.given.Namespace + "/" + d.given.Name
}

// count returns the total number of pods in the PodSets of the request.
func (d *demand) count() int {
	n := 0
	for _, set := range d.given.Spec.PodSets {
		n += int(set.Count)
	}
	return n
}

// want returns how many pods of the PodSet have no node yet.
func (d *demand) want(set int) int {
	return max(int(d.given.Spec.PodSets[set].Count)-len(d.bound[set]), 0)
}

// resolver creates the pods of requests.
type resolver struct {
	in        *Input
	templates map[types.NamespacedName]*corev1.PodTemplate
	// taken are the names of the snapshot's pods that begin with namePrefix, by namespace.
	taken map[string][]string
}

func newResolver(in *Input) *resolver {
	r := &resolver{in: in, templates: make(map[types.NamespacedName]*corev1.PodTemplate, len(in.PodTemplates)), taken: map[string][]string{}}
	for _, t := range in.PodTemplates {
		if t != nil {
			r.templates[types.NamespacedName{Namespace: t.Namespace, Name: t.Name}] = t
		}
	}
	note := func(list []*corev1.Pod) {
		for _, pod := range list {
			if pod != nil && strings.HasPrefix(pod.Name, namePrefix) {
				r.taken[pod.Namespace] = append(r.taken[pod.Namespace], pod.Name)
			}
		}
	}
	note(in.Snapshot.Pods)
	note(in.Snapshot.Placeholders)
	for i := range in.Snapshot.Nodes {
		note(in.Snapshot.Nodes[i].Pods)
	}
	return r
}

// missing returns the first PodTemplate that the request refers to and that does not exist, or "" if all of its PodTemplates exist.
func (r *resolver) missing(request *v1.ProvisioningRequest) string {
	for _, set := range request.Spec.PodSets {
		if r.templates[types.NamespacedName{Namespace: request.Namespace, Name: set.PodTemplateRef.Name}] == nil {
			return set.PodTemplateRef.Name
		}
	}
	return ""
}

// fill makes the demand's moulds, from which its pods are copied. The PodTemplates of the request must exist.
func (r *resolver) fill(d *demand) {
	d.prefix = namePrefix + d.given.Name
	for slices.ContainsFunc(r.taken[d.given.Namespace], func(name string) bool { return strings.HasPrefix(name, d.prefix+"-") }) {
		d.prefix += "-x"
	}
	for _, set := range d.given.Spec.PodSets {
		t := r.templates[types.NamespacedName{Namespace: d.given.Namespace, Name: set.PodTemplateRef.Name}]
		pod := &corev1.Pod{Spec: *t.Template.Spec.DeepCopy()}
		pod.Namespace, pod.Labels, pod.Annotations = d.given.Namespace, maps.Clone(t.Template.Labels), maps.Clone(t.Template.Annotations)
		d.adopt(pod)
		pods.Default(&pod.Spec)
		if r.in.Admit != nil {
			r.in.Admit(pod)
			d.adopt(pod)
		}
		d.moulds = append(d.moulds, pod)
	}
}

// adopt turns the pod into a pending pod of the request. Claims of ephemeral volumes don't exist before their pods.
func (d *demand) adopt(pod *corev1.Pod) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[v1.ConsumeAnnotationKey], pod.Annotations[v1.ClassAnnotationKey] = d.given.Name, d.given.Spec.ProvisioningClassName
	pod.Spec.NodeName, pod.Spec.SchedulingGates = "", nil
	ephemeral := map[string]bool{}
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		ephemeral[v.Name] = v.Ephemeral != nil
		return v.Ephemeral != nil
	})
	for c := range pods.Containers(&pod.Spec) {
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return ephemeral[m.Name] })
		c.VolumeDevices = slices.DeleteFunc(c.VolumeDevices, func(v corev1.VolumeDevice) bool { return ephemeral[v.Name] })
	}
}

// setName returns the prefix of the names of a PodSet's pods.
func (d *demand) setName(set int) string { return d.prefix + "-" + strconv.Itoa(set) }

// pod returns the pod with the given number in the PodSet with index set.
func (d *demand) pod(set, number int) *corev1.Pod {
	pod := *d.moulds[set]
	uid := string(d.given.UID)
	if uid == "" {
		uid = d.given.Namespace + "/" + d.given.Name
	}
	name := fmt.Sprintf("%s-%d", d.setName(set), number)
	pod.ObjectMeta = metav1.ObjectMeta{
		Namespace: d.given.Namespace, Name: name, Labels: pod.Labels, Annotations: pod.Annotations,
		UID: types.UID(fmt.Sprintf("%s-%d-%d", uid, set, number)),
	}
	return &pod
}

// heldPod returns the pod with the given number, bound to the node. The pod has the highest priority and is protected from disruption, so
// that no plan uses its room for other pods or removes it from the node.
func (d *demand) heldPod(set, number int, node string) *corev1.Pod {
	pod := d.pod(set, number)
	pod.Annotations = maps.Clone(pod.Annotations)
	pod.Annotations[apiv1.DoNotDisruptAnnotationKey] = "true"
	priority := int32(math.MaxInt32)
	pod.Spec.NodeName, pod.Spec.Priority, pod.Spec.PriorityClassName = node, &priority, ""
	pod.Status.Phase = corev1.PodPending
	return pod
}

// gang returns the request as a gang. If the parameter only is negative, the members of the gang are the pods of all PodSets. If not, they
// are the pods of the PodSet with this index. Waiting pods that already use the request are members, unless they are in another gang.
func (d *demand) gang(only int, inGang map[scheduling.PodKey]bool) (scheduling.Gang, bool) {
	g := scheduling.Gang{Namespace: d.given.Namespace, Name: d.prefix, Source: d.String()}
	if only >= 0 {
		g.Name = d.setName(only)
	}
	for set := range d.moulds {
		if only >= 0 && set != only {
			continue
		}
		n := d.want(set)
		if d.class() != v1.ClassCheckCapacity {
			for _, c := range d.waiting[set] {
				if n--; !inGang[c.key()] {
					g.Members = append(g.Members, c.key())
				}
			}
		}
		if n > 0 {
			mould := d.moulds[set]
			g.Templates = append(g.Templates, scheduling.GangTemplate{Name: d.setName(set), Count: n, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: mould.Labels, Annotations: mould.Annotations}, Spec: mould.Spec,
			}})
		}
	}
	return g, len(g.Members)+len(g.Templates) > 0
}
