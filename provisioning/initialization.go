package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// initialize sets the claim's condition Initialized. As long as the node does not meet a requirement of the claim, the condition names this
// requirement.
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

// obstacle returns what prevents the initialization of the claim's node, or an empty reason if nothing does.
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

// reasonDevicesMissing is the reason of the condition Initialized while drivers have not published all planned devices of the node.
// Karpenter uses the same name.
const reasonDevicesMissing = "DRADriverPoolsNotPublished"

// driverPatience is how long drivers may take to publish devices after a node was registered. After this time, an event names the drivers
// that have not published their devices. Until a driver publishes its devices, plans use the devices of the instance type.
const driverPatience = 10 * time.Minute

// missingDevices checks the drivers of the claim's planned devices. The message names the drivers that have not published all devices of
// the node. The reason is empty if no device is missing.
func missingDevices(s ClaimState, node *corev1.Node) (reason, message string) {
	if s.Slices == nil {
		return "", ""
	}
	var missing []string
	for _, driver := range v1.RequestedDRADrivers(s.Claim) {
		if !published(s.Slices, driver, node.Name) {
			missing = append(missing, driver)
		}
	}
	if len(missing) == 0 {
		return "", ""
	}
	return reasonDevicesMissing, fmt.Sprintf("pods were planned for devices of %s, and there are not all ResourceSlices of that driver for node %s: does the driver run there?",
		strings.Join(missing, " and "), node.Name)
}

// published reports whether the list has a pool of the driver for the node, with all slices of each such pool.
func published(list []*resourcev1.ResourceSlice, driver, node string) bool {
	type progress struct{ generation, want, have int64 }
	pools := map[string]progress{}
	for _, slice := range list {
		spec := &slice.Spec
		if spec.Driver != driver || spec.NodeName == nil || *spec.NodeName != node {
			continue
		}
		p := pools[spec.Pool.Name]
		switch {
		case p.have == 0 || spec.Pool.Generation > p.generation:
			p = progress{spec.Pool.Generation, spec.Pool.ResourceSliceCount, 1}
		case spec.Pool.Generation == p.generation:
			p.have++
		}
		pools[spec.Pool.Name] = p
	}
	for _, p := range pools {
		if p.have < p.want {
			return false
		}
	}
	return len(pools) > 0
}

// noteDrivers adds EventDriverMissing to the step if driverPatience has passed since the registration. It also shortens step.Again, so that
// the next step comes when the event must be sent for the first time or sent again.
func noteDrivers(step Step, claim *v1.NodeClaim, message string, now time.Time) Step {
	since := registeredSince(claim)
	if left := since.Add(driverPatience).Sub(now); left > 0 {
		step.Again = untilDue(step.Again, left)
		return step
	}
	step.Again = untilDue(step.Again, driverPatience)
	step.Events = append(step.Events, Event{
		Kind: v1.KindNodeClaim, Name: claim.Name, UID: claim.UID, Warning: true, Reason: EventDriverMissing,
		Message: fmt.Sprintf("%s Registered for %s.", message, now.Sub(since).Round(time.Minute)), Every: every(driverPatience),
	})
	return step
}

// registeredSince returns when the claim's node was registered, or when the claim was created if this is unknown.
func registeredSince(claim *v1.NodeClaim) time.Time {
	i := slices.IndexFunc(claim.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1.ConditionRegistered })
	if i < 0 {
		return claim.CreationTimestamp.Time
	}
	return claim.Status.Conditions[i].LastTransitionTime.Time
}
