package spotlimits

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Workload names the pods that are counted together.
type Workload struct {
	Namespace string
	// Kind and Name of the controller. For a pod without a controller, they are "Pod" and the pod's name; for pods with the annotation
	// drawknife.dev/workload, they are "Workload" and the value of the annotation.
	Kind, Name string
	// UID of the controller; empty without a controller.
	UID types.UID
}

// String is "Kind namespace/name".
func (w Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

// Compare orders workloads by namespace, kind, name and UID.
func (w Workload) Compare(o Workload) int {
	return cmp.Or(cmp.Compare(w.Namespace, o.Namespace), cmp.Compare(w.Kind, o.Kind), cmp.Compare(w.Name, o.Name), cmp.Compare(w.UID, o.UID))
}

// WorkloadOf returns the pod's workload. The annotation drawknife.dev/workload names it, or else the pod's controller does. A pod with
// neither is a separate workload. A nil pod has the zero Workload.
func WorkloadOf(pod *corev1.Pod) Workload {
	if pod == nil {
		return Workload{}
	}
	if name := pod.Annotations[v1.WorkloadAnnotationKey]; name != "" {
		return Workload{Namespace: pod.Namespace, Kind: "Workload", Name: name}
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return Workload{Namespace: pod.Namespace, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}
	}
	return Workload{Namespace: pod.Namespace, Kind: "Pod", Name: pod.Name}
}
