package scheduling

import (
	"cmp"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Pods with status.nominatedNodeName have been promised room on a node: kube-scheduler makes it by preemption, and counts
// them there for pods of equal and lower priority. When it comes to such a pod it looks at that node first. So they are
// placed first, each on its node. Only if a pod of higher priority has no place without that room are they placed like
// others.

// victimsOn are the pods on the node that are being deleted and have a lower priority: those that were preempted.
func victimsOn(m *Model, n *existing.Node, priority int32) []existing.Pod {
	return slices.DeleteFunc(slices.Clone(n.Bound), func(p existing.Pod) bool {
		return !p.Terminating || m.c.Classes[p.Class].Priority >= priority
	})
}

// promiseRoom counts the room that preempted pods still hold as free as far as the pods need that are nominated for it.
func (t *Trial) promiseRoom() {
	m := t.m
	type promise struct{ needs, victims []int64 }
	promised := map[int]*promise{}
	for class, c := range m.c.Classes {
		if c.Nominated == "" || t.s.Waiting[class] == 0 {
			continue
		}
		at, known := m.c.NodeIndex[c.Nominated]
		if !known || !m.c.Nodes[at].Usable {
			continue
		}
		p := promised[at]
		if p == nil {
			p = &promise{make([]int64, m.c.Resources.Len()), make([]int64, m.c.Resources.Len())}
			promised[at] = p
		}
		resources.AddScaled(p.needs, c.Requests, int64(t.s.Waiting[class]))
		victims := make([]int64, m.c.Resources.Len())
		for _, v := range victimsOn(m, &m.c.Nodes[at], c.Priority) {
			resources.AddScaled(victims, m.c.Classes[v.Class].Requests, 1)
		}
		for d := range victims {
			p.victims[d] = max(p.victims[d], victims[d])
		}
	}
	for at, p := range promised {
		free := t.s.FreeOf(int32(at))
		for d := range free {
			gone := p.victims[d]
			if over := m.c.Nodes[at].Over; over != nil {
				gone -= over[d]
			}
			free[d] += max(min(gone, p.needs[d]-free[d]), 0)
		}
	}
}

// placeNominated puts the pods of the classes on the nodes that they are nominated for, those of the highest priority
// first, but for those below the lowest. It returns the lowest priority of those placed, and whether there are any.
func (t *Trial) placeNominated(classes []int32, lowest int32) (least int32, any bool) {
	m := t.m
	list := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		c := m.c.Classes[class]
		return c.Nominated == "" || c.Invalid != nil || c.Priority < lowest
	})
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(m.c.Classes[b].Priority, m.c.Classes[a].Priority) })
	least = math.MaxInt32
	for _, class := range list {
		c := m.c.Classes[class]
		at, known := m.c.NodeIndex[c.Nominated]
		if !known || !t.s.Usable.Has(at) || !m.c.Fits.Accepts(m.c.Nodes[at].Group, c.Shape) {
			continue
		}
		host := int32(at)
		preempted := len(victimsOn(m, &m.c.Nodes[at], c.Priority)) > 0
		for t.s.Waiting[class] > 0 && resources.Fits(t.s.Volumes.NeedOn(c, host), t.s.FreeOf(host)) && (preempted || t.s.Admits(c, host)) {
			t.place(state.Binding{Class: class, Host: host, Count: 1, Stage: -1})
			least, any = c.Priority, true
		}
	}
	return least, any
}

// highestWaiting is the highest priority of a pod of the classes that waits and could be planned.
func (t *Trial) highestWaiting(classes []int32) (highest int32, any bool) {
	highest = math.MinInt32
	for _, class := range classes {
		if c := t.m.c.Classes[class]; t.s.Waiting[class] > 0 && c.Invalid == nil {
			highest, any = max(highest, c.Priority), true
		}
	}
	return highest, any
}
