package scheduling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// placeSingly looks for places pod by pod, by the exact rules, for what placing in bulk has left: on any node there
// is, else on a new one. It goes round until nothing finds a place any more, so that a pod left waiting fits nowhere.
func (t *Trial) placeSingly(ctx context.Context, c *layout.Cells, classes []int32) {
	order := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		return t.s.Waiting[class] == 0 || t.m.c.Classes[class].Invalid != nil
	})
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(t.m.c.Classes[b].Priority, t.m.c.Classes[a].Priority)
	})
	for progress := true; progress && ctx.Err() == nil; {
		progress = false
		for _, class := range order {
			for t.s.Waiting[class] > 0 && ctx.Err() == nil && t.placeOne(c, class) {
				progress = true
			}
		}
		order = slices.DeleteFunc(order, func(class int32) bool { return t.s.Waiting[class] == 0 })
		if t.s.Topology == nil {
			return // nothing that others do can help
		}
	}
}

// placeOne places pods of the class on one host: as many as the first host found takes, if no rule concerns them, else
// one.
func (t *Trial) placeOne(c *layout.Cells, class int32) bool {
	if host, stage := t.findHost(class); host >= 0 {
		t.place(state.Binding{Class: class, Host: host, Count: t.bulkOn(class, host), Stage: stage, Tight: t.tightly(class)})
		return true
	}
	if t.decideAndJoin(class) {
		return true
	}
	if t.options.ExistingOnly {
		return false
	}
	s := t.findSite(c, class)
	if s == nil {
		s = t.findVariedSite(c, class)
	}
	if s == nil {
		return t.grow(class)
	}
	host := t.s.Open(state.Node{Pool: s.Pool, Row: s.Row, Slot: s.Slot, Price: s.Price, Labels: t.assigned[s.Stage][s.Pool][s.Assign].Labels})
	t.place(state.Binding{Class: class, Host: host, Count: t.bulkOn(class, host), Stage: s.Stage, Tight: t.tightly(class)})
	return true
}

// bulkOn is how many pods of the class go on the host at once.
func (t *Trial) bulkOn(class, host int32) int32 {
	c := t.m.c.Classes[class]
	if i := host - int32(len(t.m.c.Nodes)); c.Topology != nil || (i >= 0 && t.strictVariety(t.m.c.Pools[t.s.Planned[i].Pool])) {
		return 1
	}
	return max(int32(resources.HowMany(c.Requests, t.s.RoomOf(host), int(t.s.Waiting[class]))), 1)
}

// findHost is the first host that takes a pod of the class: nodes of the snapshot in their order, then new ones.
func (t *Trial) findHost(class int32) (host, stage int32) {
	m := t.m
	c := m.c.Classes[class]
	for i := range t.s.Usable.Members {
		if t.newOnly {
			break
		}
		if resources.Fits(t.s.Volumes.NeedOn(c, int32(i)), t.s.FreeOf(int32(i))) && m.c.Fits.Accepts(m.c.Nodes[i].Group, c.Shape) && t.s.Admits(c, int32(i)) {
			return int32(i), -1
		}
	}
	return t.findPlanned(class)
}

// findPlanned is the first new node that takes a pod of the class, and the stage that allows it; -1 if none does.
func (t *Trial) findPlanned(class int32) (host, stage int32) {
	m := t.m
	c := m.c.Classes[class]
	dims := m.c.Resources.Len()
	for i := range t.s.Planned {
		mc := &t.s.Planned[i]
		if i < t.fresh || mc.Empty() || !fitsBeside(t.s.Volumes.NeedOn(c, int32(len(m.c.Nodes)+i)), mc.Used, m.c.Pools[mc.Pool].Table.AllocOf(int(mc.Row), dims)) {
			continue
		}
		if stage := t.stageOn(c, mc); stage >= 0 && t.s.Admits(c, int32(len(m.c.Nodes)+i)) && t.keepsVariety(int32(len(m.c.Nodes)+i), c, stage) {
			return int32(len(m.c.Nodes) + i), stage
		}
	}
	return -1, -1
}

// fillPlanned places pods on nodes planned before: for pods that come after others, room there costs nothing.
func (t *Trial) fillPlanned(classes []int32) {
	for _, class := range classes {
		for t.s.Waiting[class] > 0 && t.m.c.Classes[class].Invalid == nil {
			host, stage := t.findPlanned(class)
			if host >= 0 {
				t.place(state.Binding{Class: class, Host: host, Count: t.bulkOn(class, host), Stage: stage})
			} else if !t.decideAndJoin(class) {
				break
			}
		}
	}
}

func fitsBeside(need, used, alloc []int64) bool {
	for d, n := range need {
		if n+used[d] > alloc[d] {
			return false
		}
	}
	return true
}

// stageOn is the class's first stage that allows the node, or -1.
func (t *Trial) stageOn(c *podclass.Class, mc *state.Node) int32 {
	as := nodepool.Assignment{Labels: mc.Labels}
	if t.awaitsReservation(c) && mc.Reservation(t.m.c.Pools) == "" {
		return -1
	}
	for _, st := range t.stagesFor(c) {
		if offers.Allows(&t.m.c.Stages[st], t.m.c.Pools, mc.Pool, int(mc.Row), int(mc.Slot), &as) {
			return st
		}
	}
	return -1
}
