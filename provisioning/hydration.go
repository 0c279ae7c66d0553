package provisioning

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// HydrateClaim returns the claim with what claims of earlier versions lack: the label of its node class, and the pool's hash if the
// claim's hash has another version. It is nil if nothing is missing. pool is the claim's, or nil.
//
// Hashes of different versions can't be compared, so such a claim gets the pool's current hash, as if it had been created from it.
// A claim that is known to have drifted keeps its hash, and so stays drifted.
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

// HydrateNode returns the registered node with the label of its claim's node class, or nil if it already has one.
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

// withClassLabel adds the label with the name of the claim's node class, unless it exists. Claims of v1alpha5 have none: the names
// of their node classes are not valid label values.
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
