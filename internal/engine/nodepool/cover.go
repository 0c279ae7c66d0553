package nodepool

import "github.com/drawknife/drawknife/internal/engine/market"

// Coverable describes a new node of the pool for computing commitments.
func (p *Pool) Coverable(costs *market.Costs, row, slot int) *market.Covered {
	t := p.Table
	variant := t.Rows[row].Variant
	out := &market.Covered{InstanceType: t.Catalog.Types[t.Catalog.Variants[variant].Type].Name, Plain: t.Catalog.Price(variant, slot), By: make([]market.Coverage, len(costs.Commitments)), Rest: market.Whole}
	for k := range out.By {
		out.By[k] = t.Catalog.Cover(k, variant, slot)
	}
	return out
}
