package nodepool

import (
	"cmp"
	"slices"
	"sync"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Purchase is a row of a table that is bought in one of its slots.
type Purchase struct{ Row, Slot int32 }

// Purchases lists the ways to buy a node of a table. The list is sorted when it is first needed.
type Purchases struct {
	once sync.Once
	// List is sorted by price. Of purchases with equal prices, the purchase with the most room for pods comes first.
	List []Purchase
	// room finds the purchases that have room for pods. It uses the indexes of List.
	room resources.MaxTree
}

// CheapestFirst returns all purchases with a price, cheapest first. Of equally cheap purchases, the one with the most room for pods comes
// first. The caller must not change the result.
func (t *Table) CheapestFirst(dims int) []Purchase {
	return t.Ordered(dims).List
}

// Ordered returns the purchases in the order of CheapestFirst, with a tree that finds the purchases with enough room.
func (t *Table) Ordered(dims int) *Purchases {
	t.InOrder.once.Do(func() {
		for r := range t.Rows {
			prices := t.Catalog.PricesOf(t.Rows[r].Variant)
			for s := range t.Rows[r].Slots.Members {
				if prices[s] != market.NoPrice {
					t.InOrder.List = append(t.InOrder.List, Purchase{int32(r), int32(s)})
				}
			}
		}
		price := func(p Purchase) int64 { return t.Catalog.Price(t.Rows[p.Row].Variant, int(p.Slot)) }
		slices.SortFunc(t.InOrder.List, func(a, b Purchase) int {
			if d := cmp.Compare(price(a), price(b)); d != 0 {
				return d
			}
			if d := slices.Compare(t.AllocOf(int(b.Row), dims), t.AllocOf(int(a.Row), dims)); d != 0 {
				return d
			}
			return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Slot, b.Slot))
		})
		t.InOrder.room = resources.NewMaxTree(len(t.InOrder.List), dims)
		for i, p := range t.InOrder.List {
			copy(t.InOrder.room.Leaf(i), t.AllocOf(int(p.Row), dims))
		}
		t.InOrder.room.PullAll()
	})
	return t.InOrder
}

// CheapestWith returns the cheapest purchase of the rows and slots that has room for need, costs less than the parameter below, and is
// accepted by the function take. Of equally cheap purchases it returns the first row, and the first of its slots. If no purchase is
// suitable, row is -1.
func (t *Table) CheapestWith(need []int64, rows, slots bitset.Set, below int64, take func(Purchase) bool) (row, slot int32, price int64) {
	row, slot, price = -1, -1, market.NoPrice
	in := t.Ordered(len(need))
	for i := in.Next(need, 0); i >= 0; i = in.Next(need, i+1) {
		p := in.List[i]
		if !rows.Has(int(p.Row)) || !slots.Has(int(p.Slot)) {
			continue
		}
		at := t.Catalog.Price(t.Rows[p.Row].Variant, int(p.Slot))
		if at >= below || at > price {
			break
		}
		if at == price && (p.Row > row || (p.Row == row && p.Slot > slot)) {
			continue
		}
		if take(p) {
			row, slot, price = p.Row, p.Slot, at
		}
	}
	return row, slot, price
}

// Next returns the index of the first purchase that has room for need, or -1 if no such purchase exists. The search begins at the index
// from.
func (p *Purchases) Next(need []int64, from int) int { return p.room.Next(need, from) }
