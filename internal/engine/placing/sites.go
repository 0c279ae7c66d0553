package placing

import (
	"maps"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// FindSite returns the node to buy for a pod of the class: the cheapest node of the first stage for which a node can be bought. If the pods
// must share a node, it returns the node that holds most of them.
func (t Sites) FindSite(c *layout.Cells, class int32) *offers.Site {
	m := t.M
	cl := m.Classes[class]
	crowd, waits := t.MustShare(cl), t.AwaitsReservation(cl)
	for _, st := range t.StagesFor(cl) {
		var best *offers.Site
		most, price := 0, int64(math.MaxInt64)
		sites := t.SitesOf(c, st, t.Sites)
		for i := range sites {
			s := &sites[i]
			if !resources.Fits(cl.Requests, s.Alloc) || (waits && !s.Limited) || !t.S.Limits.Affordable(s.Pool, s.Row) || !t.S.Limits.Reservable(s.Pool, s.Row, s.Slot) || !t.admitsAt(cl, s) || !t.variedAt(cl, s) {
				continue
			}
			held := 1
			if crowd {
				held = resources.HowMany(cl.Requests, s.Alloc, int(t.S.Waiting[class]))
			}
			if held > most || (held == most && s.Price < price) {
				best, most, price = s, held, s.Price
			}
			if !crowd {
				break // sites are sorted by price, so the remaining sites are not cheaper than the best one so far
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// FindVariedSite returns a node to buy for one pod of the class. It is for pools whose minValues only a nearly empty node meets, because
// more types have room for one pod than for many.
func (t Sites) FindVariedSite(c *layout.Cells, class int32) *offers.Site {
	m := t.M
	if !slices.ContainsFunc(m.Pools, t.StrictVariety) {
		return nil
	}
	cl := m.Classes[class]
	waits := t.AwaitsReservation(cl)
	for _, st := range t.StagesFor(cl) {
		sites := t.ListSites(c, st, 0, t.Varied)
		for i := range sites {
			s := &sites[i]
			if t.StrictVariety(m.Pools[s.Pool]) && t.CouldBuy(cl, s, waits) {
				return s
			}
		}
		if s := t.findSplitSite(cl, st, waits); s != nil {
			return s
		}
	}
	return nil
}

// maxSplitSites is the number of nodes that findSplitSite checks.
const maxSplitSites = 256

// findSplitSite does the same as FindVariedSite for types whose capacity depends on where they are bought. For these types the NodeClaim
// names one zone and one capacity type, so a more expensive offering may allow more instance types.
func (t Sites) findSplitSite(cl *podclass.Class, st int32, waits bool) *offers.Site {
	var list []offers.Site
	for _, pool := range slices.Sorted(maps.Keys(t.Assignments[st])) {
		if p := t.M.Pools[pool]; !p.Table.Split || !t.StrictVariety(p) {
			continue
		}
		for a := range t.Assignments[st][pool] {
			t.eachNode(cl, st, pool, int32(a), func(s offers.Site) { list = append(list, s) })
		}
	}
	slices.SortStableFunc(list, func(a, b offers.Site) int { return pricing.CompareOptions(&a.Option, &b.Option) })
	for i := range list[:min(len(list), maxSplitSites)] {
		if t.CouldBuy(cl, &list[i], waits) {
			return &list[i]
		}
	}
	return nil
}

// CouldBuy reports whether the node may be bought for a pod of the class. waits means that the node must use a reservation.
func (t Sites) CouldBuy(cl *podclass.Class, s *offers.Site, waits bool) bool {
	return resources.Fits(cl.Requests, s.Alloc) && (!waits || s.Limited) && t.S.Limits.Affordable(s.Pool, s.Row) && t.S.Limits.Reservable(s.Pool, s.Row, s.Slot) &&
		t.admitsAt(cl, s) && t.variedAt(cl, s)
}

// variedAt reports whether enough types remain for the pool's minValues if one pod of the class is on the possible new node.
func (t Sites) variedAt(cl *podclass.Class, s *offers.Site) bool {
	if !t.StrictVariety(t.M.Pools[s.Pool]) {
		return true
	}
	before := t.Mark()
	host := t.S.Open(state.Node{Pool: s.Pool, Row: s.Row, Slot: s.Slot, Price: s.Price, Labels: t.Assignments[s.Stage][s.Pool][s.Assign].Labels})
	ok := GrowthOf(t.Trial).KeepsVariety(host, cl, s.Stage)
	t.Undo(before)
	return ok
}

// MustShare reports whether pods of the class must share a node with each other.
func (t Sites) MustShare(c *podclass.Class) bool {
	return c.Topology != nil && slices.ContainsFunc(c.Topology.Owns, func(g int32) bool {
		gr := &t.M.Topology[g]
		return gr.Kind == topology.Affinity && gr.Hard && gr.At == topology.Hostname
	})
}

// admitsAt checks the rules for a pod on a possible new node by opening that node for a moment. So the rules also count the node's
// DaemonSet pods and a domain that the node adds.
func (t Sites) admitsAt(cl *podclass.Class, s *offers.Site) bool {
	if t.S.Topology == nil {
		return true
	}
	if row := &t.M.Pools[s.Pool].Table.Rows[s.Row]; cl.Topology == nil && row.Resident == 0 && !SpreadsOf(t.Trial).BreaksSpread(t.Cells.List[s.Cell]) {
		return true
	}
	before := t.Mark()
	host := t.S.Open(state.Node{Pool: s.Pool, Row: s.Row, Slot: s.Slot, Price: s.Price, Labels: t.Assignments[s.Stage][s.Pool][s.Assign].Labels})
	ok := !SpreadsOf(t.Trial).Disturbs(host) && t.S.Admits(cl, host)
	t.Undo(before)
	return ok
}

// cellAt returns the cell of a new node, or AnyCell if there are no rules.
func (t Sites) cellAt(pool, row, slot int32, as *nodepool.Assignment) int32 {
	if t.Cells == nil {
		return layout.AnyCell
	}
	return t.Cells.OfNew(pool, row, slot, as)
}

// eachNode calls see(site) for each node of a pool that the stage allows for a pod of the class.
func (t Sites) eachNode(c *podclass.Class, st, pool, a int32, see func(offers.Site)) {
	m := t.M
	p, as := m.Pools[pool], &t.Assignments[st][pool][a]
	dims := m.Resources.Len()
	for r := range p.Rows.Members {
		row := &p.Table.Rows[r]
		if !resources.Fits(c.Requests, p.Table.AllocOf(r, dims)) {
			continue
		}
		for slot := range row.Slots.Members {
			price := p.Table.Catalog.Price(row.Variant, slot)
			if price == market.NoPrice || !offers.Allows(&m.Stages[st], m.Pools, pool, r, slot, as) || (as.Rows != nil && !as.Rows.Has(r)) {
				continue
			}
			see(offers.Site{Stage: st, Option: pricing.Option{Pool: pool, Row: int32(r), Slot: int32(slot), Assign: a, Price: price, Cell: t.cellAt(pool, int32(r), int32(slot), as),
				Alloc: p.Table.AllocOf(r, dims), Limited: p.Table.Catalog.Slots[slot].Reservation != ""}})
		}
	}
}

// EachOfStage calls see(site) for each node of any pool that the stage allows for a pod of the class, in a fixed order.
func (t Sites) EachOfStage(c *podclass.Class, st int32, see func(offers.Site)) {
	for _, pool := range slices.Sorted(maps.Keys(t.Assignments[st])) {
		for a := range t.Assignments[st][pool] {
			t.eachNode(c, st, pool, int32(a), see)
		}
	}
}
