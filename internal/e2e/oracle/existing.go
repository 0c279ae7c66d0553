package oracle

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// addExisting adds a node of the snapshot with its pods, and with the DaemonSet pods that are still missing on it. If the node is being
// launched, it is added as it will be when it is ready.
func (s *stage) addExisting(n *scheduling.Node) error {
	node := settled(n)
	if err := s.judge.cluster.addNode(node); err != nil {
		return err
	}
	owners := map[string]bool{}
	for _, pod := range n.Pods {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, o := range pod.OwnerReferences {
			if o.Kind == "DaemonSet" {
				owners[pod.Namespace+"/"+o.Name] = true
			}
		}
		if err := s.judge.cluster.bind(asStored(pod), n.Name); err != nil {
			return err
		}
	}
	for _, pod := range daemonPods(s.snapshot.DaemonSets, node) {
		if owners[pod.Namespace+"/"+pod.OwnerReferences[0].Name] {
			continue
		}
		if err := s.judge.cluster.bind(pod, n.Name); err != nil {
			return err
		}
	}
	return nil
}

// settled returns the Node object as it will be after the node is initialized. If the node is initialized, or if drawknife does not manage
// it, the object is unchanged, except that a cordoned node gets the taint of a cordon. If the node is not ready yet, its startup taints and
// ephemeral taints are removed. Values that its kubelet has not reported yet are taken from the NodeClaim.
func settled(n *scheduling.Node) *corev1.Node {
	out := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
	if n.Object != nil {
		out = n.Object.DeepCopy()
		out.Name = n.Name
	}
	defer func() { out.Spec.Taints = cordoned(out) }()
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	if _, ok := out.Labels[corev1.LabelHostname]; !ok {
		out.Labels[corev1.LabelHostname] = n.Name
	}
	if n.Claim == nil || out.Labels[v1.NodeInitializedLabelKey] == "true" {
		return out
	}
	if out.Labels[v1.NodeRegisteredLabelKey] != "true" {
		for _, r := range n.Claim.Spec.Requirements {
			if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
				out.Labels[r.Key] = r.Values[0]
			}
		}
		maps.Copy(out.Labels, n.Claim.Labels)
		out.Spec.Taints = n.Claim.Spec.Taints
	}
	out.Spec.Taints = lasting(out.Spec.Taints, n.Claim.Spec.StartupTaints)
	out.Status.Capacity = filled(out.Status.Capacity, n.Claim.Status.Capacity)
	out.Status.Allocatable = filled(out.Status.Allocatable, n.Claim.Status.Allocatable)
	return out
}

// cordoned returns the node's taints, plus the taint that kube-controller-manager adds after a cordon.
func cordoned(node *corev1.Node) []corev1.Taint {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if !node.Spec.Unschedulable || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&cordon) }) {
		return node.Spec.Taints
	}
	return append(slices.Clip(node.Spec.Taints), cordon)
}

// lasting returns the taints without startup taints and without the taints of a node that is not ready yet.
func lasting(taints, startup []corev1.Taint) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range taints {
		gone := strings.HasPrefix(t.Key, "readiness.k8s.io/")
		switch t.Key {
		case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized", v1.UnregisteredTaintKey:
			gone = true
		}
		for i := range startup {
			gone = gone || t.MatchTaint(&startup[i])
		}
		if !gone {
			out = append(out, t)
		}
	}
	return out
}

// filled returns the amounts in its first argument, with missing and zero amounts replaced by those in its second argument.
func filled(have, claimed corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	maps.Copy(out, claimed)
	for name, quantity := range have {
		if !quantity.IsZero() {
			out[name] = quantity
		}
	}
	return out
}
