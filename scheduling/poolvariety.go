package scheduling

import (
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

// variedFor reports whether the instance types that would do for a node, those with room for the need, meet the pool's minValues. Only
// values count that the claim still allows and an available offering backs. The types take no more from the pool's limits than the
// planned row.
func (p *pool) variedFor(planned int32, need []int64, rows, slots bitset.Set) bool {
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
		if !resources.Fits(need, p.table.allocOf(r, len(need))) || most != nil && !resources.Fits(p.rowCost(r), most) {
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

// varietyLeft is, for each minValues of the pool, how many values variedFor finds.
func (p *pool) varietyLeft(planned int32, need []int64, rows, slots bitset.Set) []int {
	var most []int64
	if p.limits != nil {
		most = p.rowCost(int(planned))
	}
	c := p.table.catalog
	out := make([]int, len(p.variety))
	for i, v := range p.variety {
		found := map[string]bool{}
		for r := range rows.Members {
			row := &p.table.rows[r]
			if !resources.Fits(need, p.table.allocOf(r, len(need))) || most != nil && !resources.Fits(p.rowCost(r), most) {
				continue
			}
			for s := range row.slots.Members {
				if !slots.Has(s) || c.Price(row.variant, s) == market.NoPrice {
					continue
				}
				have := c.Types[c.Variants[row.variant].Type].Requirements
				if c.OfferingKeys[v.key] {
					have = c.Slots[s].Labels
				}
				for _, value := range have.Get(v.key).Values() {
					if p.template.Get(v.key).Has(value) {
						found[value] = true
					}
				}
			}
		}
		out[i] = len(found)
	}
	return out
}

// findRobust notes the rows of each profile on which a full node would still leave enough variety: those that enough other
// types can stand in for.
func (p *pool) findRobust(dims int) {
	if len(p.variety) == 0 {
		return
	}
	for i := range p.profiles {
		f := &p.profiles[i]
		if f.robust != nil {
			continue
		}
		f.robust = f.rows.Clone()
		for r := range f.rows.Members {
			if !p.variedFor(int32(r), p.table.allocOf(r, dims), f.rows, f.slots) {
				f.robust.Remove(r)
			}
		}
	}
}
