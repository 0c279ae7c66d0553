package packing

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// improve repacks a few nodes at a time, with nodes of similar price. Pods that must be apart, in zones or on separate nodes, may need
// small nodes that are nearly empty in addition to a large node. Repacking nodes of similar price does not find such packings. So handOver
// replaces a node by a smaller node, or removes it. The pods that no longer fit move to other nodes, which are replaced by larger nodes if
// necessary.

const (
	// maxGivers is the number of nodes that try to hand over pods in a round. maxTakers is the number of nodes that may take part in a
	// round. maxSmaller is the number of smaller options that are tried for each node.
	maxGivers, maxTakers, maxSmaller = 16, 32, 8
	// maxHandOverSteps is the maximum number of attempts to place a pod on a node. A higher number does not improve packings.
	maxHandOverSteps = 60_000
)

// handover is a set of nodes. One node, the giver, hands over pods to the other nodes, the takers.
type handover struct {
	s *search
	// option, count and used describe each node: its option, the number of its pods by item, and the amounts that they use.
	option []int32
	count  [][]int32
	used   [][]int64
	giver  int
	// cost is the total cost of the nodes.
	cost int64
	// trial is a copy on which a hand-over is tried. It is allocated only once.
	trial *handover
}

// handOver lets nodes hand over pods as long as that makes the packing cheaper, and for at most the given number of steps.
func (s *search) handOver(ctx context.Context, nodes []Node, bound int64, steps int) []Node {
	if !s.keepApart() {
		return nodes
	}
	s.f.steps = steps
	for len(nodes) > 1 && !Close(s.p.Cost(nodes), bound) && ctx.Err() == nil {
		order := s.byLoss(nodes)
		order = order[:min(len(order), maxTakers)]
		h, ok := s.newHandover(nodes, order).cheaper()
		if !ok {
			break
		}
		nodes = s.copyOf(h.packing(nodes, order))
	}
	return nodes
}

// keepApart reports whether pods are bound to cells or rules limit how many of them share a node. Such a rule is a dimension that is not a
// resource and that only some pods need.
func (s *search) keepApart() bool {
	p := s.p
	if len(s.cells) > 0 || slices.ContainsFunc(p.Items, func(it Item) bool { return it.Ruled || it.PerNode < it.Count }) {
		return true
	}
	return slices.ContainsFunc(s.f.asked, func(d int) bool {
		return !slices.Contains(p.Scarce, d) && slices.ContainsFunc(p.Items, func(it Item) bool { return it.Need[d] == 0 })
	})
}

// byLoss returns the indexes of the nodes, sorted by the amount by which their price exceeds the value of their pods, largest first.
func (s *search) byLoss(nodes []Node) []int {
	lost, order := make([]int64, len(nodes)), make([]int, len(nodes))
	for i := range nodes {
		order[i], lost[i] = i, s.p.Options[nodes[i].Option].Price
		for _, l := range nodes[i].Load {
			lost[i] -= s.p.Items[l.Item].Value * int64(l.Count)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(lost[b], lost[a]), cmp.Compare(a, b)) })
	return order
}

// newHandover returns a handover with the given nodes.
func (s *search) newHandover(nodes []Node, among []int) *handover {
	h := &handover{s: s}
	for _, i := range among {
		count, used := make([]int32, len(s.p.Items)), make([]int64, s.p.Dims)
		for _, l := range nodes[i].Load {
			count[l.Item] += l.Count
			for d, need := range s.p.Items[l.Item].Need {
				used[d] += need * int64(l.Count)
			}
		}
		h.option, h.count, h.used = append(h.option, nodes[i].Option), append(h.count, count), append(h.used, used)
		h.cost += s.p.Options[nodes[i].Option].Price
	}
	return h
}

// with returns a copy of h in which the given node is the giver, the node that hands over pods. The next call of with reuses the memory of
// the copy.
func (h *handover) with(giver int) *handover {
	c := h.trial
	if c == nil {
		c = &handover{s: h.s, option: make([]int32, len(h.option))}
		for i := range h.option {
			c.count, c.used = append(c.count, make([]int32, len(h.count[i]))), append(c.used, make([]int64, len(h.used[i])))
		}
		h.trial = c
	}
	c.giver, c.cost = giver, h.cost
	copy(c.option, h.option)
	for i := range h.option {
		copy(c.count[i], h.count[i])
		copy(c.used[i], h.used[i])
	}
	return c
}

// cheaper returns the first hand-over that makes the nodes cheaper.
func (h *handover) cheaper() (found *handover, ok bool) {
	spare := h.spare()
	for giver := 0; giver < min(len(h.option), maxGivers); giver++ {
		for _, o := range h.smaller(giver) {
			if h.s.f.steps <= 0 {
				return nil, false
			}
			if h.s.f.steps--; h.saves(giver, o, spare) <= 0 {
				continue
			}
			if c := h.with(giver); c.shrink(o, h.cost) && c.cost < h.cost {
				return c, true
			}
		}
	}
	return nil, false
}

