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

// LaunchLeast is LaunchSome for few pods. It does not only open the node with the most value for its price each time, but goes back and
// tries the next best ones instead; it also tries filling nodes first with pods that rules keep apart or together. The cheapest outcome is
// chosen; of equally cheap outcomes, the first. A branch ends as soon as the cost of its nodes plus the value of the pods still pending
// reaches the cheapest outcome so far, or below, USD per hour. It opens at most most nodes. tries bounds all nodes that it opens, including
// those that it closes again; if pods are placed in two orders, the first order gets half as many tries and the second all of them. So the
// result need not be the least possible. price is the total price of the new nodes, USD per hour. If it finds nothing, ok is false and
// nothing is opened.
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

// launchLeast is LaunchLeast for the pending classes, below the limit.
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

// loadingOrders returns the orders in which new nodes are filled: by size, and, if rules concern some of the pods but not all, those pods
// first.
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

// launchSearch looks for the cheapest new nodes for the pending pods, depth first.
type launchSearch struct {
	t       *Launching
	w       *valuing.Worth
	classes []int32
	// tries is how many more nodes may be opened.
	tries int
	// path contains the open nodes, best the cheapest nodes that hold all pods, and least their cost or the limit.
	path, best []opening
	least      int64
}

// opening is a node and how to fill it: the anchor's pods first, then the others in the order of the classes.
type opening struct {
	kind    kind
	anchor  int32
	classes []int32
}

// launch opens the node and puts pods on it. It returns false if it takes none.
func (s *launchSearch) launch(l opening) bool {
	t := s.t
	host := t.S.Open(state.Node{Pool: l.kind.pool, Row: l.kind.row, Slot: l.kind.slot, Price: l.kind.price})
	if placing.SpreadsOf(t.Trial).Disturbs(host) {
		return false
	}
	(&loading{t: t, w: s.w, classes: l.classes, anchor: l.anchor}).place(&l.kind, host)
	return !t.S.Planned[len(t.S.Planned)-1].Empty()
}

// open opens at most most nodes for the pending pods, in addition to those that cost spent.
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

// choices returns the nodes to open next, by the value they would hold for their price. Of several with equal cost and room, only the first
// is listed.
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
				return -1 // of equal ones, the first found comes first
			}
			return 1
		})
		scores = slices.Insert(scores, at, score)
		out = slices.Insert(out, at, opening{*k, anchor, s.classes})
	}
	return out
}

// note keeps the open nodes if they cost less than the cheapest so far, each replaced by the cheapest that suffices.
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
