package scheduling

import (
	"maps"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// findSite is the node to buy for a pod of the class: of its first stage that has one, the cheapest; for pods that
// must share a node with their like, the one that holds most of them.
func (t *Trial) findSite(c *layout.Cells, class int32) *offers.Site {
	m := t.m
	cl := m.c.Classes[class]
	crowd, waits := t.mustShare(cl), t.awaitsReservation(cl)
	for _, st := range t.stagesFor(cl) {
		var best *offers.Site
		most, price := 0, int64(math.MaxInt64)
		sites := t.sitesOf(c, st, t.sites)
		for i := range sites {
			s := &sites[i]
			if !resources.Fits(cl.Requests, s.Alloc) || (waits && !s.Limited) || !t.s.Limits.Affordable(s.Pool, s.Row) || !t.s.Limits.Reservable(s.Pool, s.Row, s.Slot) || !t.admitsAt(cl, s) || !t.variedAt(cl, s) {
				continue
			}
			held := 1
			if crowd {
				held = resources.HowMany(cl.Requests, s.Alloc, int(t.s.Waiting[class]))
			}
			if held > most || (held == most && s.Price < price) {
				best, most, price = s, held, s.Price
			}
			if !crowd {
				break // sites are sorted by price
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// findVariedSite is a node to buy for one pod of the class from a pool whose minValues no full node would meet, but
// one with little on it does: other types hold that too.
func (t *Trial) findVariedSite(c *layout.Cells, class int32) *offers.Site {
	m := t.m
	if !slices.ContainsFunc(m.c.Pools, t.strictVariety) {
		return nil
	}
	cl := m.c.Classes[class]
	waits := t.awaitsReservation(cl)
	for _, st := range t.stagesFor(cl) {
		sites := t.listSites(c, st, 0, t.varied)
		for i := range sites {
			s := &sites[i]
			if t.strictVariety(m.c.Pools[s.Pool]) && t.couldBuy(cl, s, waits) {
				return s
			}
		}
		if s := t.findSplitSite(cl, st, waits); s != nil {
			return s
		}
	}
	return nil
}

// maxSplitSites bounds how many nodes findSplitSite looks at.
const maxSplitSites = 256

// findSplitSite is findVariedSite where what a type holds depends on where it is bought: its claim names one zone and one
// capacity type, and a dearer way to buy may leave more types.
func (t *Trial) findSplitSite(cl *podclass.Class, st int32, waits bool) *offers.Site {
	var list []offers.Site
	for _, pool := range slices.Sorted(maps.Keys(t.assigned[st])) {
		if p := t.m.c.Pools[pool]; !p.Table.Split || !t.strictVariety(p) {
			continue
		}
		for a := range t.assigned[st][pool] {
			t.eachNode(cl, st, pool, int32(a), func(s offers.Site) { list = append(list, s) })
		}
	}
	slices.SortStableFunc(list, func(a, b offers.Site) int { return pricing.CompareOptions(&a.Option, &b.Option) })
	for i := range list[:min(len(list), maxSplitSites)] {
		if t.couldBuy(cl, &list[i], waits) {
			return &list[i]
		}
	}
	return nil
}

// couldBuy reports whether the node may be bought for a pod of the class; waits says that it must be on a reservation.
func (t *Trial) couldBuy(cl *podclass.Class, s *offers.Site, waits bool) bool {
	return resources.Fits(cl.Requests, s.Alloc) && (!waits || s.Limited) && t.s.Limits.Affordable(s.Pool, s.Row) && t.s.Limits.Reservable(s.Pool, s.Row, s.Slot) &&
		t.admitsAt(cl, s) && t.variedAt(cl, s)
}

// variedAt reports whether one pod of the class on a node yet to be bought leaves the variety that its pool asks for.
func (t *Trial) variedAt(cl *podclass.Class, s *offers.Site) bool {
	if !t.strictVariety(t.m.c.Pools[s.Pool]) {
		return true
	}
	before := t.Mark()
	host := t.s.Open(state.Node{Pool: s.Pool, Row: s.Row, Slot: s.Slot, Price: s.Price, Labels: t.assigned[s.Stage][s.Pool][s.Assign].Labels})
	ok := t.keepsVariety(host, cl, s.Stage)
	t.undo(before)
	return ok
}

// mustShare reports whether pods of the class require a node with their like.
func (t *Trial) mustShare(c *podclass.Class) bool {
	return c.Topology != nil && slices.ContainsFunc(c.Topology.Owns, func(g int32) bool {
		gr := &t.m.c.Topology[g]
		return gr.Kind == topology.Affinity && gr.Hard && gr.At == topology.Hostname
	})
}

// admitsAt checks the rules for a pod on a node yet to be bought, by buying it for a moment: the DaemonSet pods that
// come with it count, and so does a domain that it brings.
func (t *Trial) admitsAt(cl *podclass.Class, s *offers.Site) bool {
	if t.s.Topology == nil {
		return true
	}
	if row := &t.m.c.Pools[s.Pool].Table.Rows[s.Row]; cl.Topology == nil && row.Resident == 0 && !t.breaksSpread(t.cells.List[s.Cell]) {
		return true
	}
	before := t.Mark()
	host := t.s.Open(state.Node{Pool: s.Pool, Row: s.Row, Slot: s.Slot, Price: s.Price, Labels: t.assigned[s.Stage][s.Pool][s.Assign].Labels})
	ok := !t.disturbs(host) && t.s.Admits(cl, host)
	t.undo(before)
	return ok
}
