package podgroups

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// Pods of Kubernetes v1.35 have spec.workloadRef. Pods of later releases have spec.schedulingGroup instead. The Go libraries of these
// releases differ in the same way. A library without the field drops it when it decodes objects.

// Reader finds out to which groups pods belong. Make it with NewReader; it is safe for concurrent use.
type Reader struct {
	// inferred is true if pods with the labels of LeaderWorkerSets and JobSets also form groups.
	inferred bool
	// tiers has the node labels of Volcano's network tiers.
	tiers Tiers
	// group and workload are the indexes of spec.schedulingGroup and spec.workloadRef in corev1.PodSpec, or -1 if the API library lacks the
	// field.
	group, workload int
}

// NewReader makes a Reader. If inferred is true, the Reader also makes groups from the labels of LeaderWorkerSets and JobSets, although the
// pods of these objects may also run alone.
func NewReader(inferred bool) *Reader {
	r := &Reader{inferred: inferred, group: -1, workload: -1}
	spec := reflect.TypeFor[corev1.PodSpec]()
	if f, ok := spec.FieldByName("SchedulingGroup"); ok && f.Type.Kind() == reflect.Pointer {
		r.group = f.Index[0]
	}
	if f, ok := spec.FieldByName("WorkloadRef"); ok && f.Type.Kind() == reflect.Pointer {
		r.workload = f.Index[0]
	}
	return r
}

// WithTiers returns a Reader that knows the node labels of Volcano's network tiers.
func (r *Reader) WithTiers(tiers Tiers) *Reader {
	out := *r
	out.tiers = tiers
	return &out
}

// SchedulingGroup returns spec.schedulingGroup.podGroupName, or "" if the pod or the library does not have it.
func (r *Reader) SchedulingGroup(pod *corev1.Pod) string {
	return text(field(pod, r.group), "PodGroupName")
}

// WorkloadRef returns spec.workloadRef of a pod of Kubernetes v1.35: the name of its Workload, the pod group in that Workload, and the
// replica of the group. The name is empty if the pod or the library does not have the field.
func (r *Reader) WorkloadRef(pod *corev1.Pod) (workload, group, replica string) {
	ref := field(pod, r.workload)
	return text(ref, "Name"), text(ref, "PodGroup"), text(ref, "PodGroupReplicaKey")
}

// field returns the value of an optional field of the pod's spec. The parameter place is the index of the field, which is a pointer. The
// result is an invalid reflect.Value if the pointer is nil or place is negative.
func field(pod *corev1.Pod, place int) reflect.Value {
	if place < 0 {
		return reflect.Value{}
	}
	return reflect.ValueOf(&pod.Spec).Elem().Field(place).Elem()
}

// text returns the string in the field with this name, or the string that the field points to. It returns "" if the field is missing or
// nil.
func text(of reflect.Value, name string) string {
	if !of.IsValid() {
		return ""
	}
	v := of.FieldByName(name)
	if v.IsValid() && v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() || v.Kind() != reflect.String {
		return ""
	}
	return v.String()
}
