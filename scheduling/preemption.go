package scheduling

import (
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// maxPreemptors bounds for how many pods preemption is looked into.
const maxPreemptors = 1000

// expectedPreemptions are those that kube-scheduler would make.
type expectedPreemptions struct {
	list []Preemption
	// classes counts the pods by class; holds is what they take of each node beyond what their victims had there; placed is
	// where they go.
	classes map[int32]int32
	holds   map[int32][]int64
	placed  []state.Binding
}

// preemptions plays kube-scheduler on the snapshot's nodes: it takes pods by priority, and preempts for those that have no
// place, by the rules of its DefaultPreemption. solved says which pods have no place on the nodes that there are: without
// any nothing is preempted.
func (m *Model) preemptions(ctx context.Context, solved *Trial, q Query) expectedPreemptions {
	out := expectedPreemptions{classes: map[int32]int32{}, holds: map[int32][]int64{}}
	lowest := m.lowestBound()
	onNew := make(map[int32]bool)
	for _, b := range solved.s.Placed {
		onNew[b.Class] = onNew[b.Class] || b.Count > 0 && b.Host >= int32(len(m.c.Nodes))
	}
	var real []int32
	wanted := false
	for i, c := range m.c.Classes {
		if len(c.Pending) == 0 || c.Placeholder || c.Invalid != nil || int64(c.Priority) <= lowest {
			continue
		}
		real = append(real, int32(i))
		wanted = wanted || !c.Never && (onNew[int32(i)] || solved.s.Waiting[i] > 0)
	}
	if !wanted {
		return out
	}
	t := m.Trial()
	t.options = PlaceOptions{Query: q, ExistingOnly: true}
	t.placeNominated(real, math.MinInt32)
	e := &preemptor{t: t, budgets: newVictimBudgets(m.c.Snapshot.PodDisruptionBudgets), gone: map[int32]map[int]bool{}}
	for _, tier := range t.priorities(real) {
		t.placeTogether(ctx, tier)
		for _, class := range tier {
			c := m.c.Classes[class]
			e.begin()
			for t.s.Waiting[class] > 0 && !c.Never && len(out.list) < maxPreemptors && ctx.Err() == nil {
				found := e.shared(class)
				if found == nil {
					found = e.choose(class)
				}
				if found == nil {
					break
				}
				out.hold(m, class, found)
				e.take(class, found)
				pod := m.c.Pods[c.Pending[len(c.Pending)-int(out.classes[class])]]
				out.list = append(out.list, found.preemption(m, PodKey{Namespace: pod.Namespace, Name: pod.Name}))
			}
		}
	}
	return out
}

// lowestBound is the lowest priority of a pod on a node that takes pods.
func (m *Model) lowestBound() int64 {
	lowest := int64(math.MaxInt64)
	for i := range m.c.Nodes {
		if !m.c.Nodes[i].Usable {
			continue
		}
		for _, p := range m.c.Nodes[i].Bound {
			lowest = min(lowest, int64(m.c.Classes[p.Class].Priority))
		}
	}
	return lowest
}

// leaveTo leaves pods out of the trial for which kube-scheduler makes room, and keeps what they need of the room that is
// free now. They keep others away from where they go, but draw none, and spreads don't count them: they are not there yet.
func (t *Trial) leaveTo(expected expectedPreemptions) {
	for class, n := range expected.classes {
		t.s.Waiting[class] -= n
	}
	for node, held := range expected.holds {
		free := t.s.FreeOf(node)
		for d := range free {
			free[d] = max(free[d]-max(held[d], 0), 0)
		}
	}
	if t.s.Topology == nil {
		return
	}
	for _, b := range expected.placed {
		t.s.Topology.Place(t.m.keepingAway(t.m.c.Classes[b.Class].Topology), b.Host, b.Count)
	}
}

// keepingAway is what of a pod's rules keeps others away.
func (m *Model) keepingAway(o *topology.Groups) *topology.Groups {
	if o == nil {
		return nil
	}
	in := slices.DeleteFunc(slices.Clone(o.In), func(g int32) bool {
		return m.c.Topology[g].Kind != topology.Anti && m.c.Topology[g].Kind != topology.Exclusive
	})
	return &topology.Groups{Owns: o.Owns, In: in}
}

// hold counts one more pod of the class, and those of its victims that no other has preempted.
func (x *expectedPreemptions) hold(m *Model, class int32, v *victims) {
	n := &m.c.Nodes[v.node]
	held := x.holds[v.node]
	if held == nil {
		held = make([]int64, m.c.Resources.Len())
		if n.Over != nil {
			resources.AddScaled(held, n.Over, 1)
		}
		x.holds[v.node] = held
	}
	x.classes[class]++
	x.placed = append(x.placed, state.Binding{Class: class, Host: v.node, Count: 1, Stage: -1})
	resources.AddScaled(held, m.c.Classes[class].Requests, 1)
	for _, k := range v.fresh {
		resources.AddScaled(held, m.c.Classes[n.Bound[k].Class].Unshared(), -1)
	}
}
