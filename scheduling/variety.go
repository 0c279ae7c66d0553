package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// variety is one minValues of a NodePool: the machines' instance types must offer at least so many distinct values of
// the key.
type variety struct {
	key string
	n   int
}

func varietyOf(set requirements.Set) []variety {
	var out []variety
	for r := range set.All {
		if n := r.MinValues(); n != nil {
			out = append(out, variety{r.Key(), *n})
		}
	}
	return out
}

// varied reports whether the instance types that would do for the machine meet the pool's minValues. Only values count
// that the claim still allows and an available offering backs.
func (m *Model) varied(p *pool, mc *machine, rows, slots bitset.Set) bool {
	return m.variedFor(p, mc.row, mc.used, rows, slots)
}

// variedFor is varied for any load: need is what the types must hold. They take no more from the pool's limits than the
// planned one.
func (m *Model) variedFor(p *pool, planned int32, need []int64, rows, slots bitset.Set) bool {
	dims := m.resources.Len()
	var most []int64
	if p.limits != nil {
		most = p.rowCost(int(planned))
	}
	found := make([]map[string]bool, len(p.variety))
	for i := range found {
		found[i] = map[string]bool{}
	}
	met := 0
	c := p.table.catalog
	for r := range rows.Members {
		row := &p.table.rows[r]
		if !resources.Fits(need, p.table.allocOf(r, dims)) || most != nil && !resources.Fits(p.rowCost(r), most) {
			continue
		}
		labels := c.Types[c.Variants[row.variant].Type].Requirements
		for s := range row.slots.Members {
			if !slots.Has(s) || c.Price(row.variant, s) == market.NoPrice {
				continue
			}
			for i, v := range p.variety {
				have := labels
				if c.OfferingKeys[v.key] {
					have = c.Slots[s].Labels
				}
				before := len(found[i])
				for _, value := range have.Get(v.key).Values() {
					if p.template.Get(v.key).Has(value) {
						found[i][value] = true
					}
				}
				if before < v.n && len(found[i]) >= v.n {
					met++
				}
			}
			if met == len(p.variety) {
				return true
			}
		}
	}
	return met == len(p.variety)
}

// strictVariety reports whether the pool's minValues must be met now.
func (t *Trial) strictVariety(p *pool) bool {
	return len(p.variety) > 0 && !t.lenient
}

// robust are the rows of the profile on which a full machine would still leave enough variety: those that enough other
// types can stand in for. Made once per profile.
func (m *Model) robust(p *pool, f *profile) bitset.Set {
	if f.robust == nil {
		f.robust = f.rows.Clone()
		for r := range f.rows.Members {
			if !m.variedFor(p, int32(r), p.table.allocOf(r, m.resources.Len()), f.rows, f.slots) {
				f.robust.Remove(r)
			}
		}
	}
	return f.robust
}

// keepsVariety reports whether a new machine could take one more pod of the class at the stage and still leave the
// variety its pool asks for. With MinValuesBestEffort one that does not leave it as it is takes whatever fits.
func (t *Trial) keepsVariety(host int32, c *class, stage int32) bool {
	i := host - int32(len(t.m.nodes))
	if i < 0 || !t.strictVariety(t.m.pools[t.machines[i].pool]) {
		return true
	}
	mc := t.machines[i]
	mc.used = append([]int64(nil), mc.used...)
	resources.AddScaled(mc.used, c.requests, 1)
	loads := []binding{{class: int32(slices.Index(t.m.classes, c)), stage: stage}}
	for _, b := range t.placed {
		if b.host == host && b.count > 0 {
			loads = append(loads, b)
		}
	}
	rows, slots, _ := t.leeway(&mc, loads)
	return t.m.varied(t.m.pools[mc.pool], &mc, rows, slots) ||
		(t.options.MinValues == MinValuesBestEffort && len(loads) > 1 && !t.stillVaried(i, loads[1:]))
}

// settlesForLess reports whether pods of the class do without the variety that pools ask for, with MinValuesBestEffort:
// where not even a pod alone would have it, in the pool that they would be in anyway.
func (t *Trial) settlesForLess(class int32) bool {
	c := t.m.classes[class]
	stages := t.stagesFor(c)
	return len(stages) > 0 && !t.m.variedSomewhere(c.requests, stages[0])
}

// variedSomewhere reports whether some pool of the stage leaves one pod the variety that it asks for, or asks for none
// and has a machine for it.
func (m *Model) variedSomewhere(requests []int64, stage int32) bool {
	return slices.ContainsFunc(m.stages[stage].uses, func(u use) bool {
		p := m.pools[u.pool]
		f := &p.profiles[u.profile]
		if len(p.variety) == 0 || p.limits == nil {
			return m.holds(p, int(u.profile), requests) && m.variedFor(p, 0, requests, f.rows, f.slots)
		}
		for r := range f.rows.Members {
			if resources.Fits(requests, p.table.allocOf(r, m.resources.Len())) && m.variedFor(p, int32(r), requests, f.rows, f.slots) {
				return true
			}
		}
		return false
	})
}
