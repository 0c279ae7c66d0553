package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// strictVariety reports whether the pool's minValues must be met now.
func (t *Trial) strictVariety(p *nodepool.Pool) bool {
	return len(p.Variety) > 0 && !t.lenient
}

// keepsVariety reports whether a new node could take one more pod of the class at the stage and still leave the
// variety its pool asks for. With MinValuesBestEffort one that does not leave it as it is takes whatever fits.
func (t *Trial) keepsVariety(host int32, c *podclass.Class, stage int32) bool {
	i := host - int32(len(t.m.c.Nodes))
	if i < 0 || !t.strictVariety(t.m.c.Pools[t.s.Planned[i].Pool]) {
		return true
	}
	mc := t.s.Planned[i]
	mc.Used = append([]int64(nil), mc.Used...)
	resources.AddScaled(mc.Used, c.Requests, 1)
	loads := []state.Binding{{Class: int32(slices.Index(t.m.c.Classes, c)), Stage: stage}}
	for _, b := range t.s.Placed {
		if b.Host == host && b.Count > 0 {
			loads = append(loads, b)
		}
	}
	rows, slots, _ := t.leeway(&mc, loads)
	return t.m.c.Pools[mc.Pool].VariedFor(mc.Row, mc.Used, rows, slots) ||
		(t.options.MinValues == MinValuesBestEffort && len(loads) > 1 && !t.stillVaried(i, loads[1:]))
}

// settlesForLess reports whether pods of the class do without the variety that pools ask for, with MinValuesBestEffort:
// where not even a pod alone would have it, in the pool that they would be in anyway.
func (t *Trial) settlesForLess(class int32) bool {
	c := t.m.c.Classes[class]
	stages := t.stagesFor(c)
	return len(stages) > 0 && !t.m.variedSomewhere(c.Requests, stages[0])
}

// variedSomewhere reports whether some pool of the stage leaves one pod the variety that it asks for, or asks for none
// and has a node for it.
func (m *Model) variedSomewhere(requests []int64, stage int32) bool {
	return slices.ContainsFunc(m.c.Stages[stage].Uses, func(u podclass.Use) bool {
		p := m.c.Pools[u.Pool]
		f := &p.Profiles[u.Profile]
		if len(p.Variety) == 0 || p.Limits == nil {
			return p.Holds(int(u.Profile), requests) && p.VariedFor(0, requests, f.Rows, f.Slots)
		}
		for r := range f.Rows.Members {
			if resources.Fits(requests, p.Table.AllocOf(r, m.c.Resources.Len())) && p.VariedFor(int32(r), requests, f.Rows, f.Slots) {
				return true
			}
		}
		return false
	})
}
