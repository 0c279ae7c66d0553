package scheduling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Improvement works on a finished packing, within a bound on work: each node is exchanged for the cheapest that
// holds its load, nodes whose pods fit into the others' slack are dropped, and the worst nodes are emptied and
// packed again.

// rightSize exchanges each bin for the cheapest option that can hold its load.
func (m *Model) rightSize(p *problem, g *binSet, at []int) {
	for i := range g.bins {
		if o := m.cheapestFor(p, &g.bins[i], at); o >= 0 {
			g.bins[i].option = o
		}
	}
}

// cheapestFor is the cheapest option that could hold the bin's load: options are sorted by price, so the first.
func (m *Model) cheapestFor(p *problem, b *bin, at []int) int32 {
	for o := range p.options {
		opt := &p.options[o]
		if opt.price > p.options[b.option].price {
			break
		}
		if p.holds(opt, b, at) && (opt.resident == p.options[b.option].resident || m.rulesAllow(p, opt, b)) {
			return int32(o)
		}
	}
	return -1
}

func (p *problem) holds(opt *option, b *bin, at []int) bool {
	if !resources.Fits(b.used, opt.alloc) {
		return false
	}
	for _, l := range b.load {
		if !opt.open.Has(at[l.item]) {
			return false
		}
	}
	return true
}

// dropEmptiable removes bins whose whole load fits into the slack of the others, the least loaded first.
func (m *Model) dropEmptiable(p *problem, g *binSet, at []int) {
	order := make([]int, len(g.bins))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.bins[a].worth, g.bins[b].worth), cmp.Compare(a, b))
	})
	gone := make([]bool, len(g.bins))
	for _, i := range order[:min(len(order), 64)] {
		if m.spread(p, g, i, gone, at) {
			gone[i] = true
		}
	}
	kept := g.bins[:0]
	for i := range g.bins {
		if !gone[i] {
			kept = append(kept, g.bins[i])
		}
	}
	g.bins = kept
}

// spread moves the load of bin i into other bins if all of it fits, else changes nothing.
func (m *Model) spread(p *problem, g *binSet, i int, gone []bool, at []int) bool {
	type move struct {
		to int
		load
	}
	var moves []move
	undo := func() {
		for _, mv := range moves {
			resources.AddScaled(g.bins[mv.to].used, p.items[mv.item].need, -int64(mv.count))
		}
	}
	free := make([]int64, p.dims)
	moved := map[int][]load{}
	for _, l := range g.bins[i].load {
		it := &p.items[l.item]
		left := int(l.count)
		for j := range g.bins {
			if left == 0 {
				break
			}
			opt := &p.options[g.bins[j].option]
			if j == i || gone[j] || !opt.open.Has(at[l.item]) {
				continue
			}
			for d := range free {
				free[d] = opt.alloc[d] - g.bins[j].used[d]
			}
			n := resources.HowMany(it.need, free, min(left, it.perMachine-g.bins[j].countOf(l.item)))
			if n > 0 && it.ruled {
				n = min(n, m.roomBeside(p, opt, &g.bins[j], moved[j], it))
			}
			if n <= 0 {
				continue
			}
			resources.AddScaled(g.bins[j].used, it.need, int64(n))
			moves = append(moves, move{j, load{l.item, int32(n)}})
			if it.ruled {
				moved[j] = append(moved[j], load{l.item, int32(n)})
			}
			left -= n
		}
		if left > 0 {
			undo()
			return false
		}
	}
	for _, mv := range moves {
		g.bins[mv.to].add(mv.load)
	}
	return true
}

// roomBeside is how many pods of the item rules about single nodes allow on the bin with what it has and what is to
// be moved there.
func (m *Model) roomBeside(p *problem, opt *option, b *bin, moved []load, it *item) int {
	s := newSketch(m)
	m.addResidents(s, opt.pool, opt.row)
	for _, list := range [2][]load{b.load, moved} {
		for _, l := range list {
			if it := &p.items[l.item]; it.ruled {
				s.add(it.topology, l.count)
			}
		}
	}
	return s.room(it.topology)
}

// rulesAllow reports whether the load keeps the rules about single nodes on a node of the option.
func (m *Model) rulesAllow(p *problem, opt *option, b *bin) bool {
	if !p.ruled(b) {
		return true
	}
	s := newSketch(m)
	m.addResidents(s, opt.pool, opt.row)
	for _, l := range b.load {
		it := &p.items[l.item]
		if !it.ruled {
			continue
		}
		o := it.topology
		if s.room(o) < int(l.count) {
			return false
		}
		s.add(o, l.count)
	}
	return true
}

// ruled reports whether the load has pods that rules have to be asked about one by one.
func (p *problem) ruled(b *bin) bool {
	return slices.ContainsFunc(b.load, func(l load) bool { return p.items[l.item].ruled })
}

func (b *bin) countOf(item int32) int {
	if i, ok := slices.BinarySearchFunc(b.load, item, func(l load, i int32) int { return cmp.Compare(l.item, i) }); ok {
		return int(b.load[i].count)
	}
	return 0
}

