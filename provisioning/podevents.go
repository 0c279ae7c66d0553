package provisioning

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// PodEventEvery is the minimum interval between updates of a claim's last pod event.
const PodEventEvery = 10 * time.Second

// IsPodEvent reports whether a change of a pod is a pod event of its node: the pod was bound, has ended, is being deleted or is
// gone. Pods of DaemonSets don't count. old is nil if the pod is new, pod is nil if it is gone.
func IsPodEvent(old, pod *corev1.Pod) bool {
	shown := pod
	if shown == nil {
		shown = old
	}
	if shown == nil || shown.Spec.NodeName == "" || pods.OwnedByDaemonSet(shown) {
		return false
	}
	if old == nil || pod == nil {
		return true
	}
	return old.Spec.NodeName == "" || pods.Terminal(old) != pods.Terminal(pod) || pods.Terminating(old) != pods.Terminating(pod)
}

// NotePodEvent returns the claim with the time of a pod event on its node, to the second, from which consolidateAfter counts; it
// may be called some time after the event. It returns nil if nothing must be stored, or not yet because a time was stored less than
// PodEventEvery ago; then again is how long to wait before calling it with the same event, 0 for never.
func NotePodEvent(claim *v1.NodeClaim, at, now time.Time) (changed *v1.NodeClaim, again time.Duration) {
	if claim == nil {
		return nil, 0
	}
	last := claim.Status.LastPodEventTime.Time
	at = at.Truncate(time.Second)
	if claim.DeletionTimestamp != nil || !at.After(last) {
		return nil, 0
	}
	if since := now.Sub(last); since < PodEventEvery {
		return nil, PodEventEvery - since
	}
	out := claim.DeepCopy()
	out.Status.LastPodEventTime = metav1.NewTime(at)
	return out, 0
}
