package solving

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// preemptor searches for pods to preempt (victims).
type preemptor struct {
	t       *trial.Trial
	budgets []victimBudget
	// gone contains the victims found so far, by node and by index among the node's bound pods.
	gone map[int32]map[int]bool
	// found has, for each node, the victims on the node for a pod of the current class, or nil if there are none. looks is the number of
	// times that a node was examined.
	found []*victims
	looks int
	// rooms lists the nodes on which the victims so far may leave room for another pod of the current class.
	rooms []int32
}

// begin prepares the preemptor for pods of another class.
func (e *preemptor) begin() {
	e.found, e.rooms = nil, slices.Sorted(maps.Keys(e.gone))
}

// maxLooksForVictims is the number of times that nodes are examined for victims in one plan.
const maxLooksForVictims = 200_000

// victims are the victims on one node, as indexes in its bound pods, the highest priority first.
type victims struct {
	node int32
	list []int
	// fresh are the victims in list that no earlier pod preempted.
	fresh      []int
	violations int
	highest    int32
	sum        int64
	// started is the earliest start time of the victims with the highest priority.
	started time.Time
}

// choose returns the victims that kube-scheduler would choose for one more pod of the class, or nil if preemption helps on no node. It
// prefers the node with the fewest violations of PodDisruptionBudgets. If these numbers are equal, it compares the highest priority of the
// victims, then the sum of their priorities, then their number (lower is better in each case). Last, it compares the start times of the
// victims (later is better).
func (e *preemptor) choose(class int32) *victims {
	m := e.t.M
	c := m.Classes[class]
	if at, known := m.NodeIndex[c.Nominated]; known && len(trial.VictimsOn(m, &m.Nodes[at], c.Priority)) > 0 {
		return nil // the pod waits until the pods that it has already preempted are gone
	}
	if best := e.best(class); best != nil {
		return best
	}
	// Pods that were placed since e.found was computed may have changed on which nodes topology rules allow the class. So compute it again.
	if c.Topology == nil || e.found == nil {
		return nil
	}
	e.found = nil
	return e.best(class)
}

// best returns the victims on the node that kube-scheduler would choose for the class. Each node is examined once. The chosen node is
// examined again, because pods of the class may have been placed on it or near it after the first examination.
func (e *preemptor) best(class int32) *victims {
	t, m := e.t, e.t.M
	if e.found == nil {
		e.found = make([]*victims, len(m.Nodes))
		for i := range t.S.Room.Usable.Members {
			// A node that does not accept the class for a reason that preemption can't change, such as a taint, gets no victims.
			if m.Fits.Accepts(m.Nodes[i].Group, m.Classes[class].Shape) {
				e.found[i] = e.on(int32(i), class)
			}
		}
	}
	for {
		var best *victims
		for _, v := range e.found {
			if v != nil && (best == nil || v.compare(best) < 0) {
				best = v
			}
		}
		if best == nil {
			return nil
		}
		now := e.on(best.node, class)
		e.found[best.node] = now
		if now != nil && now.compare(best) <= 0 {
			return now
		}
	}
}

// shared finds a node where the victims of other pods leave room for one more pod of the class. The result contains the victims whose room
// the pod needs. It returns nil if there is no such node.
func (e *preemptor) shared(class int32) *victims {
	m, c := e.t.M, e.t.M.Classes[class]
	for len(e.rooms) > 0 {
		node := e.rooms[0]
		n := &m.Nodes[node]
		list := slices.Sorted(maps.Keys(e.gone[node]))
		senior := slices.ContainsFunc(list, func(k int) bool { return m.Classes[n.Bound[k].Class].Priority >= c.Priority })
		if senior || !m.Fits.Accepts(n.Group, c.Shape) || !e.holds(c, node) {
			e.rooms = e.rooms[1:]
			continue
		}
		slices.SortStableFunc(list, func(a, b int) int { return e.moreImportant(n.Bound[a], n.Bound[b]) })
		out := &victims{node: node}
		for _, k := range list {
			if !e.reprieve(c, node, k) {
				out.list = append(out.list, k)
			}
		}
		for _, k := range list {
			if !slices.Contains(out.list, k) {
				e.shift(node, k, -1)
			}
		}
		if len(out.list) > 0 {
			out.count(m)
			return out
		}
		e.rooms = e.rooms[1:]
	}
	return nil
}

func (v *victims) compare(o *victims) int {
	return cmp.Or(cmp.Compare(v.violations, o.violations), cmp.Compare(v.highest, o.highest), cmp.Compare(v.sum, o.sum),
		cmp.Compare(len(v.list), len(o.list)), o.started.Compare(v.started))
}

