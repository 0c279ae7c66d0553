package scheduling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/lp"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Patterns are whole fillings of one node. A second column generation, over whole pods this time, finds the mix of
// patterns that covers all pods at least cost; bought as often as the mix says, rounded down, they place nearly
// everything, and the packer places the rest. It pays where pods are alike: with more than maxLPRows items the packer
// works alone.
type patterns struct {
	p      *problem
	values *values
	pr     *pricing
	master *lp.Master
	// inBasis is indexed like the master's rows: the filling behind each basic column; nil load for surplus.
	inBasis []filling
	order   []int32 // scratch
	density []float64
	free    []int64
	best    []int32 // scratch: count by item
	try     []int32
	from    []int32
}

// filling is a pattern on an option.
type filling struct {
	option int32
	load   []load
}

const (
	// maxPatternPasses bounds the second column generation.
	maxPatternPasses = 10
	// maxPatternItems is how many items there may be.
	maxPatternItems = 400
	// promising is the least share of its price that an option's best fractional filling must be worth to be looked at.
	promising = 0.8
	// optionsPerPlace is how many options of each place are looked at.
	optionsPerPlace = 5
	// worthAPass is the least share of the cost that a pass must save for another to be made.
	worthAPass = 2e-4
	// reprice is after how many seeds the resource prices are made again.
	reprice = 8
)

// newPatterns is nil where the method does not pay.
func newPatterns(p *problem, v *values, pr *pricing) *patterns {
	if pr == nil || len(p.items) == 0 || len(p.items) > maxPatternItems || len(pr.bundles) < len(p.items) {
		return nil
	}
	n := len(p.items)
	return &patterns{
		p: p, values: v, pr: pr, density: make([]float64, n), order: make([]int32, n), free: make([]int64, p.dims),
		best: make([]int32, n), try: make([]int32, n), from: make([]int32, n),
	}
}

// pack returns the rounded-down mix; left receives what it does not place.
func (s *patterns) pack(ctx context.Context, left []int) *binSet {
	s.start()
	options := s.promisingOptions()
	passes := 0
	for last := s.master.Objective(); ; {
		found := false
		for _, o := range options {
			found = s.seeded(o) || found
			for range 3 {
				if !s.improve(o) {
					break
				}
				found = true
			}
		}
		now := s.master.Objective()
		if passes++; !found || passes == maxPatternPasses || now > last*(1-worthAPass) || ctx.Err() != nil {
			break
		}
		last = now
	}
	return s.round(left)
}

// start opens the master with the cheapest single-item pattern of each item.
func (s *patterns) start() {
	n := len(s.p.items)
	demand, per, price := make([]float64, n), make([]float64, n), make([]float64, n)
	s.inBasis = make([]filling, n)
	for b := range s.pr.bundles {
		i := s.pr.bundles[b].items[0]
		demand[b] = float64(s.p.items[i].count)
		for o := range s.p.options {
			opt := &s.p.options[o]
			f := float64(s.p.perOption(&s.p.items[i], s.pr.bundles[b].at[0], opt))
			if f > 0 && (per[b] == 0 || float64(opt.price)/f < price[b]/per[b]) {
				per[b], price[b] = f, float64(opt.price)
				s.inBasis[b] = filling{int32(o), []load{{i, int32(f)}}}
			}
		}
	}
	s.master = lp.NewMaster(demand, per, price)
}

// pays reports whether the filling in s.best is worth more than the option's price.
func (s *patterns) pays(o int32) bool {
	worth := 0.0
	for b, n := range s.best {
		worth += float64(n) * s.master.Duals()[b]
	}
	return worth > float64(s.p.options[o].price)*(1+1e-7)+1e-3
}

// promisingOptions are those that the fractional program uses, and others that it finds worth (nearly) their price, the best few of
// each place.
func (s *patterns) promisingOptions() []int32 {
	out := s.pr.inMix()
	used := len(out)
	for o := range s.p.options {
		if s.values.ratio[o] >= promising && !slices.Contains(out[:used], int32(o)) {
			out = append(out, int32(o))
		}
	}
	slices.SortStableFunc(out[used:], func(a, b int32) int { return -cmp.Compare(s.values.ratio[a], s.values.ratio[b]) })
	taken := map[int]int{}
	return slices.DeleteFunc(out, func(o int32) bool {
		wanted := false
		for at := range s.p.options[o].open.Members {
			wanted = wanted || taken[at] < optionsPerPlace
			taken[at]++
		}
		return !wanted
	})
}

// seeded looks for whole fillings that hold at least one pod of each item in turn: without them the mix has only poor
// patterns for the items that are nobody's first choice, and the values converge slowly.
func (s *patterns) seeded(o int32) bool {
	pr := s.pr
	found, tried := false, 0
	for seed := range pr.bundles {
		if pr.most[o][seed] <= 0 {
			continue
		}
		if tried%reprice == 0 {
			s.price(o)
		}
		tried++
		for _, k := range []int32{1, int32(pr.most[o][seed])} {
			clear(s.from)
			s.from[seed] = k
			s.complete(o, s.from, s.best, int32(seed))
			if s.pays(o) {
				found = s.enter(o) || found
			}
			if pr.most[o][seed] <= 1 {
				break
			}
		}
	}
	return found
}

