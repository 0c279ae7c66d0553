package placing

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

// PlaceSingly places the remaining pods one by one, by the exact rules, on any existing node, or otherwise on a new node. It repeats this
// until no more pods find a place. So if a pod stays pending, it fits nowhere.
func (t Placing) PlaceSingly(ctx context.Context, c *layout.Cells, classes []int32) {
	order := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		return t.S.Waiting[class] == 0 || t.M.Classes[class].Invalid != nil
	})
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(t.M.Classes[b].Priority, t.M.Classes[a].Priority)
	})
	for progress := true; progress && ctx.Err() == nil; {
		progress = false
		for _, class := range order {
			for t.S.Waiting[class] > 0 && ctx.Err() == nil && t.placeOne(c, class) {
				progress = true
			}
		}
		order = slices.DeleteFunc(order, func(class int32) bool { return t.S.Waiting[class] == 0 })
		if t.S.Topology == nil {
			return // without rules between pods, a pod that has no place now gets none after other pods were placed
		}
	}
}

// placeOne places pods of the class on the first host that takes a pod of the class, or on a new node. If no rule concerns the class, it
// places as many pods as the host takes. If a rule concerns the class, it places one pod.
func (t Placing) placeOne(c *layout.Cells, class int32) bool {
	if host, stage := t.FindHost(class); host >= 0 {
		t.Add(state.Binding{Class: class, Host: host, Count: t.BulkOn(class, host), Stage: stage, Tight: SpreadsOf(t.Trial).Tightly(class)})
		return true
	}
	if GrowthOf(t.Trial).decideAndJoin(class) {
		return true
	}
	if t.Options.ExistingOnly {
		return false
	}
	s := SitesOf(t.Trial).FindSite(c, class)
	if s == nil {
		s = SitesOf(t.Trial).FindVariedSite(c, class)
	}
	if s == nil {
		return GrowthOf(t.Trial).grow(class)
	}
	host := t.S.Open(state.Node{Pool: s.Pool, Row: s.Row, Slot: s.Slot, Price: s.Price, Labels: t.Assignments[s.Stage][s.Pool][s.Assign].Labels})
	t.Add(state.Binding{Class: class, Host: host, Count: t.BulkOn(class, host), Stage: s.Stage, Tight: SpreadsOf(t.Trial).Tightly(class)})
	return true
}

// BulkOn returns how many pods of the class can be placed on the host at once.
func (t Placing) BulkOn(class, host int32) int32 {
	c := t.M.Classes[class]
	if i := host - int32(len(t.M.Nodes)); c.Topology != nil || (i >= 0 && t.StrictVariety(t.M.Pools[t.S.Planned[i].Pool])) {
		return 1
	}
	return max(int32(resources.HowMany(c.Requests, t.S.RoomOf(host), int(t.S.Waiting[class]))), 1)
}

// FindHost returns the first host that takes a pod of the class, and the stage. Nodes of the snapshot are tried first, in their order, then
// new nodes.
func (t Placing) FindHost(class int32) (host, stage int32) {
	m := t.M
	c := m.Classes[class]
	for i := range t.S.Room.Usable.Members {
		if t.NewOnly {
			break
		}
		if resources.Fits(t.S.Volumes.NeedOn(c, int32(i)), t.S.Room.Of(int32(i))) && m.Fits.Accepts(m.Nodes[i].Group, c.Shape) && t.S.Admits(c, int32(i)) {
			return int32(i), -1
		}
	}
	return t.findPlanned(class)
}

// findPlanned returns the first new node that takes a pod of the class, and the stage that allows it. host is -1 if no new node takes a pod
// of the class.
func (t Placing) findPlanned(class int32) (host, stage int32) {
	m := t.M
	c := m.Classes[class]
	dims := m.Resources.Len()
	for i := range t.S.Planned {
		mc := &t.S.Planned[i]
		if i < t.Fresh || mc.Empty() || !FitsWith(t.S.Volumes.NeedOn(c, int32(len(m.Nodes)+i)), mc.Used, m.Pools[mc.Pool].Table.AllocOf(int(mc.Row), dims)) {
			continue
		}
		if stage := t.StageOn(c, mc); stage >= 0 && t.S.Admits(c, int32(len(m.Nodes)+i)) && GrowthOf(t.Trial).KeepsVariety(int32(len(m.Nodes)+i), c, stage) {
			return int32(len(m.Nodes) + i), stage
		}
	}
	return -1, -1
}

// FillPlanned places pods on new nodes that are already open. It is called for pods that are placed after all other pods, so they use only
// room that would stay free.
func (t Placing) FillPlanned(classes []int32) {
	for _, class := range classes {
		for t.S.Waiting[class] > 0 && t.M.Classes[class].Invalid == nil {
			host, stage := t.findPlanned(class)
			if host >= 0 {
				t.Add(state.Binding{Class: class, Host: host, Count: t.BulkOn(class, host), Stage: stage})
			} else if !GrowthOf(t.Trial).decideAndJoin(class) {
				break
			}
		}
	}
}

// FitsWith reports whether the need fits into alloc in addition to used.
func FitsWith(need, used, alloc []int64) bool {
	for d, n := range need {
		if n+used[d] > alloc[d] {
			return false
		}
	}
	return true
}

// StageOn returns the class's first stage that allows the node, or -1.
func (t Placing) StageOn(c *podclass.Class, mc *state.Node) int32 {
	if t.AwaitsReservation(c) && mc.Reservation(t.M.Pools) == "" {
		return -1
	}
	return t.StageAllowing(c, mc)
}

// StageAllowing does the same as StageOn for pods that need not wait for a reservation. A gang in a domain without reservations does not
// wait for a reservation, even if its pods alone would.
func (t Placing) StageAllowing(c *podclass.Class, mc *state.Node) int32 {
	as := nodepool.Assignment{Labels: mc.Labels}
	for _, st := range t.StagesFor(c) {
		if offers.Allows(&t.M.Stages[st], t.M.Pools, mc.Pool, int(mc.Row), int(mc.Slot), &as) {
			return st
		}
	}
	return -1
}
