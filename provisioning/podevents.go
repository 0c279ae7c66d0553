package provisioning

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// PodEventEvery is how often a claim's last pod event is stored at most (PRV-083).
const PodEventEvery = 10 * time.Second

// IsPodEvent reports whether what became of a pod is an event of the node it is bound to: it was bound, ended, is being
// deleted or is gone. Pods of DaemonSets come and go with their node and are none. old is nil for a pod that is new, pod
// nil for one that is gone.
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

// NotePodEvent is the claim with the time of a pod event on its node: what consolidateAfter counts from (PRV-083). It is nil
// if a time so close is stored already that this one need not be; again is then when to store it, 0 for never.
func NotePodEvent(claim *v1.NodeClaim, at time.Time) (changed *v1.NodeClaim, again time.Duration) {
	last := claim.Status.LastPodEventTime.Time
	if claim.DeletionTimestamp != nil || !at.After(last) {
		return nil, 0
	}
	if since := at.Sub(last); since < PodEventEvery {
		return nil, PodEventEvery - since
	}
	out := claim.DeepCopy()
	out.Status.LastPodEventTime = metav1.NewTime(at)
	return out, 0
}
