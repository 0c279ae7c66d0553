package launching

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// kindLister lists the kinds of nodes for pods at a stage. It is not safe for concurrent use.
type kindLister struct {
	m *model.Model
	// likenesses contains the result of likeness for each pool, by number. The entry is nil for a pool that was not needed so far.
	likenesses [][]int32
	// own and out are scratch space: own has the kinds of one pool, out has the kinds of all pools.
	own, out []kind
	// last has the number, counted from 1, of the last entry of out with this slot and likeness. before links each entry of out to the
	// previous entry with the same slot and likeness; 0 means that no such entry exists.
	last   map[alikeKinds]int32
	before []int32
}

// alikeKinds identifies kinds that are bought in the same slot and are equal for all pods.
type alikeKinds struct{ slot, like int32 }

// at returns the same kinds as kindsOf, but without cells and room numbers.
func (l *kindLister) at(stage int32) []kind {
	m := l.m
	l.out = l.out[:0]
	for _, u := range m.Stages[stage].Uses {
		p := m.Pools[u.Pool]
		f := &p.Profiles[u.Profile]
		dims := m.Resources.Len()
		l.own = l.own[:0]
		for _, buy := range p.Table.CheapestFirst(dims) {
			r, s := int(buy.Row), int(buy.Slot)
			alloc := p.Table.AllocOf(r, dims)
			if slices.Min(alloc) < 0 {
				continue // the node's DaemonSets need more of a resource than the node has: no pods can use it, even if they don't need that resource
			}
			if f.Rows.Has(r) && f.Slots.Has(s) {
				price := p.Table.Catalog.Price(p.Table.Rows[r].Variant, s)
				l.own = append(l.own, kind{pool: u.Pool, row: buy.Row, slot: buy.Slot, cell: layout.AnyCell, price: price, alloc: alloc})
			}
		}
		l.addLeanest(u.Pool)
	}
	slices.SortStableFunc(l.out, func(a, b kind) int { return cmp.Compare(a.price, b.price) })
	out := make([]kind, len(l.out))
	copy(out, l.out)
	return out
}

// addLeanest adds the pool's kinds in own to out, except those that a cheaper kind of the same slot can replace for all pods. own must be
// sorted as by CheapestFirst.
func (l *kindLister) addLeanest(pool int32) {
	p, like, first := l.m.Pools[pool], l.likeness(pool), int32(len(l.out))
	if l.last == nil {
		l.last = map[alikeKinds]int32{}
	}
	clear(l.last)
	l.before = l.before[:0]
next:
	for _, k := range l.own {
		at := alikeKinds{k.slot, like[k.row]}
		for i := l.last[at]; i > 0; i = l.before[i-1] {
			have := &l.out[first+i-1]
			if resources.Fits(k.alloc, have.alloc) && (p.Limits == nil || resources.Fits(p.RowCost(int(have.row)), p.RowCost(int(k.row)))) {
				continue next
			}
		}
		l.before = append(l.before, l.last[at])
		l.last[at] = int32(len(l.before))
		l.out = append(l.out, k)
	}
}

// likeness returns likenessOf for the pool, from a cache if possible.
func (l *kindLister) likeness(pool int32) []int32 {
	if l.likenesses == nil {
		l.likenesses = make([][]int32, len(l.m.Pools))
	}
	if l.likenesses[pool] == nil {
		l.likenesses[pool] = likenessOf(l.m.Pools[pool])
	}
	return l.likenesses[pool]
}

// likenessOf returns a number for each row of the pool's table. Rows that no demand of pods can distinguish have the same number.
func likenessOf(p *nodepool.Pool) []int32 {
	out := make([]int32, len(p.Table.Rows))
	numbers := map[string]int32{}
	key := make([]byte, 0, len(p.Profiles)+4)
	for r := range out {
		key = key[:0]
		for i := range p.Profiles {
			b := byte(0)
			if p.Profiles[i].Rows.Has(r) {
				b = 1
			}
			key = append(key, b)
		}
		resident := p.Table.Rows[r].Resident
		key = append(key, byte(resident), byte(resident>>8), byte(resident>>16), byte(resident>>24))
		n, ok := numbers[string(key)]
		if !ok {
			n = int32(len(numbers))
			numbers[string(key)] = n
		}
		out[r] = n
	}
	return out
}
