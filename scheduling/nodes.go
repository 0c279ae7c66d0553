package scheduling

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/likeness"
)

// compileNodes makes the snapshot's machines ready: those that are initialised first, then by name. classes are those of
// their pods, indexed [node][pod].
func (m *Model) compileNodes(s *Snapshot, r *likeness.Roster, classes [][]int32) error {
	dims := m.resources.Len()
	m.free = make([]int64, 0, len(s.Nodes)*dims)
	order := make([]int, len(s.Nodes))
	views := make([]nodeView, len(s.Nodes))
	for i := range s.Nodes {
		order[i], views[i] = i, viewOf((*nodeSource)(&s.Nodes[i]))
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(boolCompare(views[b].initialized, views[a].initialized), cmp.Compare(s.Nodes[a].Name, s.Nodes[b].Name))
	})
	m.nodeIndex = make(map[string]int, len(s.Nodes))
	m.nodes = make([]node, 0, len(s.Nodes))
	groups := newGrouping(m.newGroups())
	maker := m.nodeMaker(groups.groups, newAttachLimits(s.CSINodes, s.Catalogs))
	pods := newPodArena(countPods(s) - len(m.pods))
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
		compiled := maker.node((*nodeSource)(n), view, classes[i], on[i], groups.of(view), pods, free)
		m.nodes = append(m.nodes, compiled)
	}
	m.groups = groups.list
	return nil
}

// newGroups are groups of nodes by the labels that the model's pods ask about.
func (m *Model) newGroups() *groups {
	vocabulary := m.snapshot.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	return newGroups(m.askedKeys, m.vocab, vocabulary.Aliases)
}

// nodeMaker makes nodes ready for the model.
func (m *Model) nodeMaker(g *groups, limits *attachLimits) *nodeMaker {
	return &nodeMaker{
		resources: m.resources, volumes: m.volumes, limits: limits, daemonSets: m.daemonSets, groups: g, classes: m.classes, poolIndex: m.poolIndex,
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
