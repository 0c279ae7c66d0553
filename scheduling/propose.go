package scheduling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Placing works in two steps. First, proposals: which pods go where, found in bulk by value, with counts dealt out to
// cells beforehand. Then admission: each proposal is checked by the exact rules, in an order in which the pods can be
// bound; what turns out not to be allowed stays waiting and is looked at pod by pod.

// wish is pods of one class that want a place in one cell.
type wish struct {
	class, cell, count int32
	// OnNodes says that some were dealt to the cell for the room on its nodes of the snapshot.
	onNodes bool
}

// proposal is a binding not yet admitted.
type proposal struct {
	state.Binding
	// bulk proposals are under no topology rule: they need no check.
	bulk bool
}

// wishes are the waiting pods of the given classes, dealt out to cells where rules concern them.
func (t *Trial) wishes(c *layout.Cells, classes []int32) []wish {
	var out []wish
	var dealt []int32
	for _, class := range classes {
		if t.s.Waiting[class] == 0 {
			continue
		}
		if c != nil && t.m.concerned(t.m.c.Classes[class].Topology) {
			dealt = append(dealt, class)
			continue
		}
		out = append(out, wish{class: class, cell: layout.AnyCell, count: t.s.Waiting[class]})
	}
	if len(dealt) > 0 {
		out = append(out, t.deal(c, dealt)...)
	}
	return out
}

// concerned reports whether rules over domains larger than a node concern pods with the stake.
func (m *Model) concerned(o *topology.Groups) bool {
	if o == nil {
		return false
	}
	wide := func(g int32) bool { return m.c.Topology[g].At != topology.Hostname }
	return slices.ContainsFunc(o.Owns, wide) || slices.ContainsFunc(o.In, wide)
}

// proposeExisting proposes places on nodes of the snapshot: what is free there costs nothing. Each node is filled
// with the pods worth most; those that no new node could take come first, by priority. Nodes with the least
// room are filled first, so that whole nodes stay free. Counts of the wishes fall by what is proposed. Places are at least as
// good as the last of fits, and those that are as good as an earlier one are taken first.
func (t *Trial) proposeExisting(ctx context.Context, c *layout.Cells, wishes []wish, worth []int64, fits ...uint32) []proposal {
	m := t.m
	order := make([]*wish, 0, len(wishes))
	for i := range wishes {
		if m.c.Classes[wishes[i].class].Invalid == nil {
			order = append(order, &wishes[i])
		}
	}
	nodes := t.nodesFor(order)
	size := t.sizes(nodes)
	t.sortByRoom(nodes, size)
	slices.SortStableFunc(order, func(a, b *wish) int {
		ca, cb := m.c.Classes[a.class], m.c.Classes[b.class]
		strandedA, strandedB := len(ca.Stages) == 0, len(cb.Stages) == 0
		return cmp.Or(model.BoolCompare(strandedB, strandedA), cmp.Compare(cb.Priority, ca.Priority),
			-cmp.Compare(worth[a.class], worth[b.class]), -cmp.Compare(size(ca.Requests), size(cb.Requests)), cmp.Compare(a.class, b.class))
	})
	f := &filler{t: t, c: c, nodes: nodes, free: slices.Clone(t.s.Free), bases: map[int32]*topology.OneNode{}}
	for _, fit := range fits {
		f.fill(ctx, order, fit)
	}
	return f.out
}

// filler fills nodes of the snapshot with proposals.
type filler struct {
	t     *Trial
	c     *layout.Cells
	nodes []int32
	// free is what the proposals leave, indexed like Trial.free.
	free []int64
	// bases are the counts on nodes that hold proposals under rules.
	bases map[int32]*topology.OneNode
	out   []proposal
}

// fill goes over the nodes once, taking only those fits that are at least as good as asked for.
func (f *filler) fill(ctx context.Context, order []*wish, fit uint32) {
	m, c := f.t.m, f.c
	dims := int32(m.c.Resources.Len())
	order = slices.DeleteFunc(slices.Clone(order), func(w *wish) bool { return w.count == 0 })
	for _, node := range f.nodes {
		if len(order) == 0 || ctx.Err() != nil {
			return
		}
		free := f.free[node*dims : (node+1)*dims]
		if free[resources.Pods] <= 0 {
			continue
		}
		cell := int32(layout.AnyCell)
		if c != nil {
			cell = c.OfHost(int(node))
		}
		exhausted := false
		for _, w := range order {
			if w.count == 0 {
				exhausted = true
				continue
			}
			class := m.c.Classes[w.class]
			n := resources.HowMany(class.Requests, free, int(w.count))
			if n == 0 || (w.cell != layout.AnyCell && w.cell != cell) || m.c.Fits.FitOf(m.c.Nodes[node].Group, class.Shape) < fit {
				continue
			}
			if class.Topology != nil {
				if n = min(n, f.countsOn(node).Room(class.Topology)); n == 0 {
					continue
				}
				f.countsOn(node).Add(class.Topology, int32(n))
			}
			resources.AddScaled(free, class.Requests, -int64(n))
			w.count -= int32(n)
			f.out = append(f.out, proposal{state.Binding{Class: w.class, Host: node, Count: int32(n)}, class.Topology == nil})
			exhausted = exhausted || w.count == 0
			if free[resources.Pods] <= 0 {
				break
			}
		}
		if exhausted {
			order = slices.DeleteFunc(order, func(w *wish) bool { return w.count == 0 })
		}
	}
}

// countsOn are the counts of a node with the proposals for it.
func (f *filler) countsOn(node int32) *topology.OneNode {
	s, ok := f.bases[node]
	if !ok {
		s = topology.NewOneNode(f.t.m.c.Topology)
		s.Begin(f.t.s.Topology.Hosts[node].Tally)
		f.bases[node] = s
	}
	return s
}

// admit places proposals: those under no rule at once, the others one pod at a time and round after round, since a pod
// may become admissible when others have found their places. What is never admissible is dropped.
func (t *Trial) admit(list []proposal) {
	var open []proposal
	for _, p := range list {
		if p.bulk || t.s.Topology == nil {
			t.place(p.Binding)
		} else {
			open = append(open, p)
		}
	}
	for len(open) > 0 {
		progress := false
		for i := range open {
			p := &open[i]
			for p.Count > 0 && t.s.Topology.Admits(t.m.c.Classes[p.Class].Topology, t.m.c.Classes[p.Class].Shape, p.Host) {
				one := p.Binding
				one.Count = 1
				t.place(one)
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
