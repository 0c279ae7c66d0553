package scheduling

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// JoinNode joins a Node and the NodeClaim that it was created for; one of them may be nil. The result has the Node's name, or else the
// claim's name. Labels of the Node, or else of the claim, name its pool. It is leaving if Node or claim is being deleted, or if the claim's
// instance is being terminated. It has no pods yet.
func JoinNode(object *corev1.Node, claim *v1.NodeClaim) Node {
	n := Node{Object: object, Claim: claim}
	if claim != nil {
		n.Name, n.Pool = claim.Name, PoolOf(claim.Labels)
		n.Leaving = claim.DeletionTimestamp != nil || ending(claim)
	}
	if object != nil {
		n.Name = object.Name
		if pool := PoolOf(object.Labels); !pool.IsZero() {
			n.Pool = pool
		}
		n.Leaving = n.Leaving || object.DeletionTimestamp != nil
	}
	return n
}

// ending reports whether the claim's instance is being terminated.
func ending(claim *v1.NodeClaim) bool {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == v1.ConditionInstanceTerminating {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}

// PoolOf returns the pool that owns a node, by the labels of its Node or NodeClaim. It returns the zero value if no pool owns the node.
func PoolOf(labels map[string]string) v1.PoolKey { return v1.PoolOf(labels) }

// CompleteNode sets two fields that a Node object may lack: allocatable (to the capacity, which is the API's default) and the hostname
// label (to the name). A Node that has both is returned unchanged. Otherwise, the result is a copy that shares all other fields.
func CompleteNode(object *corev1.Node) *corev1.Node {
	if object == nil {
		return nil
	}
	_, labelled := object.Labels[corev1.LabelHostname]
	if labelled && (object.Status.Allocatable != nil || object.Status.Capacity == nil) {
		return object
	}
	complete := *object
	if complete.Status.Allocatable == nil {
		complete.Status.Allocatable = complete.Status.Capacity
	}
	if !labelled {
		complete.Labels = make(map[string]string, len(object.Labels)+1)
		maps.Copy(complete.Labels, object.Labels)
		complete.Labels[corev1.LabelHostname] = object.Name
	}
	return &complete
}

// PoolLabel returns the key of the label with the pool's name on nodes: karpenter.sh/provisioner-name for pools created as v1alpha5,
// karpenter.sh/nodepool for later generations.
func PoolLabel(pool v1.PoolKey) string { return pool.LabelKey() }
