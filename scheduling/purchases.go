package scheduling

import (
	"cmp"
	"slices"
	"sync"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// purchase is a row of a table bought in one of its slots.
type purchase struct{ row, slot int32 }

// purchases are sorted when somebody first asks.
type purchases struct {
	once sync.Once
	list []purchase
	// room finds those with room for pods, by their number in the list.
	room resources.MaxTree
}

// cheapestFirst are all purchases with a price: the cheapest first, of equal prices what leaves most for pods. The caller must
// not change them.
func (t *table) cheapestFirst(dims int) []purchase {
	return t.ordered(dims).list
}

// ordered are they with what finds those that have room.
func (t *table) ordered(dims int) *purchases {
	t.inOrder.once.Do(func() {
		for r := range t.rows {
			prices := t.catalog.PricesOf(t.rows[r].variant)
			for s := range t.rows[r].slots.Members {
				if prices[s] != market.NoPrice {
					t.inOrder.list = append(t.inOrder.list, purchase{int32(r), int32(s)})
				}
			}
		}
		price := func(p purchase) int64 { return t.catalog.Price(t.rows[p.row].variant, int(p.slot)) }
		slices.SortFunc(t.inOrder.list, func(a, b purchase) int {
			if d := cmp.Compare(price(a), price(b)); d != 0 {
				return d
			}
			if d := slices.Compare(t.allocOf(int(b.row), dims), t.allocOf(int(a.row), dims)); d != 0 {
				return d
			}
			return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.slot, b.slot))
		})
		t.inOrder.room = resources.NewMaxTree(len(t.inOrder.list), dims)
		for i, p := range t.inOrder.list {
			copy(t.inOrder.room.Leaf(i), t.allocOf(int(p.row), dims))
		}
		t.inOrder.room.PullAll()
	})
	return t.inOrder
}

// cheapestWith is the cheapest purchase of the rows and slots that has room for the need, costs less than below and that take
// says yes to: of equal prices the first row, and of its slots the first; row -1 if there is none.
func (t *table) cheapestWith(need []int64, rows, slots bitset.Set, below int64, take func(purchase) bool) (row, slot int32, price int64) {
	row, slot, price = -1, -1, market.NoPrice
	in := t.ordered(len(need))
	for i := in.room.Next(need, 0); i >= 0; i = in.room.Next(need, i+1) {
		p := in.list[i]
		if !rows.Has(int(p.row)) || !slots.Has(int(p.slot)) {
			continue
		}
		at := t.catalog.Price(t.rows[p.row].variant, int(p.slot))
		if at >= below || at > price {
			break
		}
		if at == price && (p.row > row || (p.row == row && p.slot > slot)) {
			continue
		}
		if take(p) {
			row, slot, price = p.row, p.slot, at
		}
	}
	return row, slot, price
}
