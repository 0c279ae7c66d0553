package planning

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Node is one the cluster has, or one that is on its way: Object is nil until it has joined, Claim is nil when
// no NodeClaim made it. At least one is set.
type Node struct {
	// Name is unique in the snapshot: the Node's name, else the NodeClaim's.
	Name string `json:"name"`
	// Pool is the pool that owns it, or the zero key.
	Pool v1.PoolKey `json:"pool,omitzero"`
	// Object is the Kubernetes node.
	Object *corev1.Node `json:"object,omitempty"`
	// Claim is the NodeClaim it was made for.
	Claim *v1.NodeClaim `json:"claim,omitempty"`
	// Pods are bound here and hold its resources, DaemonSet pods among them. Pods that have finished may be listed; they count
	// for nothing.
	Pods []*corev1.Pod `json:"pods,omitempty"`
	// Leaving marks a node that is being removed: it takes no pods and no longer counts against its pool's limits, nor do
	// its pods for topology rules. Its Pods are left where they are: the plan has no place for them and says nothing of
	// them. Those that will need a new place are listed in Snapshot.Pods instead, without spec.nodeName (package pods
	// says which those are), or are set free by Trial.Hide.
	Leaving bool `json:"leaving,omitempty"`
}

// limitNodes is the name under which a NodePool limits how many nodes it may have.
const limitNodes corev1.ResourceName = "nodes"

// Capacity is what the node has in its present phase, with the one of "nodes" that each takes from the limits of its
// pool. The result is the caller's.
func (n *Node) Capacity() corev1.ResourceList {
	capacity, _ := n.Amounts()
	out := corev1.ResourceList{}
	for name, amount := range capacity {
		out[name] = amount.DeepCopy()
	}
	out[limitNodes] = *resource.NewQuantity(1, resource.DecimalSI)
	return out
}

// Amounts are what the node has and what of that pods may use, in its present phase: before registration the claim speaks, filled up
// by the node; after it the node, filled up by the claim until it is initialised. Neither is the caller's.
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

// countedDevices is a node's capacity with the counts of devices that its claim states: kubelets know none.
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

// filled is have with zero or missing entries taken from from.
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
