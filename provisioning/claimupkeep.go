package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// consistencyEvery is how often a node is compared with its NodeClaim.
const consistencyEvery = 10 * time.Minute

// leastSharePercent is the percentage of each promised resource that a node must have.
const leastSharePercent = 90

// CheckConsistency checks that a claim's node has at least 90 % of the capacity that the provider promised, for each resource that
// the claim requests. It skips claims that are not initialized or are being deleted.
func CheckConsistency(claim *v1.NodeClaim, nodes []*corev1.Node, now time.Time) Step {
	if claim == nil {
		return Step{}
	}
	conditions := claim.DeepCopy().Conditions()
	if claim.DeletionTimestamp != nil || claim.Status.ProviderID == "" || !conditions.IsTrue(v1.ConditionInitialized) || len(nodes) != 1 {
		return Step{Again: consistencyEvery}
	}
	var missing []string
	requests := claim.Spec.Resources.Requests
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		asked, promised, has := requests[name], claim.Status.Capacity[name], nodes[0].Status.Capacity[name]
		if asked.IsZero() || promised.IsZero() {
			continue
		}
		// Numbers are compared as floating-point numbers, because milli-units of bytes could overflow.
		if has.AsApproximateFloat64()*100 < promised.AsApproximateFloat64()*leastSharePercent {
			missing = append(missing, fmt.Sprintf("expected %s of resource %s, but found %s (%.1f%% of expected)",
				promised.String(), name, has.String(), 100*has.AsApproximateFloat64()/promised.AsApproximateFloat64()))
		}
	}
	out := claim.DeepCopy()
	if len(missing) == 0 {
		out.Conditions().SetTrue(v1.ConditionConsistentStateFound, now)
		return changed(claim, out, consistencyEvery)
	}
	message := strings.Join(missing, "; ")
	out.Conditions().SetFalse(v1.ConditionConsistentStateFound, "ConsistencyCheckFailed", message, now)
	step := changed(claim, out, consistencyEvery)
	step.Events = []Event{claimEvent(claim, EventFailedConsistencyCheck, message)}
	return step
}

// HydrateClaim returns the claim with the parts that claims of earlier versions lack: the label of its node class, and the pool's hash if
// the claim's hash has another version. It returns nil if the claim lacks none of these. pool is the claim's NodePool, or nil.
//
// Hashes of different versions can't be compared, so such a claim gets the pool's current hash, as if it had been created from the current
// template. A claim that is known to have drifted keeps its hash, and so stays drifted.
func HydrateClaim(claim *v1.NodeClaim, pool *v1.NodePool) *v1.NodeClaim {
	if claim == nil {
		return nil
	}
	if claim.DeletionTimestamp != nil {
		return nil
	}
	out := claim.DeepCopy()
	out.Labels = withClassLabel(out.Labels, claim)
	if pool != nil && v1.PoolOf(claim.Labels) == pool.Key() && claim.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		out.Annotations = merged(out.Annotations, map[string]string{v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion})
		if !out.Conditions().IsTrue(v1.ConditionDrifted) {
			out.Annotations[v1.NodePoolHashAnnotationKey] = pool.Hash()
		}
	}
	if maps.Equal(claim.Labels, out.Labels) && maps.Equal(claim.Annotations, out.Annotations) {
		return nil
	}
	return out
}

// HydrateNode returns the registered node with the label of its claim's node class, or nil if the node already has this label.
func HydrateNode(node *corev1.Node, claim *v1.NodeClaim) *corev1.Node {
	if node == nil || claim == nil {
		return nil
	}
	if node.DeletionTimestamp != nil || node.Labels[v1.NodeRegisteredLabelKey] != "true" {
		return nil
	}
	out := node.DeepCopy()
	out.Labels = withClassLabel(out.Labels, claim)
	if maps.Equal(node.Labels, out.Labels) {
		return nil
	}
	return out
}

// withClassLabel returns labels, with the label that names the claim's node class added. Claims of v1alpha5 get no such label: the names of
// their node classes are not valid label values.
func withClassLabel(labels map[string]string, claim *v1.NodeClaim) map[string]string {
	ref := claim.Spec.NodeClassRef
	if ref.Kind == "" || ref.Name == "" || v1.GenerationOf(claim) == v1.GenerationV1Alpha5 {
		return labels
	}
	key := requirements.NodeClassLabelKey(ref.Group, ref.Kind)
	if _, ok := labels[key]; ok {
		return labels
	}
	return merged(labels, map[string]string{key: ref.Name})
}

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

// NotePodEvent returns the claim with the time of a pod event on its node, to the second; consolidateAfter counts from this time.
// NotePodEvent may be called some time after the event. It returns nil if nothing must be stored, or if a time was stored less than
// PodEventEvery ago. again is the time after which to call it again with the same event, or 0 for never.
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
