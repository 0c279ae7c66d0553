package scheduling

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
)

// compileNodes makes the snapshot's nodes ready: those that are initialised first, then by name. classes are those of
// their pods, indexed [node][pod].
func (m *Model) compileNodes(s *Snapshot, r *likeness.Roster, classes [][]int32) error {
	dims := m.resources.Len()
	m.free = make([]int64, 0, len(s.Nodes)*dims)
	order := make([]int, len(s.Nodes))
	views := make([]existing.View, len(s.Nodes))
	for i := range s.Nodes {
		order[i], views[i] = i, existing.ViewOf(&s.Nodes[i])
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(boolCompare(views[b].Initialized, views[a].Initialized), cmp.Compare(s.Nodes[a].Name, s.Nodes[b].Name))
	})
	m.nodeIndex = make(map[string]int, len(s.Nodes))
	m.nodes = make([]existing.Node, 0, len(s.Nodes))
	groups := existing.NewGrouping(m.newGroups())
	maker := m.nodeMaker(groups.Groups, existing.NewAttachLimits(s.CSINodes, s.Catalogs))
	pods := existing.NewArena(countPods(s) - len(m.pods))
	on := make([]likeness.NodePods, len(s.Nodes))
	waiting := len(m.pods)
	for i, p := range r.OfNodes {
		on[i] = likeness.NodePods{Marks: r.Marks[p.From:p.To], Order: r.Order[p.From-waiting : p.To-waiting]}
	}
	for _, i := range order {
		n, view := &s.Nodes[i], &views[i]
		if _, twice := m.nodeIndex[n.Name]; twice {
			return &SnapshotError{Path: "nodes", Rule: "has two nodes named " + n.Name, Cure: "give each node once, with its Node and its NodeClaim"}
		}
		m.nodeIndex[n.Name] = len(m.nodes)
		m.free = slices.Grow(m.free, dims)
		free := m.free[len(m.free) : len(m.free)+dims]
		m.free = m.free[:len(m.free)+dims]
		compiled := maker.Node(n, view, classes[i], on[i], groups.Of(view), pods, free)
		m.nodes = append(m.nodes, compiled)
	}
	m.groups = groups.List
	return nil
}

// NewGroups are groups of nodes by the labels that the model's pods ask about.
func (m *Model) newGroups() *existing.Groups {
	vocabulary := m.snapshot.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	return existing.NewGroups(m.askedKeys, m.vocab, vocabulary.Aliases)
}

// Maker makes nodes ready for the model.
func (m *Model) nodeMaker(g *existing.Groups, limits *existing.AttachLimits) *existing.Maker {
	return &existing.Maker{
		Resources: m.resources, Volumes: m.volumes, Limits: limits, DaemonSets: m.daemonSets, Groups: g, Classes: m.classes, PoolIndex: m.poolIndex,
		DevicesOf: m.devices.RoomOfNode,
	}
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
