package decision

import v1 "github.com/drawknife/drawknife/api/v1"

// Reason says why a node is disrupted. The first three reasons are voluntary: their commands respect budgets and eligibility, and launch
// replacements first. The other reasons are forced: the node is removed at a fixed time, without regard to budgets and pods.
type Reason string

// The reasons.
const (
	// ReasonEmpty: no pod would have to move.
	ReasonEmpty Reason = "Empty"
	// ReasonUnderutilized: the node's pods cost less on other nodes.
	ReasonUnderutilized Reason = "Underutilized"
	// ReasonDrifted: the node no longer matches its pool or node class.
	ReasonDrifted Reason = "Drifted"
	// ReasonExpired: the node has reached its maximum age.
	ReasonExpired Reason = "Expired"
	// ReasonInterrupted: the provider stops or reclaims the node's instance.
	ReasonInterrupted Reason = "Interrupted"
	// ReasonUnhealthy: a condition of the node says that it is broken.
	ReasonUnhealthy Reason = "Unhealthy"
)

// Forced reports whether disruption for the reason ignores budgets and eligibility, and does not wait for replacements.
func (r Reason) Forced() bool {
	switch r {
	case ReasonExpired, ReasonInterrupted, ReasonUnhealthy:
		return true
	}
	return false
}

// Budgeted returns the name of the reason in the budgets of NodePools. ok is false for forced reasons, because these budgets don't limit
// them.
func (r Reason) Budgeted() (reason v1.DisruptionReason, ok bool) {
	switch r {
	case ReasonEmpty:
		return v1.DisruptionReasonEmpty, true
	case ReasonUnderutilized:
		return v1.DisruptionReasonUnderutilized, true
	case ReasonDrifted:
		return v1.DisruptionReasonDrifted, true
	}
	return "", false
}

// Method is a strategy for finding commands.
type Method string

// The methods, in the order in which they are tried.
const (
	// MethodEmptiness removes nodes from which no pod must move.
	MethodEmptiness Method = "Emptiness"
	// MethodStaticDrift replaces drifted nodes of static pools, one by one.
	MethodStaticDrift Method = "StaticDrift"
	// MethodDrift replaces drifted nodes of the other pools.
	MethodDrift Method = "Drift"
	// MethodMultiNode removes several nodes and launches at most one.
	MethodMultiNode Method = "MultiNodeConsolidation"
	// MethodSingleNode removes one node and launches at most one.
	MethodSingleNode Method = "SingleNodeConsolidation"
)

// Methods returns all methods in the order in which they are tried. The caller owns the slice.
func Methods() []Method {
	return []Method{MethodEmptiness, MethodStaticDrift, MethodDrift, MethodMultiNode, MethodSingleNode}
}

// Reason returns the reason of the method's commands. Budgets for this reason limit the commands.
func (m Method) Reason() Reason {
	switch m {
	case MethodEmptiness:
		return ReasonEmpty
	case MethodStaticDrift, MethodDrift:
		return ReasonDrifted
	}
	return ReasonUnderutilized
}

// Class says which pods prevent the method from disrupting their node.
func (m Method) Class() Class {
	if m.Reason() == ReasonDrifted {
		return ClassEventual
	}
	return ClassGraceful
}

// ConsolidationType returns the method's name in metrics: empty, multi or single; "" for drift.
func (m Method) ConsolidationType() string {
	switch m {
	case MethodEmptiness:
		return "empty"
	case MethodMultiNode:
		return "multi"
	case MethodSingleNode:
		return "single"
	}
	return ""
}

// Class says what happens to a node whose pods must not be disrupted, or whose pods' PodDisruptionBudgets allow no eviction.
type Class string

const (
	// ClassGraceful: such pods block the node.
	ClassGraceful Class = "Graceful"
	// ClassEventual: such pods block the node only if its NodeClaim has no terminationGracePeriod.
	ClassEventual Class = "Eventual"
)

// VoluntaryReasons returns the reasons that budgets can limit, in the order in which they are tried. The caller owns the slice.
func VoluntaryReasons() []Reason {
	return []Reason{ReasonEmpty, ReasonDrifted, ReasonUnderutilized}
}
