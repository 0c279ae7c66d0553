package packing

import (
	"cmp"
	"slices"
)

// search packs the items of one problem onto nodes, with many strategies.
type search struct {
	p *Problem
	f *filler
	// ranked has the options of each cell, and all options for AnyCell. The good options come first, sorted by price. The other options
	// follow, sorted by their ratio of value to price, highest first.
	ranked map[int32]ranking
	// cells lists the cells that items are bound to, ascending.
	cells []int32
	// unit is the greatest common divisor of the prices of all options, in nano-USD per hour.
	unit int64
	// The field few is true if the problem has at most fewPods pods.
	few bool
	// cellAt has, for each item, the index of its cell in cells, or -1 for AnyCell.
	cellAt []int
	// bound is scratch space of choose. For each cell in cells, it has the value of the pods that are bound to the cell.
	bound []int64
	// nodes are the nodes of the last construction, with their loads. amounts and live are scratch space.
	nodes   []Node
	loads   []Load
	amounts []int64
	live    []int32
	picked  []int // of pick
}

// ranking is a list of options. The options before index good have nearly the best ratio of value to price, and are sorted by price.
type ranking struct {
	options []int32
	good    int
}

// goodBargain: an option is good if its ratio of value to price is at least this share of the best ratio, in parts of RatioOne. fairBargain
// is this share if there are few pods. It is lower, because for few pods a full node matters more than the value that the node could hold.
const (
	goodBargain = RatioOne * 95 / 100
	fairBargain = RatioOne * 60 / 100
	fewPods     = 600
	fewOptions  = 64
)

func newSearch(p *Problem) *search {
	s := &search{p: p, f: newFiller(p), ranked: map[int32]ranking{}}
	for i := range p.Items {
		if c := p.Items[i].Cell; c != AnyCell && !slices.Contains(s.cells, c) {
			s.cells = append(s.cells, c)
		}
	}
	slices.Sort(s.cells)
	s.bound, s.cellAt = make([]int64, len(s.cells)), make([]int, len(p.Items))
	for i := range p.Items {
		at, found := slices.BinarySearch(s.cells, p.Items[i].Cell)
		if s.cellAt[i] = at; !found {
			s.cellAt[i] = -1
		}
	}
	byCell := map[int32][]int32{}
	for o := range p.Options {
		byCell[AnyCell] = append(byCell[AnyCell], int32(o))
		if c := p.Options[o].Cell; c != AnyCell {
			byCell[c] = append(byCell[c], int32(o))
		}
	}
	pods := 0
	for i := range p.Items {
		pods += p.Items[i].Count
	}
	for o := range p.Options {
		s.unit = commonDivisor(s.unit, p.Options[o].Price)
	}
	least := int64(goodBargain)
	s.few = pods <= fewPods
	if s.few {
		least = fairBargain
	}
	if s.few && len(p.Options) <= fewOptions {
		least = 0 // with so few options, all of them count as good
	}
	for _, c := range append([]int32{AnyCell}, s.cells...) {
		s.ranked[c] = rank(p, byCell[c], least)
	}
	return s
}

// commonDivisor returns the greatest common divisor.
func commonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// roundUp rounds a cost up to a multiple of s.unit, because the cost of nodes is such a multiple.
func (s *search) roundUp(cost int64) int64 {
	if s.unit <= 1 {
		return cost
	}
	return (cost + s.unit - 1) / s.unit * s.unit
}

