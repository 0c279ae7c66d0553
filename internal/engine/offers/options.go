package offers

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Market contains the nodes that may be bought, and the data that determine which of them pods may use.
type Market struct {
	// Dims is the number of resources.
	Dims    int
	Pools   []*nodepool.Pool
	Stages  []podclass.Stage
	Classes []*podclass.Class
	// Rules are the rules between pods. Domains describes the labels whose values these rules distinguish.
	Rules   []topology.Group
	Domains nodepool.Domains
	// Commitments is the number of commitments.
	Commitments int
	// Most means that Alloc of the options is the upper bound of a node's amounts, instead of the amounts on which pods can rely. Lower
	// bounds on costs need this.
	Most bool
}

// Choice is a problem for package pricing, with the data from which the problem was made.
type Choice struct {
	pricing.Problem
	// Assigned is indexed by pool, and then by Option.Assign.
	Assigned map[int32][]nodepool.Assignment
	Cells    *layout.Cells
	// everyCell means that the cheapest option of each cell is kept, even if a place may use several cells.
	everyCell bool
	// Caps are rules about single nodes. Each cap is one dimension; these dimensions come after the resources.
	Caps []Cap
	// Alike has, for each of the problem's items, the caller's items that it joins. It is nil if no items are joined.
	Alike *Alike
}

// Reservation returns the name of the reservation that a slot uses, or "" if it uses none.
func Reservation(pools []*nodepool.Pool, pool, slot int32) string {
	return pools[pool].Table.Catalog.Slots[slot].Reservation
}

// Choose returns the options that the items' places allow. c may be nil if no item has a cell.
func (m *Market) Choose(items []pricing.Item, c *layout.Cells) *Choice {
	p := &Choice{Problem: pricing.Problem{Dims: m.Dims, Resources: m.Dims, Items: items, Celled: c != nil}, Assigned: map[int32][]nodepool.Assignment{}, Cells: c}
	places := pricing.PlacesInUse(items)
	small := pricing.Smallest(items, p.Dims)
	byPool := map[int32][]int{} // for each pool: the indexes of the places that may use it
	var pools []int32
	for at, pl := range places {
		for _, u := range m.Stages[pl.Stage].Uses {
			if !slices.Contains(byPool[u.Pool], at) {
				byPool[u.Pool] = append(byPool[u.Pool], at)
			}
			if !slices.Contains(pools, u.Pool) {
				pools = append(pools, u.Pool)
			}
		}
	}
	slices.Sort(pools)
	most := 0
	for _, pl := range pools {
		most += len(m.Pools[pl].Table.Rows)
	}
	all := make([]pricing.Option, 0, most)
	var open []poolUsers
	for _, pl := range pools {
		p.Assigned[pl] = m.Pools[pl].Assignments(m.profilesInUse(pl, places), m.Domains)
		users := poolUsers{pl, 0, places, byPool[pl]}
		if slices.ContainsFunc(open, func(other poolUsers) bool { return m.covers(p, &other, &users) }) {
			continue
		}
		for at := range p.Assigned[pl] {
			users.assign = int32(at)
			all = m.poolOptions(all, p, users, small)
		}
		if len(p.Assigned[pl]) == 1 {
			open = append(open, users)
		}
	}
	p.keepUndominated(m, all)
	p.keepCommitted(m)
	p.findReserved(m)
	return p
}

// profilesInUse returns, in ascending order, the profiles of the pool that the stages of the places use.
func (m *Market) profilesInUse(pool int32, places []pricing.Place) []int32 {
	var out []int32
	for _, pl := range places {
		for _, u := range m.Stages[pl.Stage].Uses {
			if u.Pool == pool && !slices.Contains(out, u.Profile) {
				out = append(out, u.Profile)
			}
		}
	}
	slices.Sort(out)
	return out
}

// poolUsers is a pool with the indexes of the places that may use it.
type poolUsers struct {
	pool, assign int32
	places       []pricing.Place
	users        []int
}

