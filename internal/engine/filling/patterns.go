package filling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/lp"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Patterns are fillings of one node with whole pods. A second column generation, over whole pods, finds the mix of patterns that covers all
// pods at the lowest cost. If each pattern is bought as often as the mix says, rounded down, nearly all pods have a node; the packer places
// the remaining pods. This helps if many pods are equal. If there are more than maxPatternItems items, only the packer is used.
type patterns struct {
	*Task
	pr     *pricing.Program
	master *lp.Master
	// inBasis is indexed like the master's rows. It has the filling of the basic column of each row. The load is nil for the column of a
	// surplus variable.
	inBasis []filling
	order   []int32 // scratch
	density []float64
	free    []int64
	best    []int32 // scratch: pod counts by item
	try     []int32
	from    []int32
}

// filling is an option with the pods of a pattern.
type filling struct {
	option int32
	load   []pricing.Load
}

const (
	// maxPatternPasses is the maximum number of passes of the second column generation.
	maxPatternPasses = 10
	// maxPatternItems is the largest number of items for which patterns are used.
	maxPatternItems = 400
	// promising is a share: an option is tried if its best fractional filling is worth at least this share of its price.
	promising = 0.8
	// optionsPerPlace is the number of options that are tried for each place.
	optionsPerPlace = 5
	// worthAPass is the least share of the cost that a pass must save. After a pass that saves less, no further pass follows.
	worthAPass = 2e-4
	// reprice is the number of bundles after which the method seeded computes the resource prices again.
	reprice = 8
)

// newPatterns returns the patterns for the task. It returns nil if there are too many items, or if the program of the values does not have
// a bundle for each item.
func newPatterns(t *Task) *patterns {
	p, pr := t.p, t.v.Program
	if pr == nil || len(p.Items) == 0 || len(p.Items) > maxPatternItems || len(pr.Bundles) < len(p.Items) {
		return nil
	}
	n := len(p.Items)
	return &patterns{
		Task: t, pr: pr, density: make([]float64, n), order: make([]int32, n), free: make([]int64, p.Dims),
		best: make([]int32, n), try: make([]int32, n), from: make([]int32, n),
	}
}