// spare returns the total free room on all nodes, by dimension of Problem.Scarce.
func (h *handover) spare() []int64 {
	p := h.s.p
	out := make([]int64, len(p.Scarce))
	for k, d := range p.Scarce {
		for i, o := range h.option {
			out[k] += p.Options[o].Alloc[d] - h.used[i][d]
		}
	}
	return out
}

// saves returns an upper bound on the saving if the giver became a node of the option. It is the difference in price minus the least cost
// of the room that the nodes would then lack.
func (h *handover) saves(giver int, option int32, spare []int64) int64 {
	p := h.s.p
	was := &p.Options[h.option[giver]]
	saved, missing := was.Price, 0.0
	if option >= 0 {
		saved -= p.Options[option].Price
	}
	for k, d := range p.Scarce {
		lost := was.Alloc[d]
		if option >= 0 {
			lost -= p.Options[option].Alloc[d]
		}
		if lost > spare[k] && was.Alloc[d] > 0 {
			missing = max(missing, float64(lost-spare[k])*h.s.rate(d))
		}
	}
	return saved - int64(missing)
}

// rate returns the lowest cost of one unit of a resource among all options.
func (s *search) rate(d int) float64 {
	least := math.Inf(1)
	for o := range s.p.Options {
		if opt := &s.p.Options[o]; opt.Alloc[d] > 0 {
			least = min(least, float64(opt.Price)/float64(opt.Alloc[d]))
		}
	}
	return least
}

// smaller lists cheaper options for the node, at most maxSmaller, sorted by price, the most expensive option first. The last entry is -1,
// which means that the node is removed.
func (h *handover) smaller(node int) []int32 {
	p := h.s.p
	var out []int32
	last := p.Options[h.option[node]].Price
	for o := h.option[node] - 1; o >= 0 && len(out) < maxSmaller; o-- {
		if opt := &p.Options[o]; opt.Price < last && h.bindsTo(node, opt) {
			out, last = append(out, o), opt.Price
		}
	}
	return append(out, -1)
}

// bindsTo reports whether the option allows all pods of the node that are bound to a cell.
func (h *handover) bindsTo(node int, opt *Option) bool {
	for i, n := range h.count[node] {
		if it := &h.s.p.Items[i]; n > 0 && it.Cell != AnyCell && !opt.open(it.Place) {
			return false
		}
	}
	return true
}

// shrink changes the giver to a node of the option and hands over the pods that no longer fit. It returns false if this is not possible at
// a total cost less than the parameter below.
func (h *handover) shrink(option int32, below int64) bool {
	p := h.s.p
	h.cost -= p.Options[h.option[h.giver]].Price
	if h.option[h.giver] = option; option >= 0 {
		h.cost += p.Options[option].Price
	}
	for !h.holds(h.giver, option, -1) {
		if h.s.f.steps <= 0 || h.cost >= below {
			return false
		}
		item, taker := h.best()
		switch {
		case taker >= 0:
			h.move(item, taker)
		case !h.grow(below):
			return false
		}
	}
	for i, o := range h.option {
		if i != h.giver {
			h.become(i, h.cheapest(i, o))
		}
	}
	return true
}

// become changes a taker to a node of the option.
func (h *handover) become(taker int, option int32) {
	h.cost += h.s.p.Options[option].Price - h.s.p.Options[h.option[taker]].Price
	h.option[taker] = option
}

// move hands over a pod of the item to the taker.
func (h *handover) move(item int32, taker int) {
	h.count[h.giver][item]--
	h.count[taker][item]++
	for d, need := range h.s.p.Items[item].Need {
		h.used[h.giver][d] -= need
		h.used[taker][d] += need
	}
}

// grow changes a taker to an option that has room for a pod of the giver, for the least additional cost. It returns false if this is not
// possible at a total cost less than the parameter below.
func (h *handover) grow(below int64) bool {
	p := h.s.p
	taker, to, least := -1, int32(-1), below-h.cost
	for i, n := range h.count[h.giver] {
		if n == 0 || h.relief(int32(i)) == 0 {
			continue
		}
		for at := range h.option {
			if at == h.giver {
				continue
			}
			from := p.Options[h.option[at]].Price
			for o := h.option[at] + 1; int(o) < len(p.Options) && p.Options[o].Price-from < least; o++ {
				h.s.f.steps--
				if p.Options[o].Price > from && h.holds(at, o, int32(i)) {
					taker, to, least = at, o, p.Options[o].Price-from
					break
				}
			}
		}
	}
	if taker < 0 {
		return false
	}
	h.become(taker, to)
	return true
}

// cheapest returns the cheapest option before the given one that holds the node's pods, or the given option if none does. Options are
// sorted by price, and the given option holds the pods.
func (h *handover) cheapest(node int, option int32) int32 {
	for o := range option {
		if h.holds(node, o, -1) {
			return o
		}
	}
	return option
}

// packing returns all nodes of the packing, with the nodes of h in their changed form.
func (h *handover) packing(nodes []Node, among []int) []Node {
	out := slices.Clone(nodes)
	for k, i := range among {
		if h.option[k] >= 0 {
			out[i] = Node{Option: h.option[k], Load: h.load(k, -1)}
		}
	}
	if h.option[h.giver] < 0 {
		out = slices.Delete(out, among[h.giver], among[h.giver]+1)
	}
	return out
}
