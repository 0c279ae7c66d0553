package nodepool

import (
	"fmt"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// CheapestVaried is like CheapestWithin, but returns a row with which the claim meets the pool's minValues. If the pool has limits, this
// may not be the cheapest row. A NodeClaim lists only types that use no more of the pool's limits than the planned row. So the row must be
// at least as large as the types that are needed for minValues.
func (p *Pool) CheapestVaried(need []int64, rows, slots bitset.Set, most []int64) (row, slot int32, price int64) {
	if !p.variedWithin(need, rows, slots, most) {
		return -1, -1, market.NoPrice
	}
	known := map[string]bool{}
	return p.Table.CheapestWith(need, rows, slots, market.NoPrice, func(buy Purchase) bool {
		if p.Limits == nil {
			return true
		}
		cost := p.RowCost(int(buy.Row))
		if most != nil && !resources.Fits(cost, most) {
			return false
		}
		text := fmt.Sprint(cost)
		varied, seen := known[text]
		if !seen {
			varied = p.variedWithin(need, rows, slots, cost)
			known[text] = varied
		}
		return varied
	})
}
