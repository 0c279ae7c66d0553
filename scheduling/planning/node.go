package planning

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Node is a node of the cluster, or a node that is being launched. Object is nil until it has joined, and Claim is nil if it has no
// NodeClaim. At least one of both is set.
type Node struct {
	// Name is unique in the snapshot: the Node's name, or the NodeClaim's name if there is no Node.
	Name string `json:"name"`
	// Pool is the pool that owns the node, or the zero key.
	Pool v1.PoolKey `json:"pool,omitzero"`
	// Object is the Kubernetes node.
	Object *corev1.Node `json:"object,omitempty"`
	// Claim is the node's NodeClaim, or nil.
	Claim *v1.NodeClaim `json:"claim,omitempty"`
	// Pods are bound to this node and use its resources. They include DaemonSet pods. Pods that have finished may be listed; they are
	// ignored.
	Pods []*corev1.Pod `json:"pods,omitempty"`
	// Leaving marks a node that is being removed: it takes no pods, it no longer counts against its pool's limits, and topology rules
	// ignore its pods. Its Pods stay where they are: the plan does not mention them. Pods that must move to other nodes are listed in
	// Snapshot.Pods instead, without spec.nodeName (package pods selects them), or Trial.Hide makes them pending.
	Leaving bool `json:"leaving,omitempty"`
}

// limitNodes is the resource name with which a NodePool limits its number of nodes.
const limitNodes corev1.ResourceName = "nodes"

// Capacity returns the node's capacity in its present phase, and adds one unit of the resource "nodes", which counts against the limits
// of its pool. The caller owns the result.
func (n *Node) Capacity() corev1.ResourceList {
	capacity, _ := n.Amounts()
	out := corev1.ResourceList{}
	for name, amount := range capacity {
		out[name] = amount.DeepCopy()
	}
	out[limitNodes] = *resource.NewQuantity(1, resource.DecimalSI)
	return out
}

// Amounts returns the node's capacity and allocatable. They are the claim's amounts until the Node exists, and then the Node's amounts.
// Until the node is initialised, zero or missing amounts of the Node are replaced by the claim's amounts. Callers must not change them.
func (n *Node) Amounts() (capacity, allocatable corev1.ResourceList) {
	switch {
	case n.Object == nil && n.Claim == nil:
		return nil, nil
	case n.Object == nil:
		return n.Claim.Status.Capacity, n.Claim.Status.Allocatable
	case n.Claim == nil:
		return n.Object.Status.Capacity, n.Object.Status.Allocatable
	case n.Object.Labels[v1.NodeInitializedLabelKey] == "true":
		return countedDevices(n.Object.Status.Capacity, n.Claim.Status.Capacity), n.Object.Status.Allocatable
	}
	return filled(n.Object.Status.Capacity, n.Claim.Status.Capacity), filled(n.Object.Status.Allocatable, n.Claim.Status.Allocatable)
}

// countedDevices returns a node's capacity with the device counts of its claim, because kubelets do not report these devices.
func countedDevices(capacity, stated corev1.ResourceList) corev1.ResourceList {
	out := capacity
	for name, amount := range stated {
		if !cloudprovider.IsDeviceCount(name) {
			continue
		}
		if len(out) == len(capacity) {
			out = maps.Clone(capacity)
		}
		if out == nil {
			out = corev1.ResourceList{}
		}
		out[name] = amount
	}
	return out
}

// filled returns a copy of the resource list have. Entries that are zero or missing in it come from the list from.
func filled(have, from corev1.ResourceList) corev1.ResourceList {
	out := have.DeepCopy()
	if out == nil {
		out = corev1.ResourceList{}
	}
	for name, q := range from {
		if h, ok := out[name]; !ok || h.IsZero() {
			out[name] = q
		}
	}
	return out
}
