package buffers

import (
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Priority is the priority of every placeholder, the lowest possible.
const Priority int32 = math.MinInt32

// IsPlaceholder reports whether the pod is a placeholder of a buffer, and not a pod of the cluster.
func IsPlaceholder(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return pod.Annotations[v1beta1.PlaceholderAnnotationKey] == "true"
}

// BufferOf returns the namespace and name of the buffer that a placeholder belongs to; false for any other pod.
func BufferOf(pod *corev1.Pod) (types.NamespacedName, bool) {
	if pod == nil {
		return types.NamespacedName{}, false
	}
	if !IsPlaceholder(pod) {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{
		Namespace: pod.Annotations[v1beta1.BufferNamespaceAnnotationKey],
		Name:      pod.Annotations[v1beta1.BufferNameAnnotationKey],
	}, true
}

// newPrototype returns a pod from which the buffer's placeholders are copied. It has no name and no UID, and it shares no memory with the
// template.
func newPrototype(b *v1beta1.CapacityBuffer, template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := &corev1.Pod{Spec: *template.Spec.DeepCopy()}
	pod.Labels = maps.Clone(template.Labels)
	dropVolumes(&pod.Spec)
	pods.Default(&pod.Spec)
	mark(pod, b)
	return pod
}

// mark turns the pod into a pending placeholder. It removes scheduling gates, because the pod would not be pending with them, and the
// priority class, which would contradict the priority.
func mark(pod *corev1.Pod, b *v1beta1.CapacityBuffer) {
	priority := Priority
	pod.Namespace = b.Namespace
	pod.Annotations = map[string]string{
		v1beta1.PlaceholderAnnotationKey:     "true",
		v1beta1.BufferNameAnnotationKey:      b.Name,
		v1beta1.BufferNamespaceAnnotationKey: b.Namespace,
	}
	pod.Spec.NodeName = ""
	pod.Spec.SchedulingGates = nil
	pod.Spec.Priority, pod.Spec.PriorityClassName, pod.Spec.PreemptionPolicy = &priority, "", nil
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodPending,
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		}},
	}
}

// placeholders returns count copies of the prototype, numbered in their names and UIDs.
func placeholders(b *v1beta1.CapacityBuffer, prototype *corev1.Pod, count int) []*corev1.Pod {
	if count == 0 {
		return nil
	}
	name, uid := "capacity-buffer-"+b.Name+"-", string(b.UID)
	if uid == "" {
		// A buffer that was never stored in an API server has no UID. Its namespace and name are used instead, because they are as unique
		// and stable as a UID.
		uid = b.Namespace + "/" + b.Name
	}
	list, all := make([]corev1.Pod, count), make([]*corev1.Pod, count)
	for i := range list {
		list[i] = *prototype
		number := strconv.Itoa(i)
		list[i].ObjectMeta = metav1.ObjectMeta{
			Namespace: prototype.Namespace, Name: name + number, UID: types.UID(uid + "-" + number),
			Labels: prototype.Labels, Annotations: prototype.Annotations,
		}
		all[i] = &list[i]
	}
	return all
}

// dropVolumes removes volumes that are created from claims, and the mounts of these volumes. A placeholder never runs, so its claims don't
// exist and can't be bound.
func dropVolumes(spec *corev1.PodSpec) {
	dropped := make(map[string]bool)
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool {
		if v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			return false
		}
		dropped[v.Name] = true
		return true
	})
	if len(dropped) == 0 {
		return
	}
	for c := range pods.Containers(spec) {
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return dropped[m.Name] })
		c.VolumeDevices = slices.DeleteFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return dropped[d.Name] })
	}
}
