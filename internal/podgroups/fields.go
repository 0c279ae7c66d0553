package podgroups

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// The pods of Kubernetes v1.35 have spec.workloadRef, those of later releases spec.schedulingGroup instead, and so have the API
// libraries. A library that lacks a field drops it from what it decodes.

// Reader reads which groups pods name. Make it with NewReader; it is safe for concurrent use.
type Reader struct {
	// inferred says that labels of LeaderWorkerSets and JobSets count.
	inferred bool
	// group and workload are the places of the fields in a pod's spec; -1 if the API library has none.
	group, workload int
}

// NewReader makes a Reader. Labels of LeaderWorkerSets and JobSets, whose pods may also run alone, are read only if inferred says so.
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

// SchedulingGroup is spec.schedulingGroup.podGroupName; empty if the pod, or the library, has none.
func (r *Reader) SchedulingGroup(pod *corev1.Pod) string {
	return text(field(pod, r.group), "PodGroupName")
}

// WorkloadRef is what a pod of Kubernetes v1.35 says of its Workload: its name, the pod group in it, and the replica of that. The
// name is empty if the pod, or the library, has none.
func (r *Reader) WorkloadRef(pod *corev1.Pod) (workload, group, replica string) {
	ref := field(pod, r.workload)
	return text(ref, "Name"), text(ref, "PodGroup"), text(ref, "PodGroupReplicaKey")
}

// field is what a pointer of the pod's spec points to; invalid for one that is nil or not there.
func field(pod *corev1.Pod, place int) reflect.Value {
	if place < 0 {
		return reflect.Value{}
	}
	return reflect.ValueOf(&pod.Spec).Elem().Field(place).Elem()
}

// text is a string, or what a pointer to one points to; empty if there is none.
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
