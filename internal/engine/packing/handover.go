package packing

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Improving packs a few nodes once more, with nodes of about one price. Where pods that keep apart, in zones or on nodes of their own, need
// small nodes that are nearly empty next to a large one, no single price is right. So a node also hands pods over: it becomes a smaller
// one, or none, and what it has no room for any more goes to other nodes, which grow for it.

const (
	// maxGivers is how many nodes try to hand pods over in a round, maxTakers how many may take part, and maxSmaller how many smaller
	// options are tried for each.
	maxGivers, maxTakers, maxSmaller = 16, 32, 8
	// maxHandOverSteps is how many pods may be tried on nodes; more brings nothing.
	maxHandOverSteps = 60_000
)

// handover is some nodes of which one, the giver, hands pods over to the others.
type handover struct {
	s *search
	// option, count and used are, by node, what it is and has; count is by item.
	option []int32
	count  [][]int32
	used   [][]int64
	giver  int
	// cost is what the nodes cost together.
	cost int64
	// trial is the copy that a way is tried on, made once.
	trial *handover
}

// handOver lets nodes hand pods over as long as that makes the packing cheaper, within so many steps.
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

// keepApart reports whether pods are bound to cells, or share nodes with few of their own or of a group: some dimension that is no
// resource is then one that others don't ask for.
func (s *search) keepApart() bool {
	p := s.p
	if len(s.cells) > 0 || slices.ContainsFunc(p.Items, func(it Item) bool { return it.Ruled || it.PerNode < it.Count }) {
		return true
	}
	return slices.ContainsFunc(s.f.asked, func(d int) bool {
		return !slices.Contains(p.Scarce, d) && slices.ContainsFunc(p.Items, func(it Item) bool { return it.Need[d] == 0 })
	})
}

// byLoss are the numbers of the nodes, those first that cost most beyond what their pods are worth.
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

// newHandover is those of the nodes.
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

// with is a copy with the given node as giver, in memory that the next one is in, too.
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

// cheaper is the first way found in which a node hands pods over so that the nodes cost less.
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

// spare is what is free on all nodes together, by dimension of Problem.Scarce.
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

// saves is what the giver's becoming one of the option saves, less what the room costs at least that would be missing then.
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

// rate is what one unit of a resource costs at least.
func (s *search) rate(d int) float64 {
	least := math.Inf(1)
	for o := range s.p.Options {
		if opt := &s.p.Options[o]; opt.Alloc[d] > 0 {
			least = min(least, float64(opt.Price)/float64(opt.Alloc[d]))
		}
	}
	return least
}

// smaller are options that a node could become, the dearest first; the last is none, -1.
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

// bindsTo reports whether the option takes all pods of the node that are bound to a cell.
func (h *handover) bindsTo(node int, opt *Option) bool {
	for i, n := range h.count[node] {
		if it := &h.s.p.Items[i]; n > 0 && it.Cell != AnyCell && !opt.open(it.Place) {
			return false
		}
	}
	return true
}

// shrink makes the giver one of the option and hands over what it has no room for; false where that would cost as much as below.
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

// become makes a taker one of the option.
func (h *handover) become(taker int, option int32) {
	h.cost += h.s.p.Options[option].Price - h.s.p.Options[h.option[taker]].Price
	h.option[taker] = option
}

// move hands a pod of the item over.
func (h *handover) move(item int32, taker int) {
	h.count[h.giver][item]--
	h.count[taker][item]++
	for d, need := range h.s.p.Items[item].Need {
		h.used[h.giver][d] -= need
		h.used[taker][d] += need
	}
}

// best is the pod of the giver whose going relieves it most, for what it takes of the room of a taker that has room; -1 for none.
func (h *handover) best() (item int32, taker int) {
	item, taker = -1, -1
	most := 0.0
	for i, n := range h.count[h.giver] {
		if n == 0 {
			continue
		}
		relief := h.relief(int32(i))
		if relief == 0 {
			continue
		}
		for to := range h.option {
			if h.s.f.steps--; to == h.giver || !h.holds(to, h.option[to], int32(i)) {
				continue
			}
			if score := relief / h.burden(int32(i), to); score > most {
				item, taker, most = int32(i), to, score
			}
		}
	}
	return item, taker
}

// relief is by how much of what the giver has too much of a pod's going lessens it.
func (h *handover) relief(item int32) float64 {
	p := h.s.p
	need, has := p.Items[item].Need, h.used[h.giver]
	if h.option[h.giver] < 0 {
		return 1 + h.burdenOf(need, has)
	}
	opt, sum := &p.Options[h.option[h.giver]], 0.0
	if !opt.open(p.Items[item].Place) {
		return 1
	}
	for d, used := range has {
		if over := used - opt.Alloc[d]; over > 0 {
			sum += float64(min(need[d], over)) / float64(over)
		}
	}
	return sum
}

// burden is how much of what is free on the taker a pod takes.
func (h *handover) burden(item int32, taker int) float64 {
	p := h.s.p
	opt, sum := &p.Options[h.option[taker]], 1e-6
	for _, d := range p.Scarce {
		if need := p.Items[item].Need[d]; need > 0 {
			sum += float64(need) / float64(opt.Alloc[d]-h.used[taker][d])
		}
	}
	return sum
}

// burdenOf is how much of the given amounts a pod with the need takes.
func (h *handover) burdenOf(need, of []int64) float64 {
	sum := 0.0
	for _, d := range h.s.p.Scarce {
		if need[d] > 0 {
			sum += float64(need[d]) / float64(of[d])
		}
	}
	return sum
}

// grow makes a taker one that a pod of the giver has room on, for the least added to the cost; false if that would cost as much as below.
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

// cheapest is the first option up to the given one that holds what the node has.
func (h *handover) cheapest(node int, option int32) int32 {
	for o := range option {
		if h.holds(node, o, -1) {
			return o
		}
	}
	return option
}

// holds reports whether a node of the option could have what the node has and a pod of the item more, if that is not -1.
func (h *handover) holds(node int, option, item int32) bool {
	p := h.s.p
	if option < 0 {
		return !slices.ContainsFunc(h.count[node], func(n int32) bool { return n > 0 })
	}
	opt := &p.Options[option]
	for d, used := range h.used[node] {
		if item >= 0 {
			used += p.Items[item].Need[d]
		}
		if used > opt.Alloc[d] {
			return false
		}
	}
	if item >= 0 && (!opt.open(p.Items[item].Place) || int(h.count[node][item]) >= p.Items[item].PerNode) {
		return false
	}
	if option == h.option[node] && (item < 0 || !p.Items[item].Ruled) && node != h.giver {
		return true // it has had all that it has
	}
	for i, n := range h.count[node] {
		if n > 0 && !opt.open(p.Items[i].Place) {
			return false
		}
	}
	return p.Fits == nil || p.Fits(option, h.load(node, item))
}

// load is what the node has and a pod of the item more, if that is not -1.
func (h *handover) load(node int, item int32) []Load {
	var out []Load
	for i, n := range h.count[node] {
		if int32(i) == item {
			n++
		}
		if n > 0 {
			out = append(out, Load{int32(i), n})
		}
	}
	return out
}

// packing is the nodes with what they are now in place of those they were made from.
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