// covers reports whether the options of the earlier pool a dominate all options of pool b. It returns true only if both pools launch the
// same nodes, a has no limits, all users of b may also use the nodes of a, and minValues, reservations and undecided labels don't matter.
// If a covers b, the nodes of b need not be examined; many pools are covered.
func (m *Market) covers(p *Choice, a, b *poolUsers) bool {
	pa, pb := m.Pools[a.pool], m.Pools[b.pool]
	if pa.Table != pb.Table || pa.Limits != nil || len(pa.Variety) > 0 || len(pb.Variety) > 0 || len(pa.Table.Catalog.Reservations) > 0 {
		return false
	}
	for _, pool := range [2]int32{a.pool, b.pool} {
		if as := p.Assigned[pool]; len(as) != 1 || as[0].Labels.Len() > 0 || as[0].Rows != nil {
			return false
		}
	}
	if p.Cells != nil && !m.sameCells(pa, pb) {
		return false
	}
	for _, at := range b.users {
		if !slices.Contains(a.users, at) {
			return false
		}
		for _, ub := range m.Stages[b.places[at].Stage].Uses {
			if ub.Pool != b.pool {
				continue
			}
			fb := &pb.Profiles[ub.Profile]
			if !slices.ContainsFunc(m.Stages[b.places[at].Stage].Uses, func(ua podclass.Use) bool {
				if ua.Pool != a.pool {
					return false
				}
				fa := &pa.Profiles[ua.Profile]
				return len(fa.Open) == 0 && fb.Rows.Within(fa.Rows) && fb.Slots.Within(fa.Slots)
			}) {
				return false
			}
		}
	}
	return true
}

// sameCells reports whether topology rules can't distinguish a node of pool a from a node of pool b with the same type and offering.
func (m *Market) sameCells(a, b *nodepool.Pool) bool {
	c := a.Table.Catalog
	return !layout.TypeDecides(m.Domains.Keys, c) && !slices.ContainsFunc(m.Domains.Keys, func(key string) bool {
		return !c.OfferingKeys[key] && a.Template.Get(key).String() != b.Template.Get(key).String()
	})
}

// poolOptions adds the pool's options to the list all. For each row of the pool and each set of places that may use a slot, it adds the
// cheapest such slot.
func (m *Market) poolOptions(all []pricing.Option, p *Choice, u poolUsers, small []int64) []pricing.Option {
	t := m.Pools[u.pool].Table
	as := &p.Assigned[u.pool][u.assign]
	open := bitset.New(len(u.places))
	cellOf := p.cellsOf(m, u.pool, as)
	var opens bitset.Set // memory for the options' sets of places, allocated for many options at a time
	keep := func(b bitset.Set) bitset.Set {
		if len(opens)+len(b) > cap(opens) {
			opens = make(bitset.Set, 0, 256*len(b))
		}
		from := len(opens)
		opens = append(opens, b...)
		return opens[from:len(opens):len(opens)]
	}
	for r := range t.Rows {
		alloc := t.AllocOf(r, p.Dims)
		if m.Most {
			alloc = t.MostOf(r, p.Dims)
		}
		if !resources.Fits(small, alloc) || (as.Rows != nil && !as.Rows.Has(r)) {
			continue
		}
		first := len(all)
	slots:
		for s := range t.Rows[r].Slots.Members {
			price := t.Catalog.Price(t.Rows[r].Variant, s)
			if price == market.NoPrice {
				continue
			}
			cell := cellOf(r, s)
			clear(open)
			for _, at := range u.users {
				if to := u.places[at]; (to.Cell == layout.AnyCell || to.Cell == cell) && m.placeAllows(to, u.pool, r, s, as) {
					open.Add(at)
				}
			}
			if open.Empty() {
				continue
			}
			if t.Catalog.HasCosts() {
				p.addCommitted(m, u, pricing.Option{Pool: u.pool, Row: int32(r), Slot: int32(s), Assign: u.assign, Cell: cell, Alloc: alloc, Open: open, Resident: t.Rows[r].Resident})
			}
			limited := t.Catalog.Slots[s].Reservation != ""
			for i := first; i < len(all); i++ {
				if all[i].Limited || limited || (p.everyCell && all[i].Cell != cell) {
					continue // neither of the two options can replace the other: a reservation limits the number of nodes, or the cells differ
				}
				if all[i].Price <= price && open.Within(all[i].Open) {
					continue slots
				}
				if price <= all[i].Price && all[i].Open.Within(open) {
					all[i].Slot, all[i].Cell, all[i].Price = int32(s), cell, price
					copy(all[i].Open, open)
					continue slots
				}
			}
			all = append(all, pricing.Option{Pool: u.pool, Row: int32(r), Slot: int32(s), Assign: u.assign, Cell: cell, Price: price, Alloc: alloc, Open: keep(open), Resident: t.Rows[r].Resident, Limited: t.Catalog.Slots[s].Reservation != ""})
		}
	}
	return all
}

