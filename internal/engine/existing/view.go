package existing

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Source is a node of the cluster, or one that is on its way: Object is nil until it has joined, Claim is nil when no NodeClaim
// made it.
type Source struct {
	Name    string
	Pool    v1.PoolKey
	Object  *corev1.Node
	Claim   *v1.NodeClaim
	Pods    []*corev1.Pod
	Leaving bool
}

// View is a node as planning sees it in its present phase.
type View struct {
	// name is the Node's; empty until it has joined.
	name                  string
	Labels                map[string]string
	taints                []corev1.Taint
	Capacity, allocatable corev1.ResourceList
	Initialized           bool
}

// ViewOf merges Node and NodeClaim: before registration the claim speaks, filled up by the node; after it the node,
// filled up by the claim until it is initialised.
func ViewOf(n *Source) View {
	v := phaseOf(n)
	if n.Object != nil {
		v.name = n.Name
	}
	return v
}

// phaseOf is ViewOf without the name.
func phaseOf(n *Source) View {
	switch {
	case n.Object == nil && n.Claim == nil:
		return View{}
	case n.Object == nil:
		return View{
			Labels:      claimLabels(n.Claim),
			taints:      match.SettledTaints(n.Claim.Spec.Taints, n.Claim.Spec.StartupTaints),
			Capacity:    n.Claim.Status.Capacity,
			allocatable: n.Claim.Status.Allocatable,
		}
	case n.Claim == nil:
		return View{Labels: n.Object.Labels, taints: cordoned(n.Object, n.Object.Spec.Taints), Capacity: n.Object.Status.Capacity,
			allocatable: n.Object.Status.Allocatable, Initialized: true}
	}
	v := View{
		Labels:      n.Object.Labels,
		taints:      n.Object.Spec.Taints,
		Capacity:    n.Object.Status.Capacity,
		allocatable: n.Object.Status.Allocatable,
		Initialized: n.Object.Labels[v1.NodeInitializedLabelKey] == "true",
	}
	if v.Initialized {
		v.taints = cordoned(n.Object, v.taints)
		v.Capacity = countedDevices(v.Capacity, n.Claim.Status.Capacity)
		return v
	}
	v.Capacity = filled(v.Capacity, n.Claim.Status.Capacity)
	v.allocatable = filled(v.allocatable, n.Claim.Status.Allocatable)
	if n.Object.Labels[v1.NodeRegisteredLabelKey] != "true" {
		v.Labels = claimLabels(n.Claim)
		v.taints = n.Claim.Spec.Taints
	}
	v.taints = cordoned(n.Object, match.SettledTaints(v.taints, n.Claim.Spec.StartupTaints))
	return v
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

// cordoned are the node's taints with the one that a cordon brings. kube-scheduler goes by spec.unschedulable, and the
// taint may be a moment behind.
func cordoned(object *corev1.Node, taints []corev1.Taint) []corev1.Taint {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if !object.Spec.Unschedulable || slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&cordon) }) {
		return taints
	}
	return append(slices.Clip(taints), cordon)
}

// claimLabels are a claim's labels with those its requirements pin to one value.
func claimLabels(claim *v1.NodeClaim) map[string]string {
	out := make(map[string]string, len(claim.Labels))
	for _, r := range claim.Spec.Requirements {
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			out[r.Key] = r.Values[0]
		}
	}
	for k, v := range claim.Labels {
		out[k] = v
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
