package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// pool is a NodePool made ready for planning.
type pool struct {
	key    v1.PoolKey
	object *v1.NodePool
	// weight, the higher the sooner; pools of one weight compete by price.
	weight int32
	// notReady says why the pool launches nothing; then table is nil.
	notReady string
	// catalogName is the pool's catalog's in Model.catalogs; empty for none.
	catalogName string
	table       *table
	// rows and slots meet the pool's own requirements.
	rows, slots bitset.Set
	// template is what every machine of the pool is known to carry: requirements, labels and pool label.
	template requirements.Set
	taints   []corev1.Taint
	limits   *limits
	// variety is what the pool's minValues ask for, by key.
	variety []variety
	// profiles are the distinct demands of pod classes on this pool.
	profiles []profile
	byText   map[string]int
}

// narrow strikes the rows and slots that can't meet r; keys no machine states are none of its business.
func (p *pool) narrow(r requirements.Requirement, rows, slots bitset.Set) {
	c := p.table.catalog
	switch key := r.Key(); {
	case c.OfferingKeys[key]:
		slots.And(c.SlotMask(r))
	default:
		if _, stated := c.TypeKeys[key]; !stated {
			return
		}
		mask := c.VariantMask(r)
		for i := range rows.Members {
			if !mask.Has(p.table.rows[i].variant) {
				rows.Remove(i)
			}
		}
	}
}

// leftOpen reports whether machines of the pool may end with different values for the key although pool, type and
// offering are fixed.
func (p *pool) leftOpen(key string) bool {
	c := p.table.catalog
	if c.OfferingKeys[key] {
		return false
	}
	if multi, stated := c.TypeKeys[key]; stated {
		return multi
	}
	return p.template.Has(key) && !match.SingleValued(p.template.Get(key))
}

// open finds the rows and slots of the pool's table that meet its own requirements and are on sale.
func (p *pool) open() {
	p.rows, p.slots = bitset.Full(len(p.table.rows)), p.table.catalog.AllSlots.Clone()
	for r := range p.template.All {
		p.narrow(r, p.rows, p.slots)
	}
	for i := range p.table.rows {
		if p.rows.Has(i) && !p.table.sellable(i, p.slots) {
			p.rows.Remove(i)
		}
	}
}

// cheapestLike is the cheapest row and slot of those given that have room for the need and take no more from the pool's
// limits than the planned row; row -1 if there is none.
func (p *pool) cheapestLike(planned int32, need []int64, rows, slots bitset.Set) (row, slot int32, price int64) {
	if p.limits != nil {
		return p.cheapestWithin(need, rows, slots, p.rowCost(int(planned)))
	}
	return p.cheapestWithin(need, rows, slots, nil)
}

// cheapestWithin is cheapestLike with the most it may take from the pool's limits given; nil for any amount.
func (p *pool) cheapestWithin(need []int64, rows, slots bitset.Set, most []int64) (row, slot int32, price int64) {
	return p.table.cheapestWith(need, rows, slots, market.NoPrice, func(buy purchase) bool {
		return most == nil || resources.Fits(p.rowCost(int(buy.row)), most)
	})
}
