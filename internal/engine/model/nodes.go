package model

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// compileNodes compiles the snapshot's nodes. Initialized nodes come first, sorted by name, and then the other nodes, sorted by name.
// classes has the classes of their pods, indexed by node and pod.
func (m *Model) compileNodes(s *planning.Snapshot, r *likeness.Roster, classes [][]int32) error {
	dims := m.Resources.Len()
	m.Free = make([]int64, 0, len(s.Nodes)*dims)
	order := make([]int, len(s.Nodes))
	views := make([]existing.View, len(s.Nodes))
	for i := range s.Nodes {
		order[i], views[i] = i, existing.ViewOf(&s.Nodes[i])
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(BoolCompare(views[b].Initialized, views[a].Initialized), cmp.Compare(s.Nodes[a].Name, s.Nodes[b].Name))
	})
	m.NodeIndex = make(map[string]int, len(s.Nodes))
	m.Nodes = make([]existing.Node, 0, len(s.Nodes))
	groups := existing.NewGrouping(m.NewGroups())
	maker := m.NodeMaker(groups.Groups, existing.NewAttachLimits(s.CSINodes, s.Catalogs))
	pods := existing.NewArena(CountPods(s) - len(m.Pods))
	on := make([]likeness.NodePods, len(s.Nodes))
	waiting := len(m.Pods)
	for i, p := range r.OfNodes {
		on[i] = likeness.NodePods{Marks: r.Marks[p.From:p.To], Order: r.Order[p.From-waiting : p.To-waiting]}
	}
	for _, i := range order {
		n, view := &s.Nodes[i], &views[i]
		if _, twice := m.NodeIndex[n.Name]; twice {
			return &planning.SnapshotError{Path: "nodes", Rule: "has two nodes named " + n.Name, Cure: "give each node once, with its Node and its NodeClaim"}
		}
		m.NodeIndex[n.Name] = len(m.Nodes)
		m.Free = slices.Grow(m.Free, dims)
		free := m.Free[len(m.Free) : len(m.Free)+dims]
		m.Free = m.Free[:len(m.Free)+dims]
		compiled := maker.Node(n, view, classes[i], on[i], groups.Of(view), pods, free)
		m.Nodes = append(m.Nodes, compiled)
	}
	m.Groups = groups.List
	return nil
}

// NewGroups returns an empty list of node groups, for the labels that the model's pods refer to.
func (m *Model) NewGroups() *existing.Groups {
	vocabulary := m.Snapshot.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	return existing.NewGroups(m.AskedKeys, m.Vocab, vocabulary.Aliases)
}

// NodeMaker returns a Maker for the model's nodes.
func (m *Model) NodeMaker(g *existing.Groups, limits *existing.AttachLimits) *existing.Maker {
	return &existing.Maker{
		Resources: m.Resources, Volumes: m.Volumes, Limits: limits, DaemonSets: m.DaemonSets, Groups: g, Classes: m.Classes, PoolIndex: m.PoolIndex,
		DevicesOf: m.Devices.RoomOfNode,
	}
}

// BoolCompare compares booleans: false comes before true.
func BoolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Seller returns a Seller that finds the offerings as which the snapshot's nodes were bought.
func (m *Model) Seller() *existing.Seller {
	return &existing.Seller{Vocab: m.Vocab, Pools: m.Pools, PoolIndex: m.PoolIndex, Catalogs: m.Catalogs, Costs: m.Costs}
}
