package decision

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Event is a message for operators or a pod's owner, which the caller publishes as a Kubernetes event.
type Event struct {
	// Kind is Node, NodeClaim, NodePool or Pod; Namespace, Name and UID identify the object. Only pods have a Namespace, and UID may be
	// empty. The name of a pool is the String of its key, so that a Provisioner and a NodePool of the same name differ.
	Kind, Namespace, Name string
	UID                   types.UID
	// Warning is true for problems, false for normal operation.
	Warning bool
	Reason  EventReason
	// Identity distinguishes events of the same reason and object: an event only suppresses later events with the same identity. The
	// message is not compared.
	Identity string
	// Message is one sentence.
	Message string
	// Every is the time during which an event with the same object, reason and identity is not repeated; nil means DefaultEventInterval.
	Every *time.Duration
}

// DefaultEventInterval is the time during which an event whose Every is nil is not repeated.
const DefaultEventInterval = 2 * time.Minute

// EventReason is the reason of a Kubernetes event. Operators have alerts that depend on these reasons.
type EventReason string

// The reasons of the events of disruption.
const (
	// EventDisruptionBlocked: a node is not a candidate, or drift finds no place for its pods. On a NodePool: budgets do not allow the
	// disruption of any of its nodes.
	EventDisruptionBlocked EventReason = "DisruptionBlocked"
	// EventUnconsolidatable: consolidation does not remove a candidate.
	EventUnconsolidatable EventReason = "Unconsolidatable"
	// EventConsolidationCandidate: consolidation is about to remove a node.
	EventConsolidationCandidate EventReason = "ConsolidationCandidate"
	// EventConsolidationRejected: a command was no longer valid when it was about to start.
	EventConsolidationRejected EventReason = "ConsolidationRejected"
	// EventConsolidationApproved: a command's score is high enough for the policy Balanced.
	EventConsolidationApproved EventReason = "ConsolidationApproved"
	// EventDisruptionLaunching, EventDisruptionWaitingReadiness: a replacement is being launched; a replacement is not ready yet.
	EventDisruptionLaunching        EventReason = "DisruptionLaunching"
	EventDisruptionWaitingReadiness EventReason = "DisruptionWaitingReadiness"
	// EventDisruptionTerminating: a member of a command is deleted.
	EventDisruptionTerminating EventReason = "DisruptionTerminating"
	// EventDisruptionAwaitingApproval, EventDisruptionRefused: a disruption.Approver has not decided yet, or has refused. Karpenter has no
	// such events.
	EventDisruptionAwaitingApproval EventReason = "DisruptionAwaitingApproval"
	EventDisruptionRefused          EventReason = "DisruptionRefused"
	// EventDisruptionHeldBack: a command that had started is undone, because the launch rate limiter holds its launches back.
	// EventDisruptionFailed: it is undone for another reason. Karpenter has no such events.
	EventDisruptionHeldBack EventReason = "DisruptionHeldBack"
	EventDisruptionFailed   EventReason = "DisruptionFailed"
	// EventDoNotDisruptUntil, EventDoNotDisruptElapsed: the annotation of a pod protects it until a time, or no longer protects it.
	EventDoNotDisruptUntil   EventReason = "DoNotDisruptUntil"
	EventDoNotDisruptElapsed EventReason = "DoNotDisruptGracePeriodElapsed"
	// EventInvalidDoNotDisrupt: a pod's do-not-disrupt annotation is invalid.
	EventInvalidDoNotDisrupt EventReason = "InvalidDoNotDisruptAnnotation"
	// EventNodeRepairBlocked: a node is not repaired, because too many nodes are unhealthy at once.
	EventNodeRepairBlocked EventReason = "NodeRepairBlocked"
)

// The kinds of objects with events.
const (
	KindNode      = "Node"
	KindNodeClaim = "NodeClaim"
	KindNodePool  = "NodePool"
	KindPod       = "Pod"
)

// Events returns the event for the member's Node and for its NodeClaim.
func (m *Member) Events(e Event) []Event {
	e.Kind, e.Name, e.UID = KindNode, m.Node, ""
	claim := e
	claim.Kind, claim.Name, claim.UID = KindNodeClaim, m.Claim, m.UID
	return []Event{e, claim}
}
