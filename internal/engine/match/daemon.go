package match

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DaemonOwner returns the UID of the DaemonSet that owns the pod.
func DaemonOwner(pod *corev1.Pod) (types.UID, bool) {
	for i := range pod.OwnerReferences {
		o := &pod.OwnerReferences[i]
		if o.Kind == "DaemonSet" && o.APIVersion == "apps/v1" {
			return o.UID, true
		}
	}
	return "", false
}

// BoundDaemon reports whether the pod belongs to a DaemonSet and is bound to a node. Each such pod names its own node in matchFields, so
// the pods of a DaemonSet have different requirements. This difference does not matter, because these pods never move.
func BoundDaemon(pod *corev1.Pod) bool {
	_, ok := DaemonOwner(pod)
	return ok && pod.Spec.NodeName != ""
}

// ErrBoundDaemon is the reason why a pod that its DaemonSet created for one node is not planned.
var ErrBoundDaemon = errors.New("its DaemonSet created it for one node, and it is bound to that node")