func (b *bin) add(l load) {
	at, ok := slices.BinarySearchFunc(b.load, l.item, func(x load, i int32) int { return cmp.Compare(x.item, i) })
	if ok {
		b.load[at].count += l.count
		return
	}
	b.load = slices.Insert(b.load, at, l)
}

// repackRounds and repackBins bound the work of repack.
const (
	repackRounds = 6
	repackBins   = 48
	// worthRepacking is the least share of the bins' cost, as 1/n, that packing them again must save.
	worthRepacking = 500
)

// repack empties the bins that hold least value for their price and packs their pods again; a cheaper packing is kept.
func (m *Model) repack(ctx context.Context, p *problem, g *binSet, v *values, at []int) {
	take := repackBins
	for range repackRounds {
		if len(g.bins) < 2 || ctx.Err() != nil {
			return
		}
		worst := p.worstBins(g, v, take)
		if len(worst) == 0 {
			return
		}
		if !m.repackBins(ctx, p, g, v, worst, at) {
			take /= 2
			if take < 4 {
				return
			}
		}
	}
}

// worstBins are the indices of up to take bins that hold least value per dollar, ascending.
func (p *problem) worstBins(g *binSet, v *values, take int) []int {
	type ranked struct {
		bin  int
		loss int64
	}
	var list []ranked
	for i := range g.bins {
		b := &g.bins[i]
		b.worth = 0
		for _, l := range b.load {
			b.worth += int64(l.count) * v.item[l.item]
		}
		if loss := p.options[b.option].price - b.worth; loss > p.options[b.option].price/500 {
			list = append(list, ranked{i, loss})
		}
	}
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Or(-cmp.Compare(a.loss, b.loss), cmp.Compare(a.bin, b.bin)) })
	var out []int
	for _, r := range list[:min(take, len(list))] {
		out = append(out, r.bin)
	}
	slices.Sort(out)
	return out
}

// repackBins packs the pods of the given bins again and reports whether that came out cheaper.
func (m *Model) repackBins(ctx context.Context, p *problem, g *binSet, v *values, bins []int, at []int) bool {
	before := int64(0)
	counts := map[int32]int{}
	for _, b := range bins {
		before += p.options[g.bins[b].option].price
		for _, l := range g.bins[b].load {
			counts[l.item] += int(l.count)
		}
	}
	sub, itemOf, optionOf := p.subproblem(counts, v)
	k := newPacker(m, sub, v.restrict(p.dims, itemOf, optionOf), nil)
	packed := k.pack(ctx)
	for _, left := range k.left {
		if left > 0 {
			return false
		}
	}
	m.rightSize(sub, packed, k.at)
	m.dropEmptiable(sub, packed, k.at)
	m.rightSize(sub, packed, k.at)
	if packed.cost(sub) >= before-before/worthRepacking {
		return false
	}
	var kept []bin
	for i := range g.bins {
		if _, found := slices.BinarySearch(bins, i); !found {
			kept = append(kept, g.bins[i])
		}
	}
	for _, b := range packed.bins {
		b.option = optionOf[b.option]
		for i := range b.load {
			b.load[i].item = itemOf[b.load[i].item]
		}
		slices.SortFunc(b.load, func(x, y load) int { return cmp.Compare(x.item, y.item) })
		kept = append(kept, b)
	}
	g.bins = kept
	return true
}

// hopeful is the least share of its price that an option's filling could be worth for it to be of use in repacking.
const hopeful = 0.7

// subproblem is the packing of some of the items, with those options that may be of use, in the same order. itemOf and
// optionOf give the numbers that its items and options have in p.
func (p *problem) subproblem(counts map[int32]int, v *values) (sub *problem, itemOf, optionOf []int32) {
	sub = &problem{dims: p.dims, assigned: p.assigned, cells: p.cells}
	for i := range p.items {
		if n := counts[int32(i)]; n > 0 {
			it := p.items[i]
			it.count = n
			sub.items = append(sub.items, it)
			itemOf = append(itemOf, int32(i))
		}
	}
	all, some := placesInUse(p.items), placesInUse(sub.items)
	for o := range p.options {
		if v.ratio[o] < hopeful {
			continue
		}
		opt := p.options[o]
		opt.open = bitset.New(len(some))
		for to, pl := range some {
			if p.options[o].open.Has(slices.Index(all, pl)) {
				opt.open.Add(to)
			}
		}
		if !opt.open.Empty() {
			sub.options = append(sub.options, opt)
			optionOf = append(optionOf, int32(o))
		}
	}
	return sub, itemOf, optionOf
}

// restrict is the values of a subproblem's items and options.
func (v *values) restrict(dims int, itemOf, optionOf []int32) *values {
	out := &values{item: make([]int64, len(itemOf)), ratio: make([]float64, len(optionOf)), lambda: make([]float64, len(optionOf)*dims)}
	for i, from := range itemOf {
		out.item[i] = v.item[from]
	}
	for o, from := range optionOf {
		out.ratio[o] = v.ratio[from]
		copy(out.lambda[o*dims:(o+1)*dims], v.lambda[int(from)*dims:])
	}
	return out
}
