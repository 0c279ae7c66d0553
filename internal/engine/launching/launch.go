package launching

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// LaunchSome opens new nodes for all pending pods, one after another. Each time it opens the node with the highest ratio of value to price.
// It places pods that few kinds of nodes can hold first. In the end each node is replaced by the cheapest node that is sufficient. It
// returns the price in USD per hour. It changes nothing and returns false if the pods would need more new nodes than the maximum (most), or
// if these nodes would cost as much as the price limit (below, in USD per hour) or more. It does the same if a pool has minValues or leaves
// labels undecided, because LaunchSome does not support this. Place supports these pools, but takes much longer.
func (t *Launching) LaunchSome(q planning.Query, w *valuing.Worth, most int, below float64) (price float64, ok bool) {
	t.Options = planning.PlaceOptions{Query: q}
	classes := t.WaitingClasses()
	if len(classes) == 0 || w == nil || w.M != t.M {
		return 0, false
	}
	limit := int64(min(below, dearest) * market.NanoPerUSD)
	asked, memorable := t.question(askedSome, q, w, int64(most), limit)
	if memorable {
		if known, has := t.recalled(asked); has {
			return known.price, known.ok
		}
	}
	before := t.Mark()
	price, ok = t.launchSome(classes, w, most, limit)
	if memorable {
		t.keepAnswer(asked, before, price, ok)
	}
	return price, ok
}

// launchSome does the same as LaunchSome, for the given pending classes and limit.
func (t *Launching) launchSome(classes []int32, w *valuing.Worth, most int, limit int64) (price float64, ok bool) {
	t.Begin(classes)
	before, spent := t.Mark(), int64(0)
	t.Fresh = len(t.S.Planned)
	defer func() { t.Fresh = 0 }()
	for range most {
		if spent+max(0, w.WaitingNano(t.Trial)-w.Rent) >= limit {
			break // according to the values of the pending pods, their nodes would cost at least the limit
		}
		opened, done := t.launchBest(classes, w, limit-spent)
		if opened == 0 {
			break
		}
		if spent += opened; done {
			placing.GrowthOf(t.Trial).Settle()
			cost := int64(0)
			for i := t.Fresh; i < len(t.S.Planned); i++ {
				cost += t.S.Planned[i].Price
			}
			if cost >= limit {
				break
			}
			return float64(cost) / market.NanoPerUSD, true
		}
	}
	t.Undo(before)
	return 0, false
}

// Plain reports whether LaunchSome supports all requirements of the pending pods on new nodes.
func (t *Launching) Plain(q planning.Query) bool {
	t.Options = planning.PlaceOptions{Query: q}
	anchor, _ := t.anchorOf(t.WaitingClasses())
	return anchor >= 0
}

// dearest is a price limit in USD per hour that is higher than every price.
const dearest = 1e9

// launchBest opens the node that has the highest ratio of value to price and costs less than the parameter left, and places pods on it. It
// returns the node's price, or 0 if no node is opened, and whether all pods now have a place.
func (t *Launching) launchBest(classes []int32, w *valuing.Worth, left int64) (price int64, done bool) {
	anchor, kinds := t.anchorOf(classes)
	if anchor < 0 {
		return 0, false
	}
	f := t.newLoading(w, classes, anchor, kinds)
	best, bestScore := -1, int64(0)
	look := func(i int) {
		k := &kinds[i]
		each := max(k.price/scorePrecision, 1)
		if k.price >= left || !t.S.Limits.Affordable(k.pool, k.row) || !t.S.Limits.Reservable(k.pool, k.row, k.slot) {
			return
		}
		if score := f.value(i, (bestScore+1)*each) / each; score > bestScore {
			best, bestScore = i, score
		}
	}
	// No node can hold pods of a higher value than the total value of all pods. So the search begins with nodes whose price equals this
	// total value. It tries more expensive nodes as long as one of them could have a better ratio of value to price. Then it tries all
	// cheaper nodes. It ends when a node has goodScore.
	worth := int64(0)
	for _, class := range classes {
		worth += int64(t.S.Waiting[class]) * max(w.ByClass[class], 1)
	}
	from, _ := slices.BinarySearchFunc(kinds, worth, func(k kind, worth int64) int { return cmp.Compare(k.price, worth) })
	for i := from; i < len(kinds) && bestScore < goodScore && worth/max(kinds[i].price/scorePrecision, 1) > bestScore; i++ {
		look(i)
	}
	for i := from - 1; i >= 0 && bestScore < goodScore; i-- {
		look(i)
	}
	if best < 0 {
		return 0, false
	}
	k := &kinds[best]
	before := t.Mark()
	host := t.S.Open(state.Node{Pool: k.pool, Row: k.row, Slot: k.slot, Price: k.price})
	if !placing.SpreadsOf(t.Trial).Disturbs(host) {
		f.place(k, host)
	}
	if t.S.Planned[len(t.S.Planned)-1].Empty() {
		t.Undo(before)
		return 0, false
	}
	return k.price, !slices.ContainsFunc(classes, func(c int32) bool { return t.S.Waiting[c] > 0 })
}