// on finds the victims on one node. It returns nil if the pod would not fit even if all pods of lower priority were gone.
func (e *preemptor) on(node, class int32) *victims {
	m := e.t.M
	c, n := m.Classes[class], &m.Nodes[node]
	var list []int
	for k, p := range n.Bound {
		if m.Classes[p.Class].Priority < c.Priority && !e.gone[node][k] {
			list = append(list, k)
		}
	}
	if len(list) == 0 || e.looks == maxLooksForVictims {
		return nil
	}
	e.looks++
	e.settle(node, -1)
	for _, k := range list {
		e.shift(node, k, -1)
	}
	out := &victims{node: node}
	if e.holds(c, node) {
		slices.SortStableFunc(list, func(a, b int) int { return e.moreImportant(n.Bound[a], n.Bound[b]) })
		violating, others := byBudget(e.budgets, n, list)
		for _, k := range violating {
			if !e.reprieve(c, node, k) {
				out.list = append(out.list, k)
				out.violations++
			}
		}
		for _, k := range others {
			if !e.reprieve(c, node, k) {
				out.list = append(out.list, k)
			}
		}
	} else {
		out.list = list
		for _, k := range list {
			e.shift(node, k, 1)
		}
		e.settle(node, 1)
		return nil
	}
	for _, k := range out.list {
		e.shift(node, k, 1)
	}
	e.settle(node, 1)
	if len(out.list) == 0 {
		return nil // the pod fits without victims, so it waits for something else than room
	}
	slices.SortStableFunc(out.list, func(a, b int) int { return e.moreImportant(n.Bound[a], n.Bound[b]) })
	out.count(m)
	out.fresh = out.list
	return out
}

// count computes the highest priority of the victims, the sum of their priorities, and the earliest start time of the victims with the
// highest priority.
func (v *victims) count(m *model.Model) {
	v.highest = math.MinInt32
	for _, k := range v.list {
		p := m.Nodes[v.node].Bound[k]
		priority := m.Classes[p.Class].Priority
		v.sum += int64(priority) + math.MaxInt32 + 1
		if started := startOf(p.Pod); priority > v.highest || priority == v.highest && started.Before(v.started) {
			v.highest, v.started = priority, started
		}
	}
}

// settle subtracts a node's overcommitted amounts from its free amounts (if sign is -1), or adds them again. It does nothing if the map
// gone already has pods of the node.
func (e *preemptor) settle(node int32, sign int64) {
	if over := e.t.M.Nodes[node].Over; over != nil && len(e.gone[node]) == 0 {
		resources.AddScaled(e.t.S.Room.Of(node), over, sign)
	}
}

// shift removes a bound pod from its node (if sign is -1), or puts it back.
func (e *preemptor) shift(node int32, k int, sign int32) {
	p := e.t.M.Nodes[node].Bound[k]
	resources.AddScaled(e.t.S.Room.Of(node), e.t.M.Classes[p.Class].Unshared(), -int64(sign))
	if e.t.S.Topology != nil {
		e.t.S.Topology.Place(layout.GroupsOfBound(e.t.M.Topology, p, e.t.M.Classes[p.Class].Topology), node, sign)
	}
}

// holds reports whether the node, in its current state, could take a pod of the class.
func (e *preemptor) holds(c *podclass.Class, node int32) bool {
	free := e.t.S.Room.Of(node)
	for d, need := range e.t.S.Volumes.NeedOn(c, node) {
		if need > 0 && need > free[d] {
			return false
		}
	}
	return e.t.S.Admits(c, node)
}

// reprieve puts a victim back on its node if the preempting pod still fits with it, and reports whether it put the victim back.
func (e *preemptor) reprieve(c *podclass.Class, node int32, k int) bool {
	e.shift(node, k, 1)
	if e.holds(c, node) {
		return true
	}
	e.shift(node, k, -1)
	return false
}

// moreImportant compares pods in the order in which kube-scheduler keeps them: by priority, highest first, then by start time, earliest
// first.
func (e *preemptor) moreImportant(a, b existing.Pod) int {
	m := e.t.M
	return cmp.Or(cmp.Compare(m.Classes[b.Class].Priority, m.Classes[a.Class].Priority), startOf(a.Pod).Compare(startOf(b.Pod)), likeness.Compare(a.Pod, b.Pod))
}

func startOf(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime == nil {
		return time.Unix(1<<40, 0) // a pod that has not started counts as started later than all other pods
	}
	return pod.Status.StartTime.Time
}

// take removes the victims from their node and reserves room there for the pod, so that later pods can't use this room.
func (e *preemptor) take(class int32, v *victims) {
	e.settle(v.node, -1)
	if e.gone[v.node] == nil {
		e.gone[v.node] = map[int]bool{}
	}
	if !slices.Contains(e.rooms, v.node) {
		e.rooms = append(e.rooms, v.node)
	}
	for _, k := range v.fresh {
		e.shift(v.node, k, -1)
		e.gone[v.node][k] = true
	}
	e.t.Add(state.Binding{Class: class, Host: v.node, Count: 1, Stage: -1})
}

// preemption converts the victims to the form that a plan has.
func (v *victims) preemption(m *model.Model, pod planning.PodKey) planning.Preemption {
	n := &m.Nodes[v.node]
	out := planning.Preemption{Pod: pod, Node: n.Name, HighestPriority: v.highest, BudgetViolations: v.violations}
	for _, k := range v.list {
		out.Victims = append(out.Victims, planning.PodKey{Namespace: n.Bound[k].Pod.Namespace, Name: n.Bound[k].Pod.Name})
	}
	return out
}
