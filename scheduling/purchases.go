package scheduling

import (
	"cmp"
	"slices"
	"sync"
)

// purchase is a row of a table bought in one of its slots.
type purchase struct{ row, slot int32 }

// purchases are sorted when somebody first asks.
type purchases struct {
	once sync.Once
	list []purchase
}

// cheapestFirst are all purchases with a price: the cheapest first, of equal prices what leaves most for pods. The caller must
// not change them.
func (t *table) cheapestFirst(dims int) []purchase {
	t.inOrder.once.Do(func() {
		for r := range t.rows {
			prices := t.catalog.pricesOf(t.rows[r].variant)
			for s := range t.rows[r].slots.members {
				if prices[s] != noPrice {
					t.inOrder.list = append(t.inOrder.list, purchase{int32(r), int32(s)})
				}
			}
		}
		price := func(p purchase) int64 { return t.catalog.price(t.rows[p.row].variant, int(p.slot)) }
		slices.SortFunc(t.inOrder.list, func(a, b purchase) int {
			if d := cmp.Compare(price(a), price(b)); d != 0 {
				return d
			}
			if d := slices.Compare(t.allocOf(int(b.row), dims), t.allocOf(int(a.row), dims)); d != 0 {
				return d
			}
			return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.slot, b.slot))
		})
	})
	return t.inOrder.list
}