const (
	// scorePrecision scales value divided by price to an integer: a node has about this score if the value on it equals its price.
	scorePrecision = 1 << 20
	// goodScore is the score at which the search for a better node ends.
	goodScore = scorePrecision * 49 / 50
)

// anchorOf returns the pending class with the fewest kinds of nodes, and these kinds. anchor is -1 if some class has no kinds, or requires
// something that LaunchSome does not support.
func (t *Launching) anchorOf(classes []int32) (anchor int32, kinds []kind) {
	anchor = -1
	for _, class := range classes {
		if t.S.Waiting[class] == 0 {
			continue
		}
		c := t.M.Classes[class]
		stages := t.StagesFor(c)
		if c.Invalid != nil || len(stages) == 0 || t.AwaitsReservation(c) {
			return -1, nil
		}
		list, ok := t.kindsOf(stages[0])
		if !ok {
			return -1, nil
		}
		if anchor < 0 || len(list) < len(kinds) {
			anchor, kinds = class, list
		}
	}
	return anchor, kinds
}

// kind is a node that could be bought. cell is the cell that rules see, or AnyCell if no rule concerns the pods. alloc is its allocatable,
// and room is the number that numberRoom gave to alloc.
type kind struct {
	pool, row, slot, cell int32
	room                  int32
	price                 int64
	alloc                 []int64
}

// kindsOf returns the nodes for pods at a stage, sorted by price. It leaves out a node if a cheaper node of the same slot can replace it
// for all pods. It returns false if a pool has settings that LaunchSome does not support. The result is cached.
func (t *Launching) kindsOf(stage int32) ([]kind, bool) {
	if list, known := t.kinds[stage]; known {
		return list, list != nil
	}
	if t.kinds == nil {
		t.kinds = map[int32][]kind{}
	}
	t.kinds[stage] = nil
	m := t.M
	for _, u := range m.Stages[stage].Uses {
		p := m.Pools[u.Pool]
		if t.StrictVariety(p) || len(p.Profiles[u.Profile].Open) > 0 || slices.ContainsFunc(m.TopologyKeys, func(key string) bool { return p.LeftOpen(key) }) {
			return nil, false
		}
	}
	var out []kind
	if t.answers != nil {
		out = slices.Clone(t.answers.kindsOf(stage))
	} else {
		out = (&kindLister{m: m}).at(stage)
	}
	for i := range out {
		k := &out[i]
		if t.S.Topology != nil {
			k.cell = t.placesOfKinds().OfNew(k.pool, k.row, k.slot, &nodepool.Assignment{})
		}
		k.room = t.numberRoom(k.alloc)
	}
	t.kinds[stage] = out
	return out, true
}

// numberRoom returns a number that identifies the allocatable amounts alloc: equal amounts have equal numbers.
func (t *Launching) numberRoom(alloc []int64) int32 {
	key := make([]byte, 0, 8*len(alloc))
	for _, n := range alloc {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	number, has := t.kindRooms[string(key)]
	if !has {
		if t.kindRooms == nil {
			t.kindRooms = map[string]int32{}
		}
		number = int32(len(t.kindRooms))
		t.kindRooms[string(key)] = number
	}
	return number
}

// placesOfKinds returns the numbered cells of kinds. Unlike the cell numbers of one call of Place, these numbers stay valid for later
// calls.
func (t *Launching) placesOfKinds() *layout.Cells {
	if t.kindCells == nil {
		t.kindCells = layout.NewCells(t.M.Pools, t.M.TopologyKeys, t.S.Topology)
	}
	return t.kindCells
}

// kindSuits reports whether pods at the stage may run on the kind.
func (t *Launching) kindSuits(k *kind, stage int32) bool {
	for _, u := range t.M.Stages[stage].Uses {
		if u.Pool == k.pool {
			f := &t.M.Pools[u.Pool].Profiles[u.Profile]
			return len(f.Open) == 0 && f.Rows.Has(int(k.row)) && f.Slots.Has(int(k.slot))
		}
	}
	return false
}
