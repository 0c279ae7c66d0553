package survey

import (
	"cmp"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// ViewOf returns a view of a snapshot, without a live cluster: see disruption.ViewOf.
func ViewOf(s *planning.Snapshot) *cluster.View {
	if s == nil {
		s = &planning.Snapshot{}
	}
	view := &cluster.View{Snapshot: s, Nodes: make([]cluster.NodeState, len(s.Nodes))}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		m := cluster.NodeState{Name: n.Name, Pool: n.Pool, Node: n.Object, Claim: n.Claim, Pods: n.Pods, Leaving: n.Leaving}
		if n.Claim != nil {
			m.ProviderID, m.LastPodEvent = n.Claim.Status.ProviderID, n.Claim.Status.LastPodEventTime.Time
		}
		if n.Object != nil {
			m.ProviderID = cmp.Or(m.ProviderID, n.Object.Spec.ProviderID)
		}
		m.Phase = phaseOf(&m)
		view.Nodes[i] = m
	}
	return view
}

// phaseOf returns the phase of a node of a snapshot, from the node's labels and provider ID.
func phaseOf(m *cluster.NodeState) cluster.Phase {
	switch {
	case m.Claim == nil:
		return cluster.PhaseInitialized // a node that drawknife does not manage counts as initialized
	case m.Node != nil && m.Node.Labels[v1.NodeInitializedLabelKey] == "true":
		return cluster.PhaseInitialized
	case m.Node != nil && m.Node.Labels[v1.NodeRegisteredLabelKey] == "true":
		return cluster.PhaseRegistered
	case m.ProviderID != "":
		return cluster.PhaseLaunched
	}
	return cluster.PhaseLaunching
}
