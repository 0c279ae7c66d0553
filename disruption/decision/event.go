package decision

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Event is something that operators or a pod's owner should hear of: what the caller publishes as a Kubernetes event.
type Event struct {
	// Kind is Node, NodeClaim, NodePool or Pod; Namespace, Name and UID say whose it is. Namespace is a pod's alone, UID may
	// be empty. A pool's name is its key's String, so that one of the first generation is told from a later one of its name.
	Kind, Namespace, Name string
	UID                   types.UID
	// Warning events report trouble; the others are the course of things.
	Warning bool
	Reason  EventReason
	// Identity tells events of one reason and object apart: those of different identity do not keep each other back.
	// The message does not.
	Identity string
	// Message is one sentence.
	Message string
	// Every is how long not to repeat the same event, by object, reason and identity; nil is DefaultEventInterval.
	Every *time.Duration
}

// DefaultEventInterval is how long not to repeat an event whose Every is nil.
const DefaultEventInterval = 2 * time.Minute

// EventReason names a kind of event, in the words that operators' alerts know.
type EventReason string

// The reasons of the events of disruption.
const (
	// EventDisruptionBlocked: a node is no candidate, or drift finds no place for its pods; on a NodePool: budgets let none of
	// its nodes go.
	EventDisruptionBlocked EventReason = "DisruptionBlocked"
	// EventUnconsolidatable: consolidation keeps a candidate.
	EventUnconsolidatable EventReason = "Unconsolidatable"
	// EventConsolidationCandidate: consolidation is about to remove a node.
	EventConsolidationCandidate EventReason = "ConsolidationCandidate"
	// EventConsolidationRejected: a command was void when it was to be started.
	EventConsolidationRejected EventReason = "ConsolidationRejected"
	// EventConsolidationApproved: a move of the policy Balanced scores high enough.
	EventConsolidationApproved EventReason = "ConsolidationApproved"
	// EventDisruptionLaunching, EventDisruptionWaitingReadiness: a replacement is on its way.
	EventDisruptionLaunching        EventReason = "DisruptionLaunching"
	EventDisruptionWaitingReadiness EventReason = "DisruptionWaitingReadiness"
	// EventDisruptionTerminating: a member of a command is deleted.
	EventDisruptionTerminating EventReason = "DisruptionTerminating"
	// EventDisruptionAwaitingApproval, EventDisruptionRefused: a disruption.Approver has yet to decide, or has refused. They are not
	// the reference's.
	EventDisruptionAwaitingApproval EventReason = "DisruptionAwaitingApproval"
	EventDisruptionRefused          EventReason = "DisruptionRefused"
	// EventDisruptionHeldBack, EventDisruptionFailed: a command that had begun is taken back, since the launch rate limiter holds its launches back,
	// or for any other reason. They are not the reference's.
	EventDisruptionHeldBack EventReason = "DisruptionHeldBack"
	EventDisruptionFailed   EventReason = "DisruptionFailed"
	// EventDoNotDisruptUntil, EventDoNotDisruptElapsed: a pod protects itself for a time, or no longer.
	EventDoNotDisruptUntil   EventReason = "DoNotDisruptUntil"
	EventDoNotDisruptElapsed EventReason = "DoNotDisruptGracePeriodElapsed"
	// EventInvalidDoNotDisrupt: a pod's do-not-disrupt annotation means nothing.
	EventInvalidDoNotDisrupt EventReason = "InvalidDoNotDisruptAnnotation"
	// EventNodeRepairBlocked: too many nodes are unhealthy at once for one to be repaired.
	EventNodeRepairBlocked EventReason = "NodeRepairBlocked"
)

// What events are about.
const (
	KindNode      = "Node"
	KindNodeClaim = "NodeClaim"
	KindNodePool  = "NodePool"
	KindPod       = "Pod"
)

// Events are the event for the member's Node and for its NodeClaim.
func (m *Member) Events(e Event) []Event {
	e.Kind, e.Name, e.UID = KindNode, m.Node, ""
	claim := e
	claim.Kind, claim.Name, claim.UID = KindNodeClaim, m.Claim, m.UID
	return []Event{e, claim}
}
