package scheduling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// kindsFor lists the nodes that a pod of the class could get, the best of each kind: those of one pool that rules
// can't tell apart. Larger ones of a kind come about by growing.
func (s *search) kindsFor(class int32) []offers.Site {
	if list, ok := s.kinds[class]; ok {
		return list
	}
	t, m := s.t, s.t.m
	c := m.c.Classes[class]
	list := []offers.Site{}
	at := map[string]int{}
	for _, st := range t.stagesFor(c) {
		t.sitesOf(t.cells, st, t.sites) // finds the assignments
		t.eachOfStage(c, st, func(o offers.Site) {
			kind := s.kindOf(&o)
			if i, ok := at[kind]; !ok {
				at[kind] = len(list)
				list = append(list, o)
			} else if list[i].Stage == o.Stage && s.better(&o, &list[i]) {
				list[i] = o
			}
		})
	}
	slices.SortStableFunc(list, func(a, b offers.Site) int { return pricing.CompareOptions(&a.Option, &b.Option) })
	s.kinds[class] = list
	return list
}

// better reports whether it is better to begin with node a of a kind than with b: where limits count, with the one that
// takes less of them, which may grow later; else with the cheaper one.
func (s *search) better(a, b *offers.Site) bool {
	if p := s.t.m.c.Pools[a.Pool]; p.Limits != nil {
		takes := func(o *offers.Site) float64 {
			sum := 0.0
			for i, n := range p.RowCost(int(o.Row)) {
				sum += float64(n) / float64(max(p.Limits.Max[i], 1))
			}
			return sum
		}
		if c := cmp.Compare(takes(a), takes(b)); c != 0 {
			return c < 0
		}
	}
	return pricing.CompareOptions(&a.Option, &b.Option) < 0
}

// kindOf is what rules can tell of a node: its pool, DaemonSets, and the labels that they look at; and where nodes are
// few, the stage that it is bought at.
func (s *search) kindOf(o *offers.Site) string {
	t, m := s.t, s.t.m
	as := &t.assigned[o.Stage][o.Pool][o.Assign]
	table := m.c.Pools[o.Pool].Table
	way := kindKey{o.Stage, o.Pool, o.Slot, o.Assign, table.Rows[o.Row].Resident, topology.NoDomain}
	if slices.ContainsFunc(m.c.PinnedKeys, func(key string) bool { _, stated := table.Catalog.TypeKeys[key]; return stated }) {
		way.variant = int32(table.Rows[o.Row].Variant)
	}
	if text, ok := s.kindTexts[way]; ok {
		return text
	}
	text := fmt.Sprint(o.Pool, table.Rows[o.Row].Resident, o.Limited)
	if o.Limited || m.c.Pools[o.Pool].Limits != nil {
		text += fmt.Sprint(" ", o.Stage) // where there is nothing left for one that wishes are kept on, there may be for another
	}
	for _, key := range m.c.PinnedKeys {
		text += " " + m.c.Pools[o.Pool].Label(int(o.Row), int(o.Slot), as, key)
	}
	s.kindTexts[way] = text
	return text
}

// kindKey is what decides a node's kind.
type kindKey struct{ stage, pool, slot, assign, resident, variant int32 }

// eachOfStage shows the nodes of all pools that the stage allows for a pod of the class, in a total order.
func (t *Trial) eachOfStage(c *podclass.Class, st int32, see func(offers.Site)) {
	for _, pool := range slices.Sorted(maps.Keys(t.assigned[st])) {
		for a := range t.assigned[st][pool] {
			t.eachNode(c, st, pool, int32(a), see)
		}
	}
}

// eachNode shows the nodes of a pool that the stage allows for a pod of the class.
func (t *Trial) eachNode(c *podclass.Class, st, pool, a int32, see func(offers.Site)) {
	m := t.m
	p, as := m.c.Pools[pool], &t.assigned[st][pool][a]
	dims := m.c.Resources.Len()
	for r := range p.Rows.Members {
		row := &p.Table.Rows[r]
		if !resources.Fits(c.Requests, p.Table.AllocOf(r, dims)) {
			continue
		}
		for slot := range row.Slots.Members {
			price := p.Table.Catalog.Price(row.Variant, slot)
			if price == market.NoPrice || !offers.Allows(&m.c.Stages[st], m.c.Pools, pool, r, slot, as) || (as.Rows != nil && !as.Rows.Has(r)) {
				continue
			}
			see(offers.Site{Stage: st, Option: pricing.Option{Pool: pool, Row: int32(r), Slot: int32(slot), Assign: a, Price: price, Cell: t.cellAt(pool, int32(r), int32(slot), as),
				Alloc: p.Table.AllocOf(r, dims), Limited: p.Table.Catalog.Slots[slot].Reservation != ""}})
		}
	}
}

// cellAt is the cell of a new node; AnyCell without rules.
func (t *Trial) cellAt(pool, row, slot int32, as *nodepool.Assignment) int32 {
	if t.cells == nil {
		return layout.AnyCell
	}
	return t.cells.OfNew(pool, row, slot, as)
}