// rank sorts options. The good options come first, sorted by price. The other options follow, sorted by their ratio of value to price,
// highest first. An option is good if its ratio divided by the best ratio is at least the parameter least, in parts of RatioOne.
func rank(p *Problem, options []int32, least int64) ranking {
	best := int64(0)
	for _, o := range options {
		best = max(best, p.Options[o].Ratio)
	}
	good := func(o int32) bool { return p.Options[o].Ratio >= best*least/RatioOne }
	slices.SortFunc(options, func(a, b int32) int {
		if ga, gb := good(a), good(b); ga != gb {
			if ga {
				return -1
			}
			return 1
		} else if !ga {
			return cmp.Or(cmp.Compare(p.Options[b].Ratio, p.Options[a].Ratio), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b) // options are sorted by price, so the lower index has the lower price
	})
	r := ranking{options: options}
	for r.good < len(options) && good(options[r.good]) {
		r.good++
	}
	return r
}

// way is a strategy for choosing and filling nodes.
type way struct {
	// price is the preferred price of nodes: the good options with the nearest price are tried first.
	price int64
	// bonus raises the score of pods bound to a cell when a node is filled, in parts of 1,024.
	bonus int64
	// steady means that resources are weighted by the needs of all pods. If steady is false, they are weighted by the needs of the
	// remaining pods.
	steady bool
	// bySize means that the largest pods are placed first, regardless of the room that this leaves.
	bySize bool
}

// prices lists at most n prices of good options. The first is the price nearest to the likely price. The next prices are further and
// further away from it, up and down, in steps of about a quarter of the price. If there are few good options, prices lists all their
// prices.
func (s *search) prices(n int, likely int64) []int64 {
	r := s.ranked[AnyCell]
	if r.good == 0 {
		return nil
	}
	cheapest, dearest := s.p.Options[r.options[0]].Price, s.p.Options[r.options[r.good-1]].Price
	likely = min(max(likely, cheapest, 1), max(dearest, 1))
	var out []int64
	add := func(price int64) {
		if at := s.p.Options[r.options[s.nearest(r, price)]].Price; !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	add(likely)
	for up, down := likely, likely; len(out) < n && (up < dearest || down > cheapest); {
		if up < dearest {
			up += up/4 + 1
			add(up)
		}
		if down > cheapest && len(out) < n {
			down -= down/5 + 1
			add(down)
		}
	}
	if s.few && r.good <= fewOptions {
		for _, o := range r.options[:r.good] {
			add(s.p.Options[o].Price)
		}
	}
	return out
}

// nearest returns the index, among the good options, of the option whose price is nearest to the given price.
func (s *search) nearest(r ranking, price int64) int {
	at, _ := slices.BinarySearchFunc(r.options[:r.good], price, func(o int32, price int64) int { return cmp.Compare(s.p.Options[o].Price, price) })
	if at == r.good || (at > 0 && price-s.p.Options[r.options[at-1]].Price < s.p.Options[r.options[at]].Price-price) {
		at--
	}
	return at
}

// construct packs the remaining pods of the items (f.left) node by node. It returns false if some pod fits no option, if the cost of the
// nodes would not be less than the parameter below, or if the filler's steps are used up. The nodes are valid until the next construction:
// see copyOf.
func (s *search) construct(items []int32, w way, below int64) (nodes []Node, cost int64, ok bool) {
	p, f := s.p, s.f
	s.nodes, s.loads, s.amounts, s.live = s.nodes[:0], s.loads[:0], s.amounts[:0], s.live[:0]
	rest := int64(0) // the least cost of the remaining pods, computed from their values
	for _, i := range items {
		if f.left[i] > 0 {
			s.live = append(s.live, i)
			rest += p.Items[i].Value * int64(f.left[i])
		}
	}
	if s.roundUp(rest) >= below {
		return nil, 0, false
	}
	var last int32 = -1
	for len(s.live) > 0 {
		o := s.choose(s.live, w)
		if o < 0 {
			return nil, 0, false
		}
		if !w.steady || o != last {
			f.weigh(o, s.live)
			last = o
		}
		if w.bySize {
			f.fillBySize(o, s.live)
		} else {
			f.fill(o, s.live, w.bonus)
		}
		if len(f.load) == 0 || f.steps <= 0 {
			return nil, 0, false
		}
		n := s.filled(o)
		worth := s.worth(&n)
		for again := true; again; {
			cost += p.Options[n.Option].Price
			rest -= worth
			if cost+s.roundUp(rest) >= below {
				return nil, 0, false
			}
			s.nodes = append(s.nodes, n)
			again = w.steady
			for _, l := range n.Load {
				f.left[l.Item] -= int(l.Count)
				again = again && f.left[l.Item] >= int(l.Count)
			}
		}
		kept := s.live[:0]
		for _, i := range s.live {
			if f.left[i] > 0 {
				kept = append(kept, i)
			}
		}
		s.live = kept
	}
	return s.nodes, cost, true
}

// filled returns a node of the cheapest option that holds f.load, which was packed for the given option.
func (s *search) filled(option int32) Node {
	p, f := s.p, s.f
	from := len(s.loads)
	s.loads = append(s.loads, f.load...)
	n := Node{Option: option, Load: s.loads[from:len(s.loads):len(s.loads)]}
	from = len(s.amounts)
	for k, d := range f.asked {
		s.amounts = append(s.amounts, p.Options[option].Alloc[d]-f.free[k])
	}
	s.rightSize(&n, s.amounts[from:])
	return n
}

// worth returns the value of a node's pods.
func (s *search) worth(n *Node) int64 {
	worth := int64(0)
	for _, l := range n.Load {
		worth += s.p.Items[l.Item].Value * int64(l.Count)
	}
	return worth
}

// rightSize changes the node to the cheapest option that holds its load. used is the amount that the load needs of each dimension in asked.
func (s *search) rightSize(n *Node, used []int64) {
	p := s.p
	limit := p.Options[n.Option].Price
	for o := range p.Options {
		opt := &p.Options[o]
		if opt.Price >= limit {
			return
		}
		if s.holds(int32(o), n, used) && (p.Fits == nil || p.Fits(int32(o), n.Load)) {
			n.Option = int32(o)
			return
		}
	}
}

// holds reports whether a node of the option can hold the load of node n. used has the amounts of this load.
func (s *search) holds(option int32, n *Node, used []int64) bool {
	opt := &s.p.Options[option]
	for k, d := range s.f.asked {
		if used[k] > opt.Alloc[d] {
			return false
		}
	}
	for _, l := range n.Load {
		if !opt.open(s.p.Items[l.Item].Place) {
			return false
		}
	}
	return true
}

// choose returns the option of the next node, or -1 if no option is suitable. It chooses among the options of the cell whose bound pods
// have the most value. Of the good options that can hold some pod, it prefers the option with the price nearest to w.price. If no good
// option can hold a pod, it takes the option with the best ratio that can.
func (s *search) choose(live []int32, w way) int32 {
	p, f := s.p, s.f
	cell := int32(AnyCell)
	if len(s.cells) > 0 {
		clear(s.bound)
		for _, i := range live {
			if at := s.cellAt[i]; at >= 0 {
				s.bound[at] += int64(f.left[i]) * max(p.Items[i].Value, 1)
			}
		}
		most := int64(0)
		for at, value := range s.bound {
			if value > most {
				cell, most = s.cells[at], value
			}
		}
	}
	takes := func(o int32) bool {
		takes := f.on(o).takes
		return slices.ContainsFunc(live, func(i int32) bool {
			it := &p.Items[i]
			return takes[i] && (cell == AnyCell || it.Cell == cell) && (!it.Ruled || p.Room(o, nil, i) > 0)
		})
	}
	r := s.ranked[cell]
	if r.good > 0 {
		up := s.nearest(r, w.price)
		for down := up - 1; up < r.good || down >= 0; up, down = up+1, down-1 {
			if up < r.good && takes(r.options[up]) {
				return r.options[up]
			}
			if down >= 0 && takes(r.options[down]) {
				return r.options[down]
			}
		}
	}
	for _, o := range r.options[r.good:] {
		if takes(o) {
			return o
		}
	}
	return -1
}
