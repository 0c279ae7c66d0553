package placing

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// KeepsVariety reports whether a new node could take one more pod of the class at the stage and still meet its pool's minValues. With
// MinValuesBestEffort, a node that does not meet minValues accepts all pods that fit.
func (t Growth) KeepsVariety(host int32, c *podclass.Class, stage int32) bool {
	i := host - int32(len(t.M.Nodes))
	if i < 0 || !t.StrictVariety(t.M.Pools[t.S.Planned[i].Pool]) {
		return true
	}
	mc := t.S.Planned[i]
	mc.Used = append([]int64(nil), mc.Used...)
	resources.AddScaled(mc.Used, c.Requests, 1)
	loads := []state.Binding{{Class: int32(slices.Index(t.M.Classes, c)), Stage: stage}}
	for _, b := range t.S.Placed.All {
		if b.Host == host && b.Count > 0 {
			loads = append(loads, b)
		}
	}
	rows, slots, _ := newnodes.Of(t.Trial).FindAllowed(&mc, loads)
	return t.M.Pools[mc.Pool].VariedFor(mc.Row, mc.Used, rows, slots) ||
		(t.Options.MinValues == planning.MinValuesBestEffort && len(loads) > 1 && !t.StillVaried(i, loads[1:]))
}

// SettlesForLess reports whether pods of the class may be placed without meeting minValues. This is so with MinValuesBestEffort, if even a
// single pod could not meet minValues in the pool that it would use anyway.
func (t Growth) SettlesForLess(class int32) bool {
	c := t.M.Classes[class]
	stages := t.StagesFor(c)
	return len(stages) > 0 && !variedSomewhere(t.M, c.Requests, stages[0])
}

// variedSomewhere reports whether some pool of the stage has a node for one pod and meets its minValues with it.
func variedSomewhere(m *model.Model, requests []int64, stage int32) bool {
	return slices.ContainsFunc(m.Stages[stage].Uses, func(u podclass.Use) bool {
		p := m.Pools[u.Pool]
		f := &p.Profiles[u.Profile]
		if len(p.Variety) == 0 || p.Limits == nil {
			return p.Holds(int(u.Profile), requests) && p.VariedFor(0, requests, f.Rows, f.Slots)
		}
		for r := range f.Rows.Members {
			if resources.Fits(requests, p.Table.AllocOf(r, m.Resources.Len())) && p.VariedFor(int32(r), requests, f.Rows, f.Slots) {
				return true
			}
		}
		return false
	})
}
