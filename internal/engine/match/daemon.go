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

// BoundDaemon reports whether the pod is a DaemonSet's and bound. Such pods name their nodes in matchFields, each pod a different node;
// they never move, so this difference does not matter.
func BoundDaemon(pod *corev1.Pod) bool {
	_, ok := DaemonOwner(pod)
	return ok && pod.Spec.NodeName != ""
}

// ErrBoundDaemon is why a pod that its DaemonSet made for its node is not planned.
var ErrBoundDaemon = errors.New("its DaemonSet created it for one node, and it is bound to that node")
