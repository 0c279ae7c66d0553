package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// initialize waits until the node is as ordered, and shows the obstacle on the claim.
func (l *Lifecycle) initialize(s ClaimState, now time.Time) Step {
	claim := s.Claim.DeepCopy()
	wait := l.left(s.Claim, now)
	reason, message := obstacle(s)
	if reason != "" {
		claim.Conditions().SetUnknown(v1.ConditionInitialized, reason, message, now)
		step := changed(s.Claim, claim, wait)
		if reason == reasonDevicesMissing {
			step = noteDrivers(step, s.Claim, message, now)
		}
		return step
	}
	observed := s.Nodes[0]
	node := observed.DeepCopy()
	node.Labels = merged(node.Labels, map[string]string{v1.NodeInitializedLabelKey: "true"})
	claim.Conditions().SetTrue(v1.ConditionInitialized, now)
	var step Step
	if put := putNode(observed, node); put != nil {
		step.Effects = append(step.Effects, put)
	}
	step.Effects = append(step.Effects, PutClaim{Claim: claim})
	return step
}

// obstacle returns what prevents initialization; empty if nothing does.
func obstacle(s ClaimState) (reason, message string) {
	if len(s.Nodes) != 1 {
		return "NodeNotFound", fmt.Sprintf("%d nodes have the provider ID %s", len(s.Nodes), s.Claim.Status.ProviderID)
	}
	node := s.Nodes[0]
	if status := nodeCondition(node, corev1.NodeReady); status != corev1.ConditionTrue {
		return "NodeNotReady", fmt.Sprintf("condition Ready of node %s is %q", node.Name, status)
	}
	for i := range s.Claim.Spec.StartupTaints {
		if taint := &s.Claim.Spec.StartupTaints[i]; hasTaint(node, *taint) {
			return "StartupTaintsExist", fmt.Sprintf("StartupTaint %s still exists", taintText(taint))
		}
	}
	for i := range node.Spec.Taints {
		if taint := &node.Spec.Taints[i]; v1.EphemeralTaint(taint) {
			return "KnownEphemeralTaintsExist", fmt.Sprintf("KnownEphemeralTaint %s still exists", taintText(taint))
		}
	}
	requests := s.Claim.Spec.Resources.Requests
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		asked, has := requests[name], node.Status.Allocatable[name]
		if !asked.IsZero() && has.IsZero() {
			return "ResourceNotRegistered", fmt.Sprintf("resource %q was requested but not registered by node %s", name, node.Name)
		}
	}
	return missingDevices(s, node)
}

func nodeCondition(node *corev1.Node, kind corev1.NodeConditionType) corev1.ConditionStatus {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == kind {
			return node.Status.Conditions[i].Status
		}
	}
	return corev1.ConditionUnknown
}

func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return fmt.Sprintf("%s:%s", t.Key, t.Effect)
	}
	return fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect)
}
