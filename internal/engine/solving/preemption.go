package solving

import (
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxPreemptors is the number of pods for which preemptions are computed.
const maxPreemptors = 1000

// expectedPreemptions are the preemptions that kube-scheduler would make.
type expectedPreemptions struct {
	List []planning.Preemption
	// classes has, for each class, the number of preemptors: pods for which other pods are preempted. holds has, for each node, the amounts
	// that the preemptors need there in addition to the room of their victims. placed has the bindings of the preemptors to nodes.
	classes map[int32]int32
	holds   map[int32][]int64
	placed  []state.Binding
}

// Preemptions imitates kube-scheduler on the snapshot's nodes. It handles pods by priority, highest first. For pods without a place it
// preempts other pods, by the rules of kube-scheduler's DefaultPreemption. The trial solved contains the placements of the pods, and so the
// pods without a place on existing nodes. If all pods have a place on existing nodes, nothing is preempted.
func Preemptions(ctx context.Context, m *model.Model, solved *trial.Trial, q planning.Query) expectedPreemptions {
	out := expectedPreemptions{classes: map[int32]int32{}, holds: map[int32][]int64{}}
	lowest := lowestBound(m)
	onNew := make(map[int32]bool)
	for _, b := range solved.S.Placed.All {
		onNew[b.Class] = onNew[b.Class] || b.Count > 0 && b.Host >= int32(len(m.Nodes))
	}
	var real []int32
	wanted := false
	for i, c := range m.Classes {
		if len(c.Pending) == 0 || c.Placeholder || c.Invalid != nil || int64(c.Priority) <= lowest {
			continue
		}
		real = append(real, int32(i))
		wanted = wanted || !c.Never && (onNew[int32(i)] || solved.S.Waiting[i] > 0)
	}
	if !wanted {
		return out
	}
	t := trial.New(m)
	t.Options = planning.PlaceOptions{Query: q, ExistingOnly: true}
	Of(t).placeNominated(real, math.MinInt32)
	e := &preemptor{t: t, budgets: newVictimBudgets(m.Snapshot.PodDisruptionBudgets), gone: map[int32]map[int]bool{}}
	for _, tier := range Of(t).priorities(real) {
		Of(t).placeTogether(ctx, tier)
		for _, class := range tier {
			c := m.Classes[class]
			e.begin()
			for t.S.Waiting[class] > 0 && !c.Never && len(out.List) < maxPreemptors && ctx.Err() == nil {
				found := e.shared(class)
				if found == nil {
					found = e.choose(class)
				}
				if found == nil {
					break
				}
				out.hold(m, class, found)
				e.take(class, found)
				singles := m.Singles(class)
				pod := m.Pods[singles[len(singles)-int(out.classes[class])]]
				out.List = append(out.List, found.preemption(m, planning.PodKey{Namespace: pod.Namespace, Name: pod.Name}))
			}
		}
	}
	return out
}

// lowestBound returns the lowest priority of a bound pod on a node that takes pods.
func lowestBound(m *model.Model) int64 {
	lowest := int64(math.MaxInt64)
	for i := range m.Nodes {
		if !m.Nodes[i].Usable {
			continue
		}
		for _, p := range m.Nodes[i].Bound {
			lowest = min(lowest, int64(m.Classes[p.Class].Priority))
		}
	}
	return lowest
}

// LeaveTo removes from the trial the pods for which kube-scheduler preempts other pods, and reserves the free room that they need in
// addition to the room of their victims. The removed pods still keep other pods away from their nodes. But they do not attract pods, and
// spreads do not count them, because they do not run there yet.
func (t Solving) LeaveTo(expected expectedPreemptions) {
	for class, n := range expected.classes {
		t.S.Waiting[class] -= n
	}
	for node, held := range expected.holds {
		free := t.S.Room.Of(node)
		for d := range free {
			free[d] = max(free[d]-max(held[d], 0), 0)
		}
	}
	if t.S.Topology == nil {
		return
	}
	for _, b := range expected.placed {
		t.S.Topology.Place(keepingAway(t.M, t.M.Classes[b.Class].Topology), b.Host, b.Count)
	}
}

// keepingAway returns a copy of the topology groups o. The copy's field In has only the groups of anti-affinity and of host ports.
func keepingAway(m *model.Model, o *topology.Groups) *topology.Groups {
	if o == nil {
		return nil
	}
	in := slices.DeleteFunc(slices.Clone(o.In), func(g int32) bool {
		return m.Topology[g].Kind != topology.Anti && m.Topology[g].Kind != topology.Exclusive
	})
	return &topology.Groups{Owns: o.Owns, In: in}
}

// hold records a preemption by one more pod of the class, with the victims that no other pod has preempted.
func (x *expectedPreemptions) hold(m *model.Model, class int32, v *victims) {
	n := &m.Nodes[v.node]
	held := x.holds[v.node]
	if held == nil {
		held = make([]int64, m.Resources.Len())
		if n.Over != nil {
			resources.AddScaled(held, n.Over, 1)
		}
		x.holds[v.node] = held
	}
	x.classes[class]++
	x.placed = append(x.placed, state.Binding{Class: class, Host: v.node, Count: 1, Stage: -1})
	resources.AddScaled(held, m.Classes[class].Requests, 1)
	for _, k := range v.fresh {
		resources.AddScaled(held, m.Classes[n.Bound[k].Class].Unshared(), -1)
	}
}
