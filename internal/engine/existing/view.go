package existing

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// View is a node as planning sees it in the node's present phase.
type View struct {
	// name is the name of the Node. It is empty until the node has joined.
	name                  string
	Labels                map[string]string
	taints                []corev1.Taint
	Capacity, allocatable corev1.ResourceList
	Initialized           bool
}

// Allocatable returns the total amounts that pods can have on the node.
func (v *View) Allocatable() corev1.ResourceList { return v.allocatable }

// ViewOf merges the node's Node and NodeClaim. Before registration, data of the NodeClaim take precedence, and the Node's data complete
// them. After registration the Node's data take precedence; until the node is initialized, the NodeClaim's data complete them.
func ViewOf(n *planning.Node) View {
	v := phaseOf(n)
	v.Capacity, v.allocatable = n.Amounts()
	if n.Object != nil {
		v.name = n.Name
	}
	return v
}

// LabelsOf returns the labels of the node's view.
func LabelsOf(n *planning.Node) map[string]string { return phaseOf(n).Labels }

// phaseOf returns the same View as ViewOf, but without name and amounts.
func phaseOf(n *planning.Node) View {
	switch {
	case n.Object == nil && n.Claim == nil:
		return View{}
	case n.Object == nil:
		return View{Labels: claimLabels(n.Claim), taints: match.SettledTaints(n.Claim.Spec.Taints, n.Claim.Spec.StartupTaints)}
	case n.Claim == nil:
		return View{Labels: n.Object.Labels, taints: cordoned(n.Object, n.Object.Spec.Taints), Initialized: true}
	}
	v := View{Labels: n.Object.Labels, taints: n.Object.Spec.Taints, Initialized: n.Object.Labels[v1.NodeInitializedLabelKey] == "true"}
	if v.Initialized {
		v.taints = cordoned(n.Object, v.taints)
		return v
	}
	if n.Object.Labels[v1.NodeRegisteredLabelKey] != "true" {
		v.Labels = claimLabels(n.Claim)
		v.taints = n.Claim.Spec.Taints
	}
	v.taints = cordoned(n.Object, match.SettledTaints(v.taints, n.Claim.Spec.StartupTaints))
	return v
}

// cordoned returns taints, plus the taint for cordoned nodes if the node is cordoned. kube-scheduler uses spec.unschedulable, and the taint
// may be added later.
func cordoned(object *corev1.Node, taints []corev1.Taint) []corev1.Taint {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if !object.Spec.Unschedulable || slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&cordon) }) {
		return taints
	}
	return append(slices.Clip(taints), cordon)
}

// claimLabels returns the labels of a NodeClaim. The result includes the labels for which the NodeClaim's requirements allow only one
// value.
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
