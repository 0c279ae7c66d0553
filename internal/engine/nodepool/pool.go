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
	// Weight orders pools, the highest first; pools of equal weight compete by price.
	Weight int32
	// NotReady says why the pool launches nothing; then Table is nil.
	NotReady string
	// CatalogName is the name of the pool's catalog in the model; empty for none.
	CatalogName string
	Table       *Table
	// Rows and Slots meet the pool's own requirements.
	Rows, Slots bitset.Set
	// Template contains the labels and requirements that every node of the pool has: requirements, labels and pool label.
	Template requirements.Set
	Taints   []corev1.Taint
	Limits   *Limits
	// Variety contains the pool's minValues, by key.
	Variety []Variety
	// Profiles are the distinct demands of pod classes on this pool.
	Profiles []Profile
	byText   map[string]int
}

// Narrow removes the rows and slots that can't meet r; it ignores keys that no node states.
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

// LeftOpen reports whether the key's value can still differ between nodes of the pool with the same type and offering.
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

// Open finds the rows and slots of the pool's table that meet its own requirements and are on sale.
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

// CheapestLike returns the cheapest row and slot, of those given, with room for the need that take no more from the pool's limits than the
// planned row; row -1 if there are none.
func (p *Pool) CheapestLike(planned int32, need []int64, rows, slots bitset.Set) (row, slot int32, price int64) {
	if p.Limits != nil {
		return p.CheapestWithin(need, rows, slots, p.RowCost(int(planned)))
	}
	return p.CheapestWithin(need, rows, slots, nil)
}

// CheapestWithin is CheapestLike with the given maximum to take from the pool's limits; nil for any amount.
func (p *Pool) CheapestWithin(need []int64, rows, slots bitset.Set, most []int64) (row, slot int32, price int64) {
	return p.Table.CheapestWith(need, rows, slots, market.NoPrice, func(buy Purchase) bool {
		return most == nil || resources.Fits(p.RowCost(int(buy.Row)), most)
	})
}

// SellsLike reports whether both pools sell the same nodes with the same labels, except for the pool's name, and have no limits.
func (p *Pool) SellsLike(o *Pool) bool {
	return p.Table == o.Table && p.Limits == nil && o.Limits == nil && p.Key.Generation == o.Key.Generation &&
		slices.Equal(p.Rows, o.Rows) && slices.Equal(p.Slots, o.Slots) &&
		p.Template.Without(p.Key.LabelKey()).Equal(o.Template.Without(o.Key.LabelKey()))
}
