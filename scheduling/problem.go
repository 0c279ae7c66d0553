package scheduling

import (
	"cmp"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// problem is the packing of pods onto new nodes, stripped to numbers: items (classes with a count) and options
// (nodes with a price). All orders in it are total, so that equal problems have equal solutions.
type problem struct {
	dims  int
	items []item
	// options that are worth looking at: no other option is at least as large, at most as dear and open to the same
	// items. Sorted by price.
	options []option
	// dominated lists the options left out, each with the index of one that dominates it.
	dominated []dominatedOption
	// assigned is indexed by pool, then by option.assign.
	assigned map[int32][]nodepool.Assignment
	cells    *layout.Cells
	// everyCell keeps the cheapest option of each cell, also where a place is open to several.
	everyCell bool
	// rough problems need values that steer, not values that prove.
	rough bool
	// planned is what the plan costs that is to be proven, 0 if there is none yet.
	planned float64
	// reserved and left say which reservation each limited option draws on, and how many instances each has.
	reserved map[int32]string
	left     map[string]int
	// committed are nodes that commitments cover, at their price then; commitmentLeft is what each commitment has left
	// for new nodes. Nil without commitments.
	committed      []option
	commitmentLeft []int64
	// caps are rules about single nodes; each is a dimension after the resources.
	caps []hostCap
	// seeds are fillings of nodes that a packing is known to have.
	seeds []seed
	// alike says which items of the caller those of a problem to pack stand for; nil if they are the caller's.
	alike *alike
}

// reservation names what a limited option draws on.
func (p *problem) reservation(o int) string { return p.reserved[int32(o)] }

// unbounded is the perMachine of items whose number on one node only its resources bound.
const unbounded = math.MaxInt

// item is a class of pods that need new nodes.
type item struct {
	class int32
	// where the class may go; items of one place may use the same options.
	place
	count int
	need  []int64
	// topology is the class's stake in topology rules, nil for none.
	topology *topology.Groups
	// perMachine bounds how many of the class one new node may hold; unbounded for no bound.
	perMachine int
	// ruled items are under rules about single nodes that neither perMachine nor caps say.
	ruled bool
}

// place is a stage, and the cell that topology rules leave for the pods, or AnyCell.
type place struct {
	stage, cell int32
	// rules narrow the nodes further: see placeRules.
	rules placeRules
}

// placeRules are what a query asks of all nodes for the pods of a place.
type placeRules uint8

const (
	// varietyKept: only nodes that leave the variety their pool's minValues ask for.
	varietyKept placeRules = 1 << iota
	// reservedOnly: only nodes bought from a reservation.
	reservedOnly
)

// option is one node to buy: a row of a pool's table in one slot.
type option struct {
	pool, row, slot int32
	// assign is the pool's assignment of open labels.
	assign int32
	// cell the node would be in; AnyCell where cells play no part.
	cell int32
	// limited is true for nodes bought from a reservation: there are only so many.
	limited bool
	// commitment that covers it, by number from 1 on, and what it uses of it; 0 in all but problem.committed.
	commitment int32
	used       int64
	// resident numbers the set of DaemonSets on it that topology rules could notice; 0 for none.
	resident int32
	price    int64
	alloc    []int64
	// open has the positions, in placesInUse's order, of the places it belongs to.
	open bitset.Set
}

// seed is a filling of a node of the option.
type seed struct {
	load   []load
	option int32
}

type dominatedOption struct {
	*option
	by int
}

// newProblem collects the options that the items' places allow. cells may be nil where no item has one.
func (m *Model) newProblem(items []item, c *layout.Cells) *problem {
	p := &problem{dims: m.resources.Len(), items: items, assigned: map[int32][]nodepool.Assignment{}, cells: c}
	places := placesInUse(items)
	small := smallest(items, p.dims)
	byPool := map[int32][]int{} // pool -> positions in places
	var pools []int32
	for at, pl := range places {
		for _, u := range m.stages[pl.stage].Uses {
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
		most += len(m.pools[pl].Table.Rows)
	}
	all := make([]option, 0, most)
	var open []poolUsers
	for _, pl := range pools {
		p.assigned[pl] = m.pools[pl].Assignments(m.profilesInUse(pl, places), m.domains())
		users := poolUsers{pl, 0, places, byPool[pl]}
		if slices.ContainsFunc(open, func(other poolUsers) bool { return m.covers(p, &other, &users) }) {
			continue
		}
		for at := range p.assigned[pl] {
			users.assign = int32(at)
			all = m.poolOptions(all, p, users, small)
		}
		if len(p.assigned[pl]) == 1 {
			open = append(open, users)
		}
	}
	p.keepUndominated(m, all)
	p.keepCommitted(m)
	for o := range p.options {
		if !p.options[o].limited {
			continue
		}
		if p.reserved == nil {
			p.reserved, p.left = map[int32]string{}, map[string]int{}
		}
		id := m.reservationOf(p.options[o].pool, p.options[o].slot)
		p.reserved[int32(o)] = id
		p.left[id] = m.pools[p.options[o].pool].Table.Catalog.Reservations[id]
	}
	return p
}

// profilesInUse are the profiles of the pool that the places' stages use, ascending.
func (m *Model) profilesInUse(pool int32, places []place) []int32 {
	var out []int32
	for _, pl := range places {
		for _, u := range m.stages[pl.stage].Uses {
			if u.Pool == pool && !slices.Contains(out, u.Profile) {
				out = append(out, u.Profile)
			}
		}
	}
	slices.Sort(out)
	return out
}

// poolUsers says who may use a pool: the positions, in places, of those that do.
type poolUsers struct {
	pool, assign int32
	places       []place
	users        []int
}

// covers reports whether all options of pool b are dominated by those of pool a, which stands before it: where both
// sell the same nodes, and a has no limits, at least the same ones to all users of b. Many pools are like that, and
// need not be gone through node by node.
func (m *Model) covers(p *problem, a, b *poolUsers) bool {
	pa, pb := m.pools[a.pool], m.pools[b.pool]
	if pa.Table != pb.Table || pa.Limits != nil || len(pa.Variety) > 0 || len(pb.Variety) > 0 || len(pa.Table.Catalog.Reservations) > 0 {
		return false
	}
	for _, pool := range [2]int32{a.pool, b.pool} {
		if as := p.assigned[pool]; len(as) != 1 || as[0].Labels.Len() > 0 || as[0].Rows != nil {
			return false
		}
	}
	if p.cells != nil && !m.sameCells(pa, pb) {
		return false
	}
	for _, at := range b.users {
		if !slices.Contains(a.users, at) {
			return false
		}
		for _, ub := range m.stages[b.places[at].stage].Uses {
			if ub.Pool != b.pool {
				continue
			}
			fb := &pb.Profiles[ub.Profile]
			if !slices.ContainsFunc(m.stages[b.places[at].stage].Uses, func(ua podclass.Use) bool {
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

// sameCells reports whether topology rules can't tell nodes of the pools apart if they are of one type and bought
// the same way.
func (m *Model) sameCells(a, b *nodepool.Pool) bool {
	c := a.Table.Catalog
	return !layout.TypeDecides(m.topologyKeys, c) && !slices.ContainsFunc(m.topologyKeys, func(key string) bool {
		return !c.OfferingKeys[key] && a.Template.Get(key).String() != b.Template.Get(key).String()
	})
}

func placesInUse(items []item) []place {
	seen := make(map[place]bool, 8)
	var places []place
	for i := range items {
		if !seen[items[i].place] {
			seen[items[i].place] = true
			places = append(places, items[i].place)
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.cell, b.cell), cmp.Compare(a.rules, b.rules))
	})
	return places
}

// smallest is the least amount of each resource that any item needs.
func smallest(items []item, dims int) []int64 {
	small := make([]int64, dims)
	for d := range small {
		small[d] = math.MaxInt64
		for i := range items {
			small[d] = min(small[d], items[i].need[d])
		}
	}
	return small
}

// poolOptions adds, for each row of the pool and each set of stages that a slot is open to, the cheapest such slot.
func (m *Model) poolOptions(all []option, p *problem, u poolUsers, small []int64) []option {
	t := m.pools[u.pool].Table
	as := &p.assigned[u.pool][u.assign]
	open := bitset.New(len(u.places))
	cellOf := p.cellsOf(m, u.pool, as)
	var opens bitset.Set // those of the options, many to one allocation
	keep := func(b bitset.Set) bitset.Set {
		if len(opens)+len(b) > cap(opens) {
			opens = make(bitset.Set, 0, 256*len(b))
		}
		from := len(opens)
		opens = append(opens, b...)
		return opens[from:len(opens):len(opens)]
	}
	for r := range t.Rows {
		alloc := t.AllocOf(r, p.dims)
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
				if to := u.places[at]; (to.cell == layout.AnyCell || to.cell == cell) && m.placeAllows(to, u.pool, r, s, as) {
					open.Add(at)
				}
			}
			if open.Empty() {
				continue
			}
			if t.Catalog.HasCosts() {
				p.addCommitted(m, u, option{pool: u.pool, row: int32(r), slot: int32(s), assign: u.assign, cell: cell, alloc: alloc, open: open, resident: t.Rows[r].Resident})
			}
			limited := t.Catalog.Slots[s].Reservation != ""
			for i := first; i < len(all); i++ {
				if all[i].limited || limited || (p.everyCell && all[i].cell != cell) {
					continue // neither stands in for the other
				}
				if all[i].price <= price && open.Within(all[i].open) {
					continue slots
				}
				if price <= all[i].price && all[i].open.Within(open) {
					all[i].slot, all[i].cell, all[i].price = int32(s), cell, price
					copy(all[i].open, open)
					continue slots
				}
			}
			all = append(all, option{pool: u.pool, row: int32(r), slot: int32(s), assign: u.assign, cell: cell, price: price, alloc: alloc, open: keep(open), resident: t.Rows[r].Resident, limited: t.Catalog.Slots[s].Reservation != ""})
		}
	}
	return all
}

// cellsOf finds the cells of the pool's nodes, for all of a slot at once where types play no part.
func (p *problem) cellsOf(m *Model, pool int32, as *nodepool.Assignment) func(row, slot int) int32 {
	if p.cells == nil {
		return func(int, int) int32 { return layout.AnyCell }
	}
	c := m.pools[pool].Table.Catalog
	if layout.TypeDecides(m.topologyKeys, c) {
		return func(row, slot int) int32 { return p.cells.OfNew(pool, int32(row), int32(slot), as) }
	}
	const unknown = -2
	bySlot := make([]int32, len(c.Slots))
	for s := range bySlot {
		bySlot[s] = unknown
	}
	return func(row, slot int) int32 {
		if bySlot[slot] == unknown {
			bySlot[slot] = p.cells.OfNew(pool, int32(row), int32(slot), as)
		}
		return bySlot[slot]
	}
}

// placeAllows is stageAllows with the place's rules.
func (m *Model) placeAllows(to place, pl int32, row, slot int, as *nodepool.Assignment) bool {
	if to.rules&reservedOnly != 0 && m.pools[pl].Table.Catalog.Slots[slot].Reservation == "" {
		return false
	}
	if to.rules&varietyKept == 0 || len(m.pools[pl].Variety) == 0 {
		return m.stageAllows(to.stage, pl, row, slot, as)
	}
	for _, u := range m.stages[to.stage].Uses {
		if u.Pool != pl {
			continue
		}
		if f := &m.pools[pl].Profiles[u.Profile]; f.Robust.Has(row) && f.Slots.Has(slot) && as.Allows(f) {
			return true
		}
	}
	return false
}

// stageAllows reports whether pods at the stage may be put on the row bought in the slot with those labels.
func (m *Model) stageAllows(st, pl int32, row, slot int, as *nodepool.Assignment) bool {
	for _, u := range m.stages[st].Uses {
		if u.Pool != pl {
			continue
		}
		if f := &m.pools[pl].Profiles[u.Profile]; f.Rows.Has(row) && f.Slots.Has(slot) && as.Decides(f) && as.Allows(f) {
			return true
		}
	}
	return false
}

// keepUndominated sorts options by price and keeps those that no cheaper one can stand in for.
func (p *problem) keepUndominated(m *Model, all []option) {
	// allocs and opens are those of the options kept: most comparisons end there, and side by side they are read fast.
	var allocs []int64
	var opens []uint64
	p.dominated = make([]dominatedOption, 0, len(all))
next:
	for _, o := range sortedOptions(all) {
		for i, open := range opens {
			if o.open[0]&^open != 0 || !resources.Fits(o.alloc, allocs[i*p.dims:(i+1)*p.dims]) {
				continue
			}
			if k := &p.options[i]; o.open.Within(k.open) && m.standsIn(k, o) {
				p.dominated = append(p.dominated, dominatedOption{o, i})
				continue next
			}
		}
		p.options = append(p.options, *o)
		allocs, opens = append(allocs, o.alloc...), append(opens, o.open[0])
	}
}

// sortedOptions are the options in the order of compareOptions.
func sortedOptions(all []option) []*option {
	out := make([]*option, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortFunc(out, compareOptions)
	return out
}

// compareOptions orders by price; of equals, the larger and then the one open to more comes first.
func compareOptions(a, b *option) int {
	if a.price != b.price {
		return cmp.Compare(a.price, b.price)
	}
	if n := slices.Compare(b.alloc, a.alloc); n != 0 {
		return n
	}
	return cmp.Or(cmp.Compare(b.open.Count(), a.open.Count()),
		cmp.Compare(a.pool, b.pool), cmp.Compare(a.row, b.row), cmp.Compare(a.slot, b.slot), cmp.Compare(a.assign, b.assign))
}

// standsIn reports whether buying k instead of o can't run into a limit or a topology rule that o would not: a pool
// without limits has none, and within one pool the node must not count for more.
func (m *Model) standsIn(k, o *option) bool {
	if k.resident != o.resident {
		return false
	}
	if m.reservationOf(k.pool, k.slot) != "" {
		return false
	}
	pl := m.pools[k.pool]
	if pl.Limits == nil {
		return true
	}
	return k.pool == o.pool && resources.Fits(pl.RowCost(int(k.row)), pl.RowCost(int(o.row)))
}

// perOption is how many pods of the item fit on an empty node of the option, at most as many as there are.
func (p *problem) perOption(it *item, at int, o *option) int {
	if !o.open.Has(at) {
		return 0
	}
	return resources.HowMany(it.need, o.alloc, min(it.count, it.perMachine))
}