// pack computes the mix and returns it rounded down. For each item, it sets left[item] to the number of pods without a node.
func (s *patterns) pack(ctx context.Context, left []int) *Bins {
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

// start begins the master with the cheapest single-item pattern of each item.
func (s *patterns) start() {
	n := len(s.p.Items)
	demand, per, price := make([]float64, n), make([]float64, n), make([]float64, n)
	s.inBasis = make([]filling, n)
	for b := range s.pr.Bundles {
		i := s.pr.Bundles[b].Items[0]
		demand[b] = float64(s.p.Items[i].Count)
		for o := range s.p.Options {
			opt := &s.p.Options[o]
			f := float64(s.p.PerOption(&s.p.Items[i], s.pr.Bundles[b].At[0], opt))
			if f > 0 && (per[b] == 0 || float64(opt.Price)/f < price[b]/per[b]) {
				per[b], price[b] = f, float64(opt.Price)
				s.inBasis[b] = filling{int32(o), []pricing.Load{{Item: i, Count: int32(f)}}}
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
	return worth > float64(s.p.Options[o].Price)*(1+1e-7)+1e-3
}

// promisingOptions returns options until each place has optionsPerPlace of them. Options that the fractional program uses come first. Then
// options follow by descending ratio of value to price, if this ratio is at least the constant promising.
func (s *patterns) promisingOptions() []int32 {
	out := s.pr.InMix()
	used := len(out)
	for o := range s.p.Options {
		if s.v.Ratio[o] >= promising && !slices.Contains(out[:used], int32(o)) {
			out = append(out, int32(o))
		}
	}
	slices.SortStableFunc(out[used:], func(a, b int32) int { return -cmp.Compare(s.v.Ratio[a], s.v.Ratio[b]) })
	taken := map[int]int{}
	return slices.DeleteFunc(out, func(o int32) bool {
		wanted := false
		for at := range s.p.Options[o].Open.Members {
			wanted = wanted || taken[at] < optionsPerPlace
			taken[at]++
		}
		return !wanted
	})
}

// seeded looks for fillings of the option with whole pods that are worth more than its price, and adds them to the mix. For each bundle, it
// tries fillings that begin with one pod of the bundle, or with as many of its pods as possible. Without these fillings the mix has only
// poor patterns for bundles that no pattern prefers, and the values converge slowly.
func (s *patterns) seeded(o int32) bool {
	pr := s.pr
	found, tried := false, 0
	for seed := range pr.Bundles {
		if pr.Most[o][seed] <= 0 {
			continue
		}
		if tried%reprice == 0 {
			s.price(o)
		}
		tried++
		for _, k := range []int32{1, int32(pr.Most[o][seed])} {
			clear(s.from)
			s.from[seed] = k
			s.complete(o, s.from, s.best, int32(seed))
			if s.pays(o) {
				found = s.enter(o) || found
			}
			if pr.Most[o][seed] <= 1 {
				break
			}
		}
	}
	return found
}

// improve looks for a filling of the option with whole pods that is worth more than its price at the current values.
func (s *patterns) improve(o int32) bool {
	opt := &s.p.Options[o]
	worth := s.fill(o)
	if worth <= float64(opt.Price)*(1+1e-7)+1e-3 {
		return false
	}
	return s.enter(o)
}

// enter adds the filling in s.best to the mix.
func (s *patterns) enter(o int32) bool {
	opt := &s.p.Options[o]
	column := s.pr.Column
	clear(column)
	var loads []pricing.Load
	for b := range s.pr.Bundles {
		if n := s.best[b]; n > 0 {
			column[b] = float64(n)
			loads = append(loads, pricing.Load{Item: s.pr.Bundles[b].Items[0], Count: n})
		}
	}
	row := s.master.Enter(column, float64(opt.Price))
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

// fill looks for the best filling with whole pods. It puts the counts by bundle into s.best, and returns the value of the filling.
func (s *patterns) fill(o int32) float64 {
	pr := s.pr
	s.price(o)
	pr.Sacks[o].Filling(pr.Column)
	for b := range s.from {
		s.from[b] = int32(pr.Column[b] + 1e-6)
	}
	best := s.complete(o, s.from, s.best)
	if w := s.complete(o, nil, s.try); w > best {
		best = w
		s.best, s.try = s.try, s.best
	}
	// Up to four times, remove one pod of some bundle, fill the free room with other bundles, and keep the first result with a higher
	// value.
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

// price computes the option's resource prices and the order of its items from the current values.
func (s *patterns) price(o int32) {
	pr := s.pr
	for b := range pr.Bundles {
		pr.Value[b] = max(s.master.Duals()[b], 0)
	}
	pr.Sacks[o].Solve(pr.Value, -1)
	s.sortByDensity(o)
}

// sortByDensity sorts the bundles by their value for the room that they take on the option.
func (s *patterns) sortByDensity(o int32) {
	p, pr := s.p, s.pr
	s.order = s.order[:0]
	for b := range pr.Bundles {
		if pr.Most[o][b] <= 0 || pr.Value[b] <= 0 {
			continue
		}
		size := 0.0
		for d := range pr.Dims {
			size += (pr.Lambda[int(o)*pr.Dims+d] + 1e-3*float64(p.Options[o].Price)/max(pr.Room[int(o)*pr.Dims+d], 1e-9)) * pr.Need[b*pr.Dims+d]
		}
		s.density[b] = pr.Value[b] / max(size, 1e-12)
		s.order = append(s.order, int32(b))
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		return cmp.Or(-cmp.Compare(s.density[a], s.density[b]), cmp.Compare(a, b))
	})
}

// complete copies the counts of start (nil means none), and fills the remaining room in the order of density, without the bundles in skip.
// It writes the resulting counts to the slice into, by bundle, and returns their value.
func (s *patterns) complete(o int32, start, into []int32, skip ...int32) float64 {
	p, pr := s.p, s.pr
	clear(into)
	copy(s.free, p.Options[o].Alloc)
	worth := 0.0
	if start != nil {
		for _, b := range s.order {
			if start[b] == 0 {
				continue
			}
			it := &p.Items[pr.Bundles[b].Items[0]]
			n := min(int(start[b]), resources.HowMany(it.Need, s.free, min(it.Count, it.PerNode)))
			into[b] = int32(n)
			resources.AddScaled(s.free, it.Need, -int64(n))
			worth += float64(n) * pr.Value[b]
		}
	}
	for _, b := range s.order {
		it := &p.Items[pr.Bundles[b].Items[0]]
		if !resources.Fits(it.Need, s.free) || slices.Contains(skip, b) {
			continue
		}
		if n := resources.HowMany(it.Need, s.free, min(it.Count, it.PerNode)-int(into[b])); n > 0 {
			into[b] += int32(n)
			resources.AddScaled(s.free, it.Need, -int64(n))
			worth += float64(n) * pr.Value[b]
		}
	}
	return worth
}

// round buys each pattern of the optimal mix as often as the mix says, rounded down. Then it buys a pattern once more if all its pods are
// still unplaced.
func (s *patterns) round(left []int) *Bins {
	out := &Bins{}
	for i := range s.p.Items {
		left[i] = s.p.Items[i].Count
	}
	type part struct {
		row  int
		rest float64
	}
	var parts []part
	buy := func(f *filling, times int) int {
		for _, l := range f.load {
			times = min(times, left[l.Item]/int(l.Count))
		}
		for range times {
			out.List = append(out.List, s.newBin(f.option, f.load))
		}
		for _, l := range f.load {
			left[l.Item] -= times * int(l.Count)
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