// improve looks for a whole filling of the option that is worth more than its price at the present values.
func (s *patterns) improve(o int32) bool {
	opt := &s.p.options[o]
	worth := s.fill(o)
	if worth <= float64(opt.price)*(1+1e-7)+1e-3 {
		return false
	}
	return s.enter(o)
}

// enter brings the filling in s.best into the mix.
func (s *patterns) enter(o int32) bool {
	opt := &s.p.options[o]
	column := s.pr.column
	clear(column)
	var loads []load
	for b := range s.pr.bundles {
		if n := s.best[b]; n > 0 {
			column[b] = float64(n)
			loads = append(loads, load{s.pr.bundles[b].items[0], n})
		}
	}
	row := s.master.Enter(column, float64(opt.price))
	if row < 0 {
		return false
	}
	s.inBasis[row] = filling{o, loads}
	for {
		row := s.master.DropNegative()
		if row < 0 {
			return true
		}
		s.inBasis[row] = filling{option: -1}
	}
}

// fill leaves the best whole filling it finds in s.best, by bundle, and returns its worth.
func (s *patterns) fill(o int32) float64 {
	pr := s.pr
	s.price(o)
	pr.sacks[o].Filling(pr.column)
	for b := range s.from {
		s.from[b] = int32(pr.column[b] + 1e-6)
	}
	best := s.complete(o, s.from, s.best)
	if w := s.complete(o, nil, s.try); w > best {
		best = w
		s.best, s.try = s.try, s.best
	}
	// Give up one pod of each item in turn and fill the room again.
	for range 4 {
		improved := false
		for _, b := range s.order {
			if s.best[b] == 0 {
				continue
			}
			copy(s.from, s.best)
			s.from[b]--
			w := s.complete(o, s.from, s.try, b)
			if w > best*(1+1e-9) {
				best, improved = w, true
				s.best, s.try = s.try, s.best
				break
			}
		}
		if !improved {
			break
		}
	}
	return best
}

// price makes the option's resource prices and order those of the present values.
func (s *patterns) price(o int32) {
	pr := s.pr
	for b := range pr.bundles {
		pr.value[b] = max(s.master.Duals()[b], 0)
	}
	pr.sacks[o].Solve(pr.value, -1)
	s.sortByDensity(o)
}

// sortByDensity orders the bundles by value per room taken on the option.
func (s *patterns) sortByDensity(o int32) {
	p, pr := s.p, s.pr
	s.order = s.order[:0]
	for b := range pr.bundles {
		if pr.most[o][b] <= 0 || pr.value[b] <= 0 {
			continue
		}
		size := 0.0
		for d := range pr.dims {
			size += (pr.lambda[int(o)*pr.dims+d] + 1e-3*float64(p.options[o].price)/max(pr.room[int(o)*pr.dims+d], 1e-9)) * pr.need[b*pr.dims+d]
		}
		s.density[b] = pr.value[b] / max(size, 1e-12)
		s.order = append(s.order, int32(b))
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		return cmp.Or(-cmp.Compare(s.density[a], s.density[b]), cmp.Compare(a, b))
	})
}

// complete takes start, by bundle (nil for nothing), and fills the rest by density, passing over the bundles of skip. Counts go to
// into, by bundle; the result is their worth.
func (s *patterns) complete(o int32, start, into []int32, skip ...int32) float64 {
	p, pr := s.p, s.pr
	clear(into)
	copy(s.free, p.options[o].alloc)
	worth := 0.0
	if start != nil {
		for _, b := range s.order {
			if start[b] == 0 {
				continue
			}
			it := &p.items[pr.bundles[b].items[0]]
			n := min(int(start[b]), resources.HowMany(it.need, s.free, min(it.count, it.perMachine)))
			into[b] = int32(n)
			resources.AddScaled(s.free, it.need, -int64(n))
			worth += float64(n) * pr.value[b]
		}
	}
	for _, b := range s.order {
		it := &p.items[pr.bundles[b].items[0]]
		if !resources.Fits(it.need, s.free) || slices.Contains(skip, b) {
			continue
		}
		if n := resources.HowMany(it.need, s.free, min(it.count, it.perMachine)-int(into[b])); n > 0 {
			into[b] += int32(n)
			resources.AddScaled(s.free, it.need, -int64(n))
			worth += float64(n) * pr.value[b]
		}
	}
	return worth
}

// round buys each pattern of the optimal mix as often as the mix says, rounded down, then once more where its pods are
// all still there.
func (s *patterns) round(left []int) *binSet {
	out := &binSet{}
	for i := range s.p.items {
		left[i] = s.p.items[i].count
	}
	type part struct {
		row  int
		rest float64
	}
	var parts []part
	buy := func(f *filling, times int) int {
		for _, l := range f.load {
			times = min(times, left[l.item]/int(l.count))
		}
		for range times {
			out.bins = append(out.bins, s.p.newBin(f.option, f.load, s.values))
		}
		for _, l := range f.load {
			left[l.item] -= times * int(l.count)
		}
		return times
	}
	for row := range s.inBasis {
		if s.inBasis[row].option < 0 {
			continue
		}
		times := int(s.master.Levels()[row] + 1e-6)
		buy(&s.inBasis[row], times)
		if rest := s.master.Levels()[row] - float64(times); rest > 0.5 {
			parts = append(parts, part{row, rest})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(-cmp.Compare(a.rest, b.rest), cmp.Compare(a.row, b.row)) })
	for _, pt := range parts {
		buy(&s.inBasis[pt.row], 1)
	}
	return out
}
