package cluster

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// shownNode is a node in the form that views contain. A shownNode is never changed after it has been made.
type shownNode struct {
	node  scheduling.Node
	state NodeState
}

// look returns the entry in the form that views contain, or nil if views don't contain it. It also sets the entry's host and leftOut.
func (s *State) look(m *entry) *shownNode {
	node, claim := m.speakers(s)
	m.host, m.leftOut = "", m.passedOver(node, claim)
	object := node
	if node != nil && !complete(node) {
		m.leftOut = append(m.leftOut, LeftOut{Object: objectKey(KindNode, node.Name), Code: LeftOutNoInstanceType})
		object = nil
	}
	if object == nil && claim == nil {
		return nil
	}
	out := &shownNode{}
	out.state = NodeState{Node: node, Claim: claim, Phase: phaseOf(object, claim)}
	if object != nil {
		if m.shown != nil && m.shown.state.Node == object && m.shown.node.Object != nil {
			object = m.shown.node.Object // completed before
		} else {
			object = scheduling.CompleteNode(object)
		}
	}
	out.node = scheduling.JoinNode(object, claim)
	if object == nil {
		out.node.Name = s.nameOf(claim, m)
	}
	if err := scheduling.CheckNode(&out.node); err != nil {
		m.leftOut = append(m.leftOut, LeftOut{objectOf(object, claim), LeftOutInvalid, err.Error()})
		return nil
	}
	if node != nil {
		m.host = node.Name
		out.node.Pods = slices.SortedFunc(maps.Values(s.onNode[node.Name]), func(a, b *corev1.Pod) int { return compareKeys(keyOf(a), keyOf(b)) })
		out.node.Leaving = out.node.Leaving || node.DeletionTimestamp != nil
		out.state.note(s.nodeFacts[node.Name])
		out.state.ProviderID = node.Spec.ProviderID
	}
	if claim != nil {
		f := s.claimFacts[v1.QualifiedName(claim)]
		out.state.note(f)
		if since, ok := initializedSince(claim); ok && f.nominatedFor > 0 {
			out.state.note(facts{nominatedUntil: since.Add(f.nominatedFor)})
		}
		out.state.note(facts{lastPodEvent: claim.Status.LastPodEventTime.Time})
		out.state.ProviderID = cmp.Or(claim.Status.ProviderID, out.state.ProviderID)
	}
	out.node.Leaving = out.node.Leaving || out.state.Marked
	out.state.Name, out.state.Pool, out.state.Pods, out.state.Leaving = out.node.Name, out.node.Pool, out.node.Pods, out.node.Leaving
	return out
}

// note adds to the node's state the facts that State knows in addition to the Node or NodeClaim object.
func (m *NodeState) note(f facts) {
	m.Marked = m.Marked || f.marked
	if f.nominatedUntil.After(m.NominatedUntil) {
		m.NominatedUntil = f.nominatedUntil
	}
	if f.lastPodEvent.After(m.LastPodEvent) {
		m.LastPodEvent = f.lastPodEvent
	}
}

// initializedSince returns when the claim's condition Initialized last changed, and whether the condition is true now. The claim is shared
// and must not be changed.
func initializedSince(claim *v1.NodeClaim) (time.Time, bool) {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == v1.ConditionInitialized {
			return c.LastTransitionTime.Time, c.Status == metav1.ConditionTrue
		}
	}
	return time.Time{}, false
}

// complete reports whether a Node has the labels that planning needs. A Node of a pool must have the label of its instance type, except if
// it is initialized.
func complete(node *corev1.Node) bool {
	return scheduling.PoolOf(node.Labels).IsZero() || node.Labels[v1.NodeInitializedLabelKey] == "true" ||
		node.Labels[corev1.LabelInstanceTypeStable] != ""
}

func phaseOf(node *corev1.Node, claim *v1.NodeClaim) Phase {
	switch {
	case claim == nil, node != nil && node.Labels[v1.NodeInitializedLabelKey] == "true":
		return PhaseInitialized
	case node != nil && node.Labels[v1.NodeRegisteredLabelKey] == "true":
		return PhaseRegistered
	case claim.Status.ProviderID != "":
		return PhaseLaunched
	}
	return PhaseLaunching
}

// worthALook reports whether the change makes it worthwhile to consolidate again.
func worthALook(before, after *shownNode) bool {
	if before == nil || after == nil {
		return before != after
	}
	b, a := &before.state, &after.state
	return (b.Phase == PhaseInitialized) != (a.Phase == PhaseInitialized) || b.Leaving != a.Leaving ||
		!slices.EqualFunc(b.Pods, a.Pods, func(x, y *corev1.Pod) bool { return x.Namespace == y.Namespace && x.Name == y.Name && x.UID == y.UID })
}
