package placing

import (
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Fill places pending pods on the new nodes that are already open, by the same rules as Move, in the order of the nodes' numbers. It
// returns the number of pods that are still pending.
func (t Placing) Fill(q planning.Query) (left int) {
	t.Options = planning.PlaceOptions{Query: q}
	classes := t.WaitingClasses()
	for progress := true; progress; {
		progress = false
		for _, class := range classes {
			if c := t.M.Classes[class]; c.Invalid == nil && t.fillWith(class, c) {
				progress = c.Topology != nil
			}
		}
	}
	for _, c := range classes {
		left += int(t.S.Waiting[c])
	}
	return left
}

// fillWith places pods of the class on new nodes. It returns false if it placed no pod.
func (t Placing) fillWith(class int32, c *podclass.Class) bool {
	filled, dims := false, t.M.Resources.Len()
	for i := range t.S.Planned {
		mc := &t.S.Planned[i]
		if t.S.Waiting[class] == 0 {
			break
		}
		alloc := t.M.Pools[mc.Pool].Table.AllocOf(int(mc.Row), dims)
		if mc.Empty() || !FitsWith(c.Unshared(), mc.Used, alloc) {
			continue
		}
		host := int32(len(t.M.Nodes) + i)
		stage := t.StageOn(c, mc)
		for stage >= 0 && t.S.Waiting[class] > 0 && FitsWith(t.S.Volumes.NeedOn(c, host), mc.Used, alloc) && t.S.Admits(c, host) && GrowthOf(t.Trial).KeepsVariety(host, c, stage) {
			t.Add(state.Binding{Class: class, Host: host, Count: min(t.BulkOn(class, host), t.S.Waiting[class]), Stage: stage, Tight: SpreadsOf(t.Trial).Tightly(class)})
			filled = true
		}
	}
	return filled
}
