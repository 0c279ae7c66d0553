package solving

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Pods are placed in two steps. First, each pod gets a proposal, which says on which node it could run. Proposals are computed for many
// pods at a time, by the pods' values, after the numbers of pods per cell were assigned. Second, each proposal is checked by the exact
// rules, in an order in which the pods can be bound. If a proposal breaks a rule, its pod stays pending and is placed alone later.

// proposal is a binding that has not been checked yet.
type proposal struct {
	state.Binding
	// bulk means that no topology rule concerns the pods, so the proposal needs no check.
	bulk bool
}

// wishes returns the pending pods of the classes. Pods that rules over domains larger than a node concern are assigned to cells.
func (t Solving) wishes(c *layout.Cells, classes []int32) []placing.Wish {
	var out []placing.Wish
	var dealt []int32
	for _, class := range classes {
		if t.S.Waiting[class] == 0 {
			continue
		}
		if c != nil && rulesConcern(t.M, t.M.Classes[class].Topology) {
			dealt = append(dealt, class)
			continue
		}
		out = append(out, placing.Wish{Class: class, Cell: layout.AnyCell, Count: t.S.Waiting[class]})
	}
	if len(dealt) > 0 {
		out = append(out, placing.SitesOf(t.Trial).Deal(c, dealt)...)
	}
	return out
}

// rulesConcern reports whether rules over domains larger than a node concern pods with these topology groups.
func rulesConcern(m *model.Model, o *topology.Groups) bool {
	if o == nil {
		return false
	}
	wide := func(g int32) bool { return m.Topology[g].At != topology.Hostname }
	return slices.ContainsFunc(o.Owns, wide) || slices.ContainsFunc(o.In, wide)
}

// proposeExisting proposes places on nodes of the snapshot, because free room there costs nothing. Each node is filled with the pods of the
// highest value. Pods that no new node could take come first, sorted by priority. Nodes with the least room are filled first, so that whole
// nodes stay free. It subtracts the proposed pods from the counts of the wishes. fits lists fits of pods on nodes, the best fit first. For
// each fit in the list, all nodes are filled once, with pods whose fit on the node is at least as good as this fit.
func (t Solving) proposeExisting(ctx context.Context, c *layout.Cells, wishes []placing.Wish, worth []int64, fits ...uint32) []proposal {
	m := t.M
	order := make([]*placing.Wish, 0, len(wishes))
	for i := range wishes {
		if m.Classes[wishes[i].Class].Invalid == nil {
			order = append(order, &wishes[i])
		}
	}
	nodes := t.nodesFor(order)
	size := t.Sizes(nodes)
	t.sortByRoom(nodes, size)
	slices.SortStableFunc(order, func(a, b *placing.Wish) int {
		ca, cb := m.Classes[a.Class], m.Classes[b.Class]
		strandedA, strandedB := len(ca.Stages) == 0, len(cb.Stages) == 0
		return cmp.Or(model.BoolCompare(strandedB, strandedA), cmp.Compare(cb.Priority, ca.Priority),
			-cmp.Compare(worth[a.Class], worth[b.Class]), -cmp.Compare(size(ca.Requests), size(cb.Requests)), cmp.Compare(a.Class, b.Class))
	})
	f := &filler{t: t.Trial, c: c, nodes: nodes, free: make([]int64, 0, len(nodes)*m.Resources.Len()), bases: map[int32]*topology.OneNode{}}
	for _, node := range nodes {
		f.free = append(f.free, t.S.Room.Of(node)...)
	}
	for _, fit := range fits {
		f.fill(ctx, order, fit)
	}
	return f.out
}

// filler fills nodes of the snapshot with proposals.
type filler struct {
	t     *trial.Trial
	c     *layout.Cells
	nodes []int32
	// free has, for each entry of the field nodes, the free amounts of the node minus the requests of the proposed pods.
	free []int64
	// bases has the pod counts of the nodes for which there are proposals under topology rules.
	bases map[int32]*topology.OneNode
	out   []proposal
}

// fill visits each node once. It proposes only pods whose fit on the node is at least as good as the parameter fit.
func (f *filler) fill(ctx context.Context, order []*placing.Wish, fit uint32) {
	m, c := f.t.M, f.c
	dims := m.Resources.Len()
	order = slices.DeleteFunc(slices.Clone(order), func(w *placing.Wish) bool { return w.Count == 0 })
	for at, node := range f.nodes {
		if len(order) == 0 || ctx.Err() != nil {
			return
		}
		free := f.free[at*dims : (at+1)*dims]
		if free[resources.Pods] <= 0 {
			continue
		}
		cell := int32(layout.AnyCell)
		if c != nil {
			cell = c.OfHost(int(node))
		}
		exhausted := false
		for _, w := range order {
			if w.Count == 0 {
				exhausted = true
				continue
			}
			class := m.Classes[w.Class]
			n := resources.HowMany(class.Requests, free, int(w.Count))
			if n == 0 || (w.Cell != layout.AnyCell && w.Cell != cell) || m.Fits.FitOf(m.Nodes[node].Group, class.Shape) < fit {
				continue
			}
			if class.Topology != nil {
				if n = min(n, f.countsOn(node).Room(class.Topology)); n == 0 {
					continue
				}
				f.countsOn(node).Add(class.Topology, int32(n))
			}
			resources.AddScaled(free, class.Requests, -int64(n))
			w.Count -= int32(n)
			f.out = append(f.out, proposal{state.Binding{Class: w.Class, Host: node, Count: int32(n)}, class.Topology == nil})
			exhausted = exhausted || w.Count == 0
			if free[resources.Pods] <= 0 {
				break
			}
		}
		if exhausted {
			order = slices.DeleteFunc(order, func(w *placing.Wish) bool { return w.Count == 0 })
		}
	}
}

// countsOn returns the pod counts of a node, including proposals for it.
func (f *filler) countsOn(node int32) *topology.OneNode {
	s, ok := f.bases[node]
	if !ok {
		s = topology.NewOneNode(f.t.M.Topology)
		s.Begin(f.t.S.Topology.Hosts[node].Tally)
		f.bases[node] = s
	}
	return s
}

// admit places the pods of the proposals. Pods that no rule concerns are placed at once. The other pods are placed one at a time in several
// rounds, because a pod may be admitted only after other pods have been placed. Pods that are never admitted stay pending.
func (t Solving) admit(list []proposal) {
	var open []proposal
	for _, p := range list {
		if p.bulk || t.S.Topology == nil {
			t.Add(p.Binding)
		} else {
			open = append(open, p)
		}
	}
	for len(open) > 0 {
		progress := false
		for i := range open {
			p := &open[i]
			for p.Count > 0 && t.S.Topology.Admits(t.M.Classes[p.Class].Topology, t.M.Classes[p.Class].Shape, p.Host) {
				one := p.Binding
				one.Count = 1
				t.Add(one)
				p.Count--
				progress = true
			}
		}
		if !progress {
			return
		}
		open = slices.DeleteFunc(open, func(p proposal) bool { return p.Count == 0 })
	}
}
