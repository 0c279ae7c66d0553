package nodepool

import (
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Variety is one of a NodePool's minValues: the instance types of a NodeClaim must have at least this number of distinct values of the key.
type Variety struct {
	Key string
	N   int
}

// VarietyOf returns the minValues that the requirements state, sorted by key.
func VarietyOf(set requirements.Set) []Variety {
	var out []Variety
	for r := range set.All {
		if n := r.MinValues(); n != nil {
			out = append(out, Variety{r.Key(), *n})
		}
	}
	return out
}

// VariedFor reports whether the instance types that are in rows and slots and have room for need meet the pool's minValues. A value counts
// only if the NodeClaim still allows it and an available offering has it. The types must use no more of the pool's limits than the planned
// row.
func (p *Pool) VariedFor(planned int32, need []int64, rows, slots bitset.Set) bool {
	if p.Limits == nil {
		return p.variedWithin(need, rows, slots, nil)
	}
	return p.variedWithin(need, rows, slots, p.RowCost(int(planned)))
}

// variedWithin is like VariedFor, but leaves out types that use more of the pool's limits than the parameter most allows. A nil value of
// this parameter means no restriction.
func (p *Pool) variedWithin(need []int64, rows, slots bitset.Set, most []int64) bool {
	found := make([]map[string]bool, len(p.Variety))
	for i := range found {
		found[i] = map[string]bool{}
	}
	met := 0
	c := p.Table.Catalog
	for r := range rows.Members {
		row := &p.Table.Rows[r]
		if !resources.Fits(need, p.Table.AllocOf(r, len(need))) || most != nil && !resources.Fits(p.RowCost(r), most) {
			continue
		}
		labels := c.Types[c.Variants[row.Variant].Type].Requirements
		for s := range row.Slots.Members {
			if !slots.Has(s) || c.Price(row.Variant, s) == market.NoPrice {
				continue
			}
			for i, v := range p.Variety {
				have := labels
				if c.OfferingKeys[v.Key] {
					have = c.Slots[s].Labels
				}
				before := len(found[i])
				for _, value := range have.Get(v.Key).Values() {
					if p.Template.Get(v.Key).Has(value) {
						found[i][value] = true
					}
				}
				if before < v.N && len(found[i]) >= v.N {
					met++
				}
			}
			if met == len(p.Variety) {
				return true
			}
		}
	}
	return met == len(p.Variety)
}

// VarietyLeft returns, for each of the pool's minValues, the number of values that VariedFor finds.
func (p *Pool) VarietyLeft(planned int32, need []int64, rows, slots bitset.Set) []int {
	var most []int64
	if p.Limits != nil {
		most = p.RowCost(int(planned))
	}
	c := p.Table.Catalog
	out := make([]int, len(p.Variety))
	for i, v := range p.Variety {
		found := map[string]bool{}
		for r := range rows.Members {
			row := &p.Table.Rows[r]
			if !resources.Fits(need, p.Table.AllocOf(r, len(need))) || most != nil && !resources.Fits(p.RowCost(r), most) {
				continue
			}
			for s := range row.Slots.Members {
				if !slots.Has(s) || c.Price(row.Variant, s) == market.NoPrice {
					continue
				}
				have := c.Types[c.Variants[row.Variant].Type].Requirements
				if c.OfferingKeys[v.Key] {
					have = c.Slots[s].Labels
				}
				for _, value := range have.Get(v.Key).Values() {
					if p.Template.Get(v.Key).Has(value) {
						found[value] = true
					}
				}
			}
		}
		out[i] = len(found)
	}
	return out
}

// FindRobust finds, for each profile, the rows on which even a full node meets minValues, because enough other types can replace it.
func (p *Pool) FindRobust(dims int) {
	if len(p.Variety) == 0 {
		return
	}
	for i := range p.Profiles {
		f := &p.Profiles[i]
		if f.Robust != nil {
			continue
		}
		f.Robust = f.Rows.Clone()
		for r := range f.Rows.Members {
			if !p.VariedFor(int32(r), p.Table.AllocOf(r, dims), f.Rows, f.Slots) {
				f.Robust.Remove(r)
			}
		}
	}
}
