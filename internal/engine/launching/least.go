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

// LaunchLeast does the same as LaunchSome for few pods, but searches more. It does not only open the node with the highest ratio of value
// to price each time. It also backtracks and tries the next best nodes, and tries to fill nodes first with pods that rules keep apart or
// together. It takes the cheapest result, and of equally cheap results the first. It abandons a branch when the cost of its nodes plus the
// value of the pods still pending reaches the cost of the cheapest result so far, or the parameter below (USD per hour). The parameter most
// limits the number of nodes in the result. The parameter tries limits the number of nodes that are opened during the search, including
// those that are closed again. If pods are tried in two orders, the first order gets half of this number, and the second order gets the
// whole number. So the result may not be the cheapest possible. price is the total price of the new nodes, in USD per hour. If no result is
// found, ok is false and no node is opened.
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

// launchLeast does the same as LaunchLeast, for the given pending classes and limit.
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

// loadingOrders returns the orders in which new nodes are filled. The first order is by size. If rules concern some but not all of the
// pods, the second order has those pods first.
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
	// tries is the number of further nodes that may be opened.
	tries int
	// path contains the new nodes of the present attempt. best has the cheapest new nodes found so far that hold all pods. least is the
	// cost of best, or the price limit as long as best is empty.
	path, best []opening
	least      int64
}

// opening is a kind of node to open, and the order in which the node is filled: first the pods of the class anchor, then the other pods in
// the order of the classes.
type opening struct {
	kind    kind
	anchor  int32
	classes []int32
}

// launch opens the node and puts pods on it. It returns false if the node takes no pods.
func (s *launchSearch) launch(l opening) bool {
	t := s.t
	host := t.S.Open(state.Node{Pool: l.kind.pool, Row: l.kind.row, Slot: l.kind.slot, Price: l.kind.price})
	if placing.SpreadsOf(t.Trial).Disturbs(host) {
		return false
	}
	(&loading{t: t, w: s.w, classes: l.classes, anchor: l.anchor}).place(&l.kind, host)
	return !t.S.Planned[len(t.S.Planned)-1].Empty()
}

// open opens new nodes for the pending pods, at most as many as the parameter most says, in addition to the nodes in path, and notes each
// result in which all pods have places. spent is the price of the nodes in path.
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

// choices returns the nodes to try next, sorted by the ratio of the value that they would hold to their price. If several nodes have the
// same price and would hold the same value, only the first is listed.
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
				return -1 // of equal nodes, the first found comes first
			}
			return 1
		})
		scores = slices.Insert(scores, at, score)
		out = slices.Insert(out, at, opening{*k, anchor, s.classes})
	}
	return out
}

// note stores the open nodes in s.best if they cost less than the cheapest nodes so far. Their cost is computed after Settle has replaced
// each node by the cheapest sufficient node.
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
