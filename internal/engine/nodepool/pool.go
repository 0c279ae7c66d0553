package nodepool

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Pool is a NodePool prepared for planning.
type Pool struct {
	Key    v1.PoolKey
	Object *v1.NodePool
	// Weight sorts pools, highest first. Pools of equal weight compete by price.
	Weight int32
	// NotReady says why the pool can't launch nodes. If it is set, Table is nil.
	NotReady string
	// CatalogName is the name of the pool's catalog in the model, or "" if the pool has none.
	CatalogName string
	Table       *Table
	// Rows and Slots meet the pool's own requirements.
	Rows, Slots bitset.Set
	// Template contains the requirements of every node of the pool: the pool's own requirements, its labels and the label with its name.
	Template requirements.Set
	Taints   []corev1.Taint
	Limits   *Limits
	// Variety contains the pool's minValues, sorted by key.
	Variety []Variety
	// Profiles are the distinct demands that pod classes have on this pool.
	Profiles []Profile
	byText   map[string]int
}

// Narrow removes the rows and slots that can't meet r. It ignores keys that no type or offering states.
func (p *Pool) Narrow(r requirements.Requirement, rows, slots bitset.Set) {
	c := p.Table.Catalog
	switch key := r.Key(); {
	case c.OfferingKeys[key]:
		slots.And(c.SlotMask(r))
	default:
		if _, stated := c.TypeKeys[key]; !stated {
			return
		}
		mask := c.VariantMask(r)
		for i := range rows.Members {
			if !mask.Has(p.Table.Rows[i].Variant) {
				rows.Remove(i)
			}
		}
	}
}

// LeftOpen reports whether the value of the key can differ between nodes of the pool that have the same type and offering.
func (p *Pool) LeftOpen(key string) bool {
	c := p.Table.Catalog
	if c.OfferingKeys[key] {
		return false
	}
	if multi, stated := c.TypeKeys[key]; stated {
		return multi
	}
	return p.Template.Has(key) && !match.SingleValued(p.Template.Get(key))
}

// Open sets Rows and Slots to those that meet the pool's own requirements and can be bought.
func (p *Pool) Open() {
	p.Rows, p.Slots = bitset.Full(len(p.Table.Rows)), p.Table.Catalog.AllSlots.Clone()
	for r := range p.Template.All {
		p.Narrow(r, p.Rows, p.Slots)
	}
	for i := range p.Table.Rows {
		if p.Rows.Has(i) && !p.Table.sellable(i, p.Slots) {
			p.Rows.Remove(i)
		}
	}
}

// CheapestLike returns the cheapest of the given rows and slots that has room for need and uses no more of the pool's limits than the
// planned row. If no row is suitable, row is -1.
func (p *Pool) CheapestLike(planned int32, need []int64, rows, slots bitset.Set) (row, slot int32, price int64) {
	if p.Limits != nil {
		return p.CheapestWithin(need, rows, slots, p.RowCost(int(planned)))
	}
	return p.CheapestWithin(need, rows, slots, nil)
}

// CheapestWithin is like CheapestLike, but the parameter most is the maximum that the row may use of the pool's limits, by resource. If
// most is nil, the row may use any amount.
func (p *Pool) CheapestWithin(need []int64, rows, slots bitset.Set, most []int64) (row, slot int32, price int64) {
	return p.Table.CheapestWith(need, rows, slots, market.NoPrice, func(buy Purchase) bool {
		return most == nil || resources.Fits(p.RowCost(int(buy.Row)), most)
	})
}

// SellsLike reports whether both pools launch the same nodes with the same labels, except for the pool's name, and neither has limits.
func (p *Pool) SellsLike(o *Pool) bool {
	return p.Table == o.Table && p.Limits == nil && o.Limits == nil && p.Key.Generation == o.Key.Generation &&
		slices.Equal(p.Rows, o.Rows) && slices.Equal(p.Slots, o.Slots) &&
		p.Template.Without(p.Key.LabelKey()).Equal(o.Template.Without(o.Key.LabelKey()))
}
