package launching

import (
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// LaunchLeast is LaunchSome for few pods: it does not only open the node that holds the most worth for its price each time,
// but goes back and tries others instead, those first that come next by that, and puts pods first that rules hold apart or
// together too; the cheapest outcome counts, of equals the first. A choice is given up as soon as what it has opened and what
// the pods that still wait are worth come to as much as the cheapest so far, or below, USD per hour. It opens most nodes at most.
// tries bounds those it opens to find out, the ones that it goes back on counted: where pods are put in two orders, the first
// has half as many and the second as many as tries; so what it finds need not be the least there is. price is what the new
// nodes cost together, USD per hour. ok is false, and nothing is opened, when nothing is found.
func (t *Launching) LaunchLeast(q planning.Query, w *valuing.Worth, most, tries int, below float64) (price float64, ok bool) {
	t.Options = planning.PlaceOptions{Query: q}
	classes := t.WaitingClasses()
	if len(classes) == 0 || w == nil || w.M != t.M {
		return 0, false
	}
	limit := int64(min(below, dearest) * market.NanoPerUSD)
	asked, memorable := t.question(askedLeast, q, w, int64(most), int64(tries), limit)
	if memorable {
		if known, has := t.recalled(asked); has {
			return known.price, known.ok
		}
	}
	before := t.Mark()
	price, ok = t.launchLeast(classes, w, most, tries, limit)
	if memorable {
		t.keepAnswer(asked, before, price, ok)
	}
	return price, ok
}

// launchLeast is LaunchLeast for the classes that wait, below the limit.
func (t *Launching) launchLeast(classes []int32, w *valuing.Worth, most, tries int, limit int64) (price float64, ok bool) {
	t.Begin(classes)
	t.Fresh = len(t.S.Planned)
	defer func() { t.Fresh = 0 }()
	orders := t.loadingOrders(classes)
	s := &launchSearch{t: t, w: w, least: limit}
	for i, order := range orders {
		s.classes = order
		s.tries += (tries - s.tries) / (len(orders) - i)
		s.open(most, 0)
	}
	if s.best == nil {
		return 0, false
	}
	for _, l := range s.best {
		s.launch(l)
	}
	placing.GrowthOf(t.Trial).Settle()
	return float64(s.least) / market.NanoPerUSD, true
}

// loadingOrders are the orders in which new nodes are filled: by size, and, where rules concern some of the pods but not all,
// those first.
func (t *Launching) loadingOrders(classes []int32) [][]int32 {
	ruled := func(class int32) bool { return t.M.Classes[class].Topology != nil }
	first := slices.Clone(classes)
	slices.SortStableFunc(first, func(a, b int32) int {
		if ruled(a) == ruled(b) {
			return 0
		}
		if ruled(a) {
			return -1
		}
		return 1
	})
	if slices.Equal(first, classes) {
		return [][]int32{classes}
	}
	return [][]int32{classes, first}
}

// launchSearch looks for the cheapest new nodes for the pods that wait, depth first.
type launchSearch struct {
	t       *Launching
	w       *valuing.Worth
	classes []int32
	// tries is how many more nodes may be opened.
	tries int
	// path is what is open, best the cheapest that holds all pods, and least what that costs, or may cost at most.
	path, best []opening
	least      int64
}

// opening is a node and how it is filled: the anchor's pods first, then the others in the order of the classes.
type opening struct {
	kind    kind
	anchor  int32
	classes []int32
}

// launch opens the node and puts pods on it; false if it takes none.
func (s *launchSearch) launch(l opening) bool {
	t := s.t
	host := t.S.Open(state.Node{Pool: l.kind.pool, Row: l.kind.row, Slot: l.kind.slot, Price: l.kind.price})
	if placing.SpreadsOf(t.Trial).Disturbs(host) {
		return false
	}
	(&loading{t: t, w: s.w, classes: l.classes, anchor: l.anchor}).place(&l.kind, host)
	return !t.S.Planned[len(t.S.Planned)-1].Empty()
}

// open opens nodes for the pods that wait, most at most, in addition to those that cost spent.
func (s *launchSearch) open(most int, spent int64) {
	t := s.t
	worth, left := int64(0), 0
	for _, class := range s.classes {
		worth += int64(t.S.Waiting[class]) * s.w.ByClass[class]
		left += int(t.S.Waiting[class])
	}
	if left == 0 {
		s.note()
		return
	}
	if most == 0 || spent+worth >= s.least {
		return
	}
	for _, l := range s.choices(spent) {
		if s.tries == 0 {
			return
		}
		if spent+l.kind.price >= s.least {
			continue
		}
		s.tries--
		before := t.Mark()
		if s.launch(l) {
			s.path = append(s.path, l)
			s.open(most-1, spent+l.kind.price)
			s.path = s.path[:len(s.path)-1]
		}
		t.Undo(before)
	}
}

// choices are the nodes to open next, by what they would hold for their price. Of several with equal cost and room, only the first is listed.
func (s *launchSearch) choices(spent int64) []opening {
	t := s.t
	anchor, kinds := t.anchorOf(s.classes)
	if anchor < 0 {
		return nil
	}
	f := t.newLoading(s.w, s.classes, anchor, kinds)
	type choice struct{ price, value int64 }
	seen := map[choice]bool{}
	var out []opening
	var scores []float64
	for i := range kinds {
		k := &kinds[i]
		if spent+k.price >= s.least {
			break
		}
		if !t.S.Limits.Affordable(k.pool, k.row) || !t.S.Limits.Reservable(k.pool, k.row, k.slot) {
			continue
		}
		c := choice{k.price, f.value(i, 0)}
		if c.value == 0 || seen[c] {
			continue
		}
		seen[c] = true
		score := math.Inf(1)
		if c.price > 0 {
			score = float64(c.value) / float64(c.price)
		}
		at, _ := slices.BinarySearchFunc(scores, score, func(known, score float64) int {
			if known >= score {
				return -1 // of equals the first found comes first
			}
			return 1
		})
		scores = slices.Insert(scores, at, score)
		out = slices.Insert(out, at, opening{*k, anchor, s.classes})
	}
	return out
}

// note keeps what is open if it costs less than the cheapest so far, each node exchanged for the cheapest that would do.
func (s *launchSearch) note() {
	t := s.t
	before := t.Mark()
	placing.GrowthOf(t.Trial).Settle()
	cost := int64(0)
	for i := t.Fresh; i < len(t.S.Planned); i++ {
		if !t.S.Planned[i].Empty() {
			cost += t.S.Planned[i].Price
		}
	}
	if cost < s.least {
		s.least, s.best = cost, slices.Clone(s.path)
	}
	t.Undo(before)
}
