package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Events returns events about a plan for the fleet: why nodes are no candidates, why candidates are not consolidated, and which nodes are
// removed. Blocks that occur in normal operation cause no events.
func (p *Plan) Events(f *Fleet) []Event {
	seen := f.seen()
	if seen == nil {
		return nil
	}
	nodes := map[string]*cluster.NodeState{}
	for i := range seen.In.View.Nodes {
		m := &seen.In.View.Nodes[i]
		nodes[m.Name] = m
	}
	var out []Event
	for i := range p.Verdicts {
		v := &p.Verdicts[i]
		if m := nodes[v.Node]; m != nil && v.Outcome == OutcomeKept {
			out = append(out, verdictEvents(m, v.Blocks)...)
		}
	}
	for _, cmd := range p.Commands {
		out = append(out, plannedEvents(cmd)...)
	}
	return out
}

// verdictEvents returns the events that say why a node stays: for each EventReason at most one per object.
func verdictEvents(m *cluster.NodeState, blocks []MethodBlock) []Event {
	var out []Event
	told := map[EventReason]bool{}
	for _, b := range blocks {
		// The code is part of the identity, so that there is a new event if the node is kept for another reason.
		e := Event{Message: b.Block.String(), Identity: string(b.Block.Code)}
		switch {
		case b.Block.Silent():
			continue
		case b.Method == "", b.Method == MethodDrift && b.Block.Code == BlockUnschedulable:
			e.Reason = EventDisruptionBlocked
		case unconsolidatable(b.Block) && b.Method.ConsolidationType() != "":
			e.Reason, e.Every = EventUnconsolidatable, every(stateEvery)
		default:
			continue
		}
		if told[e.Reason] {
			continue
		}
		told[e.Reason] = true
		out = append(out, nodeEvents(m, e)...)
	}
	return out
}

// unconsolidatable reports whether an event may say that the node is not consolidated because of this block. It returns true for blocks
// that concern the node, its pool or its replacement. It returns false for budgets, because the pool has events about them, and for scores,
// because they have metrics.
func unconsolidatable(b *Block) bool {
	switch b.Code {
	case BlockRefused, BlockFailed, BlockHeldBack, BlockNever, BlockBuffer, BlockInstanceTypeUnknown, BlockNoLabel, BlockPolicy, BlockAnnotation, BlockPod, BlockPodDisruptionBudget, BlockGang,
		BlockUnschedulable, BlockDependsOnUninitialized, BlockManyNodes, BlockNotCheaper, BlockMinValues, BlockSpotToSpot, BlockFewTypes:
		return true
	}
	return false
}

// nodeEvents returns the event e for the Node and for its NodeClaim, if they exist.
func nodeEvents(m *cluster.NodeState, e Event) []Event {
	var out []Event
	if m.Node != nil {
		e.Kind, e.Name, e.UID = decision.KindNode, m.Node.Name, m.Node.UID
		out = append(out, e)
	}
	if m.Claim != nil {
		e.Kind, e.Name, e.UID = decision.KindNodeClaim, m.Claim.Name, m.Claim.UID
		out = append(out, e)
	}
	return out
}

// plannedEvents returns the events of a planned consolidation command, and one event for each score that allowed it.
func plannedEvents(c *Command) []Event {
	if c.Reason != ReasonUnderutilized {
		return nil
	}
	var out []Event
	for i := range c.Members {
		out = append(out, c.Members[i].Events(Event{Reason: EventConsolidationCandidate, Identity: c.String(), Message: c.String()})...)
	}
	for _, s := range c.Scores {
		e := Event{Reason: EventConsolidationApproved, Message: fmt.Sprintf("%s: %s", s, c)}
		if len(c.Members) == 1 {
			out = append(out, c.Members[0].Events(e)...)
			continue
		}
		e.Kind, e.Name = decision.KindNodePool, s.Pool.String()
		out = append(out, e)
	}
	return out
}

// Events returns events for node, claim and pool, which say that repair is suspended. claim may be nil.
func (b *RepairBlock) Events(node *corev1.Node, claim *v1.NodeClaim) []Event {
	e := Event{Warning: true, Reason: EventNodeRepairBlocked, Message: b.String(), Every: every(stateEvery)}
	out := nodeEvents(&cluster.NodeState{Node: node, Claim: claim}, e)
	if !b.Pool.IsZero() {
		e.Kind, e.Name, e.UID = decision.KindNodePool, b.Pool.String(), ""
		out = append(out, e)
	}
	return out
}

// ProtectionEvents returns events for a pod about its do-not-disrupt annotation: it protects the pod until a time, it no longer protects
// it, or its value is invalid. The value "true" needs no event.
func ProtectionEvents(pod *corev1.Pod, now time.Time) []Event {
	if pod == nil {
		return nil
	}
	e := Event{Kind: decision.KindPod, Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	switch p := pods.ProtectionOf(pod, now); {
	case p.Err != nil:
		e.Warning, e.Reason, e.Message = true, EventInvalidDoNotDisrupt, p.Err.Error()
		e.Identity = e.Message
	case p.Until.IsZero():
		return nil
	case p.Active:
		e.Reason, e.Identity = EventDoNotDisruptUntil, p.Until.UTC().Format(time.RFC3339)
		e.Message = "must not be disrupted until " + e.Identity
	default:
		e.Reason = EventDoNotDisruptElapsed
		e.Message = "may be disrupted again: the time of " + v1.DoNotDisruptAnnotationKey + " has passed"
	}
	return []Event{e}
}

// Intervals of events that are repeated less often or more often than the default.
const (
	stateEvery       = 15 * time.Minute
	poolBlockedEvery = time.Minute
)

// every returns a value for Event.Every.
func every(interval time.Duration) *time.Duration { return &interval }
