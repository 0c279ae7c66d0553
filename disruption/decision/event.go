package decision

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Event is a message for operators or a pod's owner, which the caller publishes as a Kubernetes event.
type Event struct {
	// Kind is Node, NodeClaim, NodePool or Pod; Namespace, Name and UID identify the object. Only pods have a Namespace, and UID may be
	// empty. A pool's name is its key's String, so that a Provisioner and a NodePool of the same name differ.
	Kind, Namespace, Name string
	UID                   types.UID
	// Warning is true for problems, false for normal operation.
	Warning bool
	Reason  EventReason
	// Identity distinguishes events of the same reason and object: an event suppresses only events of its identity. The message does not
	// matter.
	Identity string
	// Message is one sentence.
	Message string
	// Every is how long the same event, by object, reason and identity, is not repeated; nil means DefaultEventInterval.
	Every *time.Duration
}

// DefaultEventInterval is how long not to repeat an event whose Every is nil.
const DefaultEventInterval = 2 * time.Minute

// EventReason is the reason of a Kubernetes event. Operators' alerts rely on these words.
type EventReason string

// The reasons of the events of disruption.
const (
	// EventDisruptionBlocked: a node is no candidate, or drift finds no place for its pods; on a NodePool: budgets allow the
	// disruption of none of its nodes.
	EventDisruptionBlocked EventReason = "DisruptionBlocked"
	// EventUnconsolidatable: consolidation does not remove a candidate.
	EventUnconsolidatable EventReason = "Unconsolidatable"
	// EventConsolidationCandidate: consolidation is about to remove a node.
	EventConsolidationCandidate EventReason = "ConsolidationCandidate"
	// EventConsolidationRejected: a command was no longer valid when it was about to start.
	EventConsolidationRejected EventReason = "ConsolidationRejected"
	// EventConsolidationApproved: a command's score is high enough for the policy Balanced.
	EventConsolidationApproved EventReason = "ConsolidationApproved"
	// EventDisruptionLaunching, EventDisruptionWaitingReadiness: a replacement is on its way.
	EventDisruptionLaunching        EventReason = "DisruptionLaunching"
	EventDisruptionWaitingReadiness EventReason = "DisruptionWaitingReadiness"
	// EventDisruptionTerminating: a member of a command is deleted.
	EventDisruptionTerminating EventReason = "DisruptionTerminating"
	// EventDisruptionAwaitingApproval, EventDisruptionRefused: a disruption.Approver has not decided yet, or has refused. Karpenter has no
	// such events.
	EventDisruptionAwaitingApproval EventReason = "DisruptionAwaitingApproval"
	EventDisruptionRefused          EventReason = "DisruptionRefused"
	// EventDisruptionHeldBack, EventDisruptionFailed: a command that had begun is undone, because the launch rate limiter holds its
	// launches back, or for another reason. Karpenter has no such events.
	EventDisruptionHeldBack EventReason = "DisruptionHeldBack"
	EventDisruptionFailed   EventReason = "DisruptionFailed"
	// EventDoNotDisruptUntil, EventDoNotDisruptElapsed: a pod protects itself until a time, or no longer.
	EventDoNotDisruptUntil   EventReason = "DoNotDisruptUntil"
	EventDoNotDisruptElapsed EventReason = "DoNotDisruptGracePeriodElapsed"
	// EventInvalidDoNotDisrupt: a pod's do-not-disrupt annotation is invalid.
	EventInvalidDoNotDisrupt EventReason = "InvalidDoNotDisruptAnnotation"
	// EventNodeRepairBlocked: too many nodes are unhealthy at once for one to be repaired.
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