// cellsOf returns a function that finds the cell of a node of the pool. If the cell does not depend on the instance type, it finds the
// cells of all nodes of a slot at once.
func (p *Choice) cellsOf(m *Market, pool int32, as *nodepool.Assignment) func(row, slot int) int32 {
	if p.Cells == nil {
		return func(int, int) int32 { return layout.AnyCell }
	}
	c := m.Pools[pool].Table.Catalog
	if layout.TypeDecides(m.Domains.Keys, c) {
		return func(row, slot int) int32 { return p.Cells.OfNew(pool, int32(row), int32(slot), as) }
	}
	const unknown = -2
	bySlot := make([]int32, len(c.Slots))
	for s := range bySlot {
		bySlot[s] = unknown
	}
	return func(row, slot int) int32 {
		if bySlot[slot] == unknown {
			bySlot[slot] = p.Cells.OfNew(pool, int32(row), int32(slot), as)
		}
		return bySlot[slot]
	}
}

// placeAllows reports whether Allows returns true and the node also meets the rules of the place.
func (m *Market) placeAllows(to pricing.Place, pl int32, row, slot int, as *nodepool.Assignment) bool {
	if to.Rules&pricing.ReservedOnly != 0 && m.Pools[pl].Table.Catalog.Slots[slot].Reservation == "" {
		return false
	}
	if to.Rules&pricing.VarietyKept == 0 || len(m.Pools[pl].Variety) == 0 {
		return Allows(&m.Stages[to.Stage], m.Pools, pl, row, slot, as)
	}
	for _, u := range m.Stages[to.Stage].Uses {
		if u.Pool != pl {
			continue
		}
		if f := &m.Pools[pl].Profiles[u.Profile]; f.Robust.Has(row) && f.Slots.Has(slot) && as.Allows(f) {
			return true
		}
	}
	return false
}

// Allows reports whether pods at the stage may run on the row if it is bought in the slot and has the labels of the assignment as.
func Allows(st *podclass.Stage, pools []*nodepool.Pool, pl int32, row, slot int, as *nodepool.Assignment) bool {
	for _, u := range st.Uses {
		if u.Pool != pl {
			continue
		}
		if f := &pools[pl].Profiles[u.Profile]; f.Rows.Has(row) && f.Slots.Has(slot) && as.Decides(f) && as.Allows(f) {
			return true
		}
	}
	return false
}

// keepUndominated sorts options by price and removes those that a cheaper option can replace.
func (p *Choice) keepUndominated(m *Market, all []pricing.Option) {
	// allocs and opens are copies of the fields Alloc and Open of the kept options. Most comparisons need only these two fields, and
	// adjacent memory is read faster.
	var allocs []int64
	var opens []uint64
	p.Dominated = make([]pricing.Dominated, 0, len(all))
next:
	for _, o := range sortedOptions(all) {
		for i, open := range opens {
			if o.Open[0]&^open != 0 || !resources.Fits(o.Alloc, allocs[i*p.Dims:(i+1)*p.Dims]) {
				continue
			}
			if k := &p.Options[i]; o.Open.Within(k.Open) && m.standsIn(k, o) {
				p.Dominated = append(p.Dominated, pricing.Dominated{Option: o, By: i})
				continue next
			}
		}
		p.Options = append(p.Options, *o)
		allocs, opens = append(allocs, o.Alloc...), append(opens, o.Open[0])
	}
}

// sortedOptions returns the options in the order of CompareOptions.
func sortedOptions(all []pricing.Option) []*pricing.Option {
	out := make([]*pricing.Option, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortFunc(out, pricing.CompareOptions)
	return out
}

// standsIn reports whether option k can replace o without violating a limit or topology rule that o would not violate. It returns false if
// k uses a reservation, or if the two nodes have different DaemonSet pods that rules count. For limits, k can replace o if k's pool has no
// limits, or if both belong to one pool and k uses no more of its limits.
func (m *Market) standsIn(k, o *pricing.Option) bool {
	if k.Resident != o.Resident {
		return false
	}
	if Reservation(m.Pools, k.Pool, k.Slot) != "" {
		return false
	}
	pl := m.Pools[k.Pool]
	if pl.Limits == nil {
		return true
	}
	return k.Pool == o.Pool && resources.Fits(pl.RowCost(int(k.Row)), pl.RowCost(int(o.Row)))
}
