package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// NewNodes counts the new nodes opened so far, those without pods among them. They are numbered from 0 on in that order.
func (t *Trial) NewNodes() int { return len(t.s.Planned) }

// Filled are the numbers of the new nodes from the given one on that have pods.
func (t *Trial) Filled(from int) []int {
	var out []int
	for i := from; i < len(t.s.Planned); i++ {
		if !t.s.Planned[i].Empty() {
			out = append(out, i)
		}
	}
	return out
}

// Drop takes a new node out of the trial, as if it had never been opened: its pods wait again. It reports how many those are.
// A number that no new node has, or one without pods, is an error and changes nothing.
func (t *Trial) Drop(number int) (pods int, err error) {
	if number < 0 || number >= len(t.s.Planned) || t.s.Planned[number].Empty() {
		return 0, fmt.Errorf("dropping new node %d: the trial has none of that number with pods", number)
	}
	return t.s.Drop(number), nil
}

// Fill places waiting pods on new nodes that have room, by the rules of Move, the nodes in the order of their numbers. It
// returns how many pods still wait.
func (t *Trial) Fill(q Query) (left int) {
	t.options = PlaceOptions{Query: q}
	classes := t.waitingClasses()
	for progress := true; progress; {
		progress = false
		for _, class := range classes {
			if c := t.m.c.Classes[class]; c.Invalid == nil && t.fillWith(class, c) {
				progress = c.Topology != nil
			}
		}
	}
	for _, c := range classes {
		left += int(t.s.Waiting[c])
	}
	return left
}

// fillWith places pods of the class on new nodes; false if none has room.
func (t *Trial) fillWith(class int32, c *podclass.Class) bool {
	filled, dims := false, t.m.c.Resources.Len()
	for i := range t.s.Planned {
		mc := &t.s.Planned[i]
		if t.s.Waiting[class] == 0 {
			break
		}
		alloc := t.m.c.Pools[mc.Pool].Table.AllocOf(int(mc.Row), dims)
		if mc.Empty() || !fitsBeside(c.Unshared(), mc.Used, alloc) {
			continue
		}
		host := int32(len(t.m.c.Nodes) + i)
		stage := t.stageOn(c, mc)
		for stage >= 0 && t.s.Waiting[class] > 0 && fitsBeside(t.s.Volumes.NeedOn(c, host), mc.Used, alloc) && t.s.Admits(c, host) && t.keepsVariety(host, c, stage) {
			t.place(state.Binding{Class: class, Host: host, Count: min(t.bulkOn(class, host), t.s.Waiting[class]), Stage: stage, Tight: t.tightly(class)})
			filled = true
		}
	}
	return filled
}

// Load is what a trial has put on a node: how many pods, and what they are worth together, USD per hour.
type Load struct {
	Pods  int
	Worth float64
}

// Loads are what the trial has put on nodes of the snapshot, by name, and on new ones, by number.
func (w *Worth) Loads(t *Trial) (received map[string]Load, planned []Load) {
	received, planned = map[string]Load{}, make([]Load, len(t.s.Planned))
	for _, b := range t.s.Placed {
		if b.Count == 0 {
			continue
		}
		worth := float64(int64(b.Count)*w.byClass[b.Class]) / market.NanoPerUSD
		if i := int(b.Host) - len(t.m.c.Nodes); i >= 0 {
			planned[i].Pods += int(b.Count)
			planned[i].Worth += worth
			continue
		}
		name := t.m.c.Nodes[b.Host].Name
		l := received[name]
		received[name] = Load{l.Pods + int(b.Count), l.Worth + worth}
	}
	return received, planned
}

// Requested is what those pods of a node ask for together, themselves counted, that could move and that moves says so of; nil for a
// name that the snapshot lacks.
func (m *Model) Requested(node string, moves func(*corev1.Pod) bool) corev1.ResourceList {
	i, ok := m.c.NodeIndex[node]
	if !ok {
		return nil
	}
	sum := make([]int64, m.c.Resources.Len())
	m.addRequested(sum, i, moves)
	return m.c.Resources.List(sum)
}

func (m *Model) addRequested(sum []int64, node int, moves func(*corev1.Pod) bool) {
	for _, p := range m.c.Nodes[node].Movable {
		if moves(p.Pod) {
			resources.AddScaled(sum, m.c.Classes[p.Class].Requests, 1)
		}
	}
}

// RequestedTogether is Requested for pods of several nodes together; names that the snapshot lacks have none. moves is asked about pods of
// the node of that place in the list.
func (m *Model) RequestedTogether(nodes []string, moves func(at int, pod *corev1.Pod) bool) corev1.ResourceList {
	sum := make([]int64, m.c.Resources.Len())
	for at, name := range nodes {
		if i, ok := m.c.NodeIndex[name]; ok {
			m.addRequested(sum, i, func(pod *corev1.Pod) bool { return moves(at, pod) })
		}
	}
	return m.c.Resources.List(sum)
}

// NodeRoom is how much of a resource a node has free.
type NodeRoom struct {
	Node string
	Free resource.Quantity
}

// Roomiest are the two nodes of the snapshot with most of the resource free, of equals those that come first in the snapshot; zero where there
// are fewer with any.
func (m *Model) Roomiest(name corev1.ResourceName) (out [2]NodeRoom) {
	d := slices.Index(m.c.Resources.Names, name)
	if d < 0 || m.c.Snapshot == nil {
		return out
	}
	var most [2]int64
	for i := range m.c.Snapshot.Nodes {
		node := m.c.Snapshot.Nodes[i].Name
		free := m.c.Free[m.c.NodeIndex[node]*m.c.Resources.Len()+d]
		switch {
		case free == 0:
		case out[0].Node == "" || free > most[0]:
			out[0].Node, out[1].Node = node, out[0].Node
			most[0], most[1] = free, most[0]
		case out[1].Node == "" || free > most[1]:
			out[1].Node, most[1] = node, free
		}
	}
	for i := range out {
		out[i].Free = resources.Quantity(name, most[i])
	}
	return out
}

// Grown are the numbers of the new nodes that were there at the mark and have received pods since, each once, ascending. The
// mark must be one that could be rolled back to.
func (t *Trial) Grown(since Mark) []int {
	first := len(t.m.c.Nodes) + len(t.s.Planned) - t.s.Log.OpenedSince(since.at)
	var out []int
	for _, b := range t.s.PlacedSince(since.at) {
		if b.Count > 0 && int(b.Host) >= len(t.m.c.Nodes) && int(b.Host) < first {
			out = append(out, int(b.Host)-len(t.m.c.Nodes))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
