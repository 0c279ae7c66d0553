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
)

// placeSingly looks for places pod by pod, by the exact rules, for what placing in bulk has left: on any machine there
// is, else on a new one. It goes round until nothing finds a place any more, so that a pod left waiting fits nowhere.
func (t *Trial) placeSingly(ctx context.Context, c *layout.Cells, classes []int32) {
	order := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		return t.waiting[class] == 0 || t.m.classes[class].Invalid != nil
	})
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(t.m.classes[b].Priority, t.m.classes[a].Priority)
	})
	for progress := true; progress && ctx.Err() == nil; {
		progress = false
		for _, class := range order {
			for t.waiting[class] > 0 && ctx.Err() == nil && t.placeOne(c, class) {
				progress = true
			}
		}
		order = slices.DeleteFunc(order, func(class int32) bool { return t.waiting[class] == 0 })
		if t.topology == nil {
			return // nothing that others do can help
		}
	}
}

// placeOne places pods of the class on one host: as many as the first host found takes, if no rule concerns them, else
// one.
func (t *Trial) placeOne(c *layout.Cells, class int32) bool {
	if host, stage := t.findHost(class); host >= 0 {
		t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: stage, tight: t.tightly(class)})
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
	host := t.open(machine{pool: s.Pool, row: s.Row, slot: s.Slot, price: s.Price, labels: t.assigned[s.Stage][s.Pool][s.Assign].Labels})
	t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: s.Stage, tight: t.tightly(class)})
	return true
}

// bulkOn is how many pods of the class go on the host at once.
func (t *Trial) bulkOn(class, host int32) int32 {
	c := t.m.classes[class]
	if i := host - int32(len(t.m.nodes)); c.Topology != nil || (i >= 0 && t.strictVariety(t.m.pools[t.machines[i].pool])) {
		return 1
	}
	return max(int32(resources.HowMany(c.Requests, t.roomOf(host), int(t.waiting[class]))), 1)
}

// Room is what is free on a host; good until the next call.
func (t *Trial) roomOf(host int32) []int64 {
	if host < int32(len(t.m.nodes)) {
		return t.freeOf(host)
	}
	mc := t.newNode(host)
	alloc := t.m.pools[mc.pool].Table.AllocOf(int(mc.row), t.m.resources.Len())
	t.roomLeft = t.roomLeft[:0]
	for d := range alloc {
		t.roomLeft = append(t.roomLeft, alloc[d]-mc.used[d])
	}
	return t.roomLeft
}

// findHost is the first host that takes a pod of the class: nodes of the snapshot in their order, then new ones.
func (t *Trial) findHost(class int32) (host, stage int32) {
	m := t.m
	c := m.classes[class]
	for i := range t.usable.Members {
		if t.newOnly {
			break
		}
		if resources.Fits(t.needOn(c, int32(i)), t.freeOf(int32(i))) && m.fits.Accepts(m.nodes[i].Group, c.Shape) && t.admits(c, int32(i)) {
			return int32(i), -1
		}
	}
	return t.findMachine(class)
}

// findMachine is the first new node that takes a pod of the class, and the stage that allows it; -1 if none does.
func (t *Trial) findMachine(class int32) (host, stage int32) {
	m := t.m
	c := m.classes[class]
	dims := m.resources.Len()
	for i := range t.machines {
		mc := &t.machines[i]
		if i < t.fresh || mc.empty() || !fitsBeside(t.needOn(c, int32(len(m.nodes)+i)), mc.used, m.pools[mc.pool].Table.AllocOf(int(mc.row), dims)) {
			continue
		}
		if stage := t.stageOn(c, mc); stage >= 0 && t.admits(c, int32(len(m.nodes)+i)) && t.keepsVariety(int32(len(m.nodes)+i), c, stage) {
			return int32(len(m.nodes) + i), stage
		}
	}
	return -1, -1
}

// fillPlanned places pods on nodes planned before: for pods that come after others, room there costs nothing.
func (t *Trial) fillPlanned(classes []int32) {
	for _, class := range classes {
		for t.waiting[class] > 0 && t.m.classes[class].Invalid == nil {
			host, stage := t.findMachine(class)
			if host >= 0 {
				t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: stage})
			} else if !t.decideAndJoin(class) {
				break
			}
		}
	}
}

// spare is the most that a node may take from its pool's limits in place of mc; nil for no limit.
func (t *Trial) spare(mc *machine) []int64 {
	p := t.m.pools[mc.pool]
	if p.Limits == nil {
		return nil
	}
	most := slices.Clone(p.RowCost(int(mc.row)))
	for i, used := range t.usage[mc.pool] {
		most[i] += max(p.Limits.Max[i]-used, 0)
	}
	return most
}

func fitsBeside(need, used, alloc []int64) bool {
	for d, n := range need {
		if n+used[d] > alloc[d] {
			return false
		}
	}
	return true
}

func (t *Trial) admits(c *podclass.Class, host int32) bool {
	return t.topology == nil || t.topology.Admits(c.Topology, c.Shape, host)
}

// stageOn is the class's first stage that allows the node, or -1.
func (t *Trial) stageOn(c *podclass.Class, mc *machine) int32 {
	as := nodepool.Assignment{Labels: mc.labels}
	if t.awaitsReservation(c) && t.m.reservationOf(mc.pool, mc.slot) == "" {
		return -1
	}
	for _, st := range t.stagesFor(c) {
		if offers.Allows(&t.m.stages[st], t.m.pools, mc.pool, int(mc.row), int(mc.slot), &as) {
			return st
		}
	}
	return -1
}
