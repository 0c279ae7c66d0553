package scheduling

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// inWords names a label, with a word before it, or the field that stands among labels.
func inWords(before, key string) string {
	if field, ok := strings.CutPrefix(key, "field:"); ok {
		return "field " + field
	}
	return before + key
}

// boundDaemon reports whether the pod is a DaemonSet's and bound. Such pods name their nodes in matchFields, each another;
// as they never move, they need not be told apart by that.
func boundDaemon(pod *corev1.Pod) bool {
	_, ok := daemonOwner(pod)
	return ok && pod.Spec.NodeName != ""
}

// errBoundDaemon is why a pod that its DaemonSet made for its node is not planned.
var errBoundDaemon = errors.New("its DaemonSet made it for the node that it is on")
