package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
)

// reasonGatesClosed is the reason of the condition Registered while a gate keeps the node unregistered.
const reasonGatesClosed = "RegistrationHookPending"

// gateRetry is the time after which a closed gate without a RetryAfter is checked again.
const gateRetry = 5 * time.Second

// register registers the claim's node, or records in the condition Registered what prevents it.
func (l *Lifecycle) register(s ClaimState, now time.Time) Step {
	claim := s.Claim.DeepCopy()
	wait := l.left(s.Claim, now)
	switch {
	case len(s.Nodes) == 0 && NodeLost(claim):
		return Step{Again: wait}
	case len(s.Nodes) == 0:
		claim.Conditions().SetUnknown(v1.ConditionRegistered, "NodeNotFound", "Node not registered with cluster", now)
		return changed(s.Claim, claim, wait)
	case len(s.Nodes) > 1:
		claim.Conditions().SetFalse(v1.ConditionRegistered, "MultipleNodesFound",
			"nodes "+strings.Join(namesOf(s.Nodes), ", ")+" have the provider ID "+claim.Status.ProviderID+": delete those that are not the instance's", now)
		return changed(s.Claim, claim, wait)
	}
	if step, waits := l.joining(s, now); waits {
		return step
	}
	observed := s.Nodes[0]
	var events []Event
	if !hasTaint(observed, v1.UnregisteredTaint()) && observed.Labels[v1.NodeRegisteredLabelKey] != "true" {
		events = append(events, claimEvent(claim, EventUnregisteredTaintMissing,
			fmt.Sprintf("node %s joined without the taint %s: pods may have been bound before it was labelled", observed.Name, v1.UnregisteredTaintKey)))
	}
	// The claim's labels and annotations are written to the node before the gates are checked, because gates may read them. They are
	// written again after the gates are open.
	node := synced(observed, claim)
	if s.HasGates && s.Gates == nil {
		step := Step{Events: events}
		if put := putNode(observed, node); put != nil {
			step.Effects = append(step.Effects, put)
		}
		step.Effects = append(step.Effects, AskGates{s.Claim.DeepCopy()})
		return step
	}
	if reason, again, closed := closedGates(s.Gates); closed {
		claim.Conditions().SetUnknown(v1.ConditionRegistered, reasonGatesClosed, reason, now)
		step := changed(s.Claim, claim, untilDue(again, wait))
		step.Events = events
		return step
	}
	node.Spec.Taints = slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool {
		unregistered := v1.UnregisteredTaint()
		return v1.SameTaint(&t, &unregistered)
	})
	node.Labels[v1.NodeRegisteredLabelKey] = "true"
	claim.Conditions().SetTrue(v1.ConditionRegistered, now)
	claim.Status.NodeName = node.Name
	step := Step{Events: events}
	// Write the node before the claim, because a registered claim must have a registered node.
	if put := putNode(observed, node); put != nil {
		step.Effects = append(step.Effects, put)
	}
	step.Effects = append(step.Effects, PutClaim{Claim: claim})
	return step
}

// synced returns the node with the claim's finalizer, owner, taints, labels and annotations. If the node and the claim have different
// values for a label or annotation, the claim's value is used. Taints are not copied if the node's label v1.NodeDoNotSyncTaintsLabelKey is
// "true".
func synced(observed *corev1.Node, claim *v1.NodeClaim) *corev1.Node {
	node := observed.DeepCopy()
	if !slices.Contains(node.Finalizers, v1.TerminationFinalizer) {
		node.Finalizers = append(node.Finalizers, v1.TerminationFinalizer)
	}
	owned := slices.ContainsFunc(node.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == claim.UID })
	if !owned {
		block := true
		owner := v1.GroupVersion().WithKind(v1.KindNodeClaim)
		if v1.GenerationOf(claim) == v1.GenerationV1Alpha5 { // a v1alpha5 claim is stored as a Machine, so the API has no NodeClaim with this name
			owner = v1alpha5.GroupVersion().WithKind(v1alpha5.KindMachine)
		}
		node.OwnerReferences = append(node.OwnerReferences, metav1.OwnerReference{
			APIVersion: owner.GroupVersion().String(), Kind: owner.Kind, Name: claim.Name, UID: claim.UID, BlockOwnerDeletion: &block,
		})
	}
	node.Labels = merged(node.Labels, claim.Labels)
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Annotations = merged(node.Annotations, claim.Annotations)
	delete(node.Annotations, v1.DisruptionCommandAnnotationKey) // the command can end although the node stays
	delete(node.Annotations, v1.LaunchGroupAnnotationKey)       // it concerns only the launch of the claim
	if node.Labels[v1.NodeDoNotSyncTaintsLabelKey] != "true" {
		node.Spec.Taints = v1.MergeTaints(v1.MergeTaints(node.Spec.Taints, claim.Spec.Taints), claim.Spec.StartupTaints)
	}
	return node
}

// putNode returns the effect that stores the node, or nil if the node is equal to observed.
func putNode(observed, node *corev1.Node) Effect {
	if equality.Semantic.DeepEqual(observed.ObjectMeta, node.ObjectMeta) && equality.Semantic.DeepEqual(observed.Spec, node.Spec) {
		return nil
	}
	return PutNode{node}
}

// closedGates returns the names of the closed gates as a reason, and the time after which the first of these gates must be checked again.
// The result closed is false if all gates are open.
func closedGates(gates map[string]GateAnswer) (reason string, again time.Duration, closed bool) {
	var waits []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		g := gates[name]
		switch {
		case g.Err != nil:
			waits = append(waits, fmt.Sprintf("%s (%s)", name, cut(g.Err.Error())))
		case g.Open:
			continue
		case g.Reason != "":
			waits = append(waits, fmt.Sprintf("%s (%s)", name, g.Reason))
		default:
			waits = append(waits, name)
		}
		after := g.RetryAfter
		if after <= 0 {
			after = gateRetry
		}
		again = untilDue(again, after)
	}
	return "waiting for " + strings.Join(waits, ", "), again, len(waits) > 0
}

func hasTaint(node *corev1.Node, taint corev1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return v1.SameTaint(&t, &taint) })
}

func namesOf(nodes []*corev1.Node) []string {
	names := make([]string, 0, len(nodes))
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names
}
