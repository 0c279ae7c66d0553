package scheduling

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// maxLPRows bounds the linear program: more items than that are bundled by likeness. The bound stays proven, since the
// proof looks at every item by itself.
const maxLPRows = 128

// maxBundles is how many bundles are made where items are bundled.
const maxBundles = 64

// maxLPPasses and maxLPRounds bound column generation: how often all options are looked at, and how often in between those
// that matter. It nearly always ends sooner, with no column left that would improve. maxNewOptions is how many options
// each pass adds to those that matter.
const (
	maxLPPasses   = 60
	maxLPRounds   = 200
	maxNewOptions = 8
	// roughColumns is how many columns a row may take where values only steer: where hundreds of machines are about as good a
	// bargain as each other, the last part in a thousand takes most of the time.
	roughColumns = 30
)

// pricing is the state of one column generation.
type pricing struct {
	p       *problem
	bundles []bundle
	// need and most are indexed [bundle*dims+…] and [option][bundle]
	need   []float64
	most   [][]float64
	room   []float64 // [option*dims+d]
	master *master
	sacks  []knapsack // by option
	column []float64
	scale  []float64 // per resource: planner units per LP unit
	lambda []float64 // [option*dims+d], LP units
	value  []float64 // scratch
	// entered counts the columns brought in.
	entered int
}

// bundle is one row of the linear program: items of one stage with much the same needs.
type bundle struct {
	items []int32
	at    int // position of the stage
	need  []float64
	count float64
	limit int
}

func newPricing(p *problem, places []place) *pricing {
	pr := &pricing{p: p, bundles: bundleItems(p, places), scale: make([]float64, p.dims)}
	for d := range pr.scale {
		pr.scale[d] = 1
		for i := range p.options {
			pr.scale[d] = max(pr.scale[d], float64(p.options[i].alloc[d]))
		}
	}
	n := len(pr.bundles)
	pr.need = make([]float64, n*p.dims)
	pr.column, pr.value = make([]float64, n), make([]float64, n)
	for b := range pr.bundles {
		for d := range p.dims {
			pr.need[b*p.dims+d] = pr.bundles[b].need[d] / pr.scale[d]
		}
	}
	pr.room = make([]float64, len(p.options)*p.dims)
	pr.lambda = make([]float64, len(p.options)*p.dims)
	pr.most = make([][]float64, len(p.options))
	flat := make([]float64, n*len(p.options))
	for o := range p.options {
		pr.most[o] = flat[o*n : (o+1)*n]
		for d := range p.dims {
			pr.room[o*p.dims+d] = float64(p.options[o].alloc[d]) / pr.scale[d]
		}
		for b := range pr.bundles {
			pr.most[o][b] = pr.bundles[b].perOption(&p.options[o])
		}
	}
	pr.sacks = newKnapsacks(p.dims, pr.room, pr.need, pr.most, pr.lambda)
	return pr
}

// perOption is how many pods of the bundle's mean size fit on an empty machine.
func (b *bundle) perOption(o *option) float64 {
	if !o.open.has(b.at) {
		return 0
	}
	most := float64(b.limit)
	if len(b.items) == 1 {
		most = min(most, b.count)
	}
	for d, need := range b.need {
		if need > 0 {
			fit := float64(o.alloc[d]) / need
			if len(b.items) == 1 {
				fit = math.Floor(fit * (1 + 1e-12))
			}
			most = min(most, fit)
		}
	}
	return max(most, 0)
}

// bundleItems groups items into bundles: one each if they are at most maxLPRows, else those of one place are
// halved again and again along the resource in which they differ most.
func bundleItems(p *problem, places []place) []bundle {
	var parts [][]int32
	for _, pl := range places {
		var part []int32
		for i := range p.items {
			if p.items[i].place == pl {
				part = append(part, int32(i))
			}
		}
		parts = append(parts, part)
	}
	if len(p.items) <= maxLPRows {
		var single [][]int32
		for _, part := range parts {
			for _, i := range part {
				single = append(single, []int32{i})
			}
		}
		parts = single
	}
	for len(p.items) > maxLPRows && len(parts) < maxBundles {
		at, dim, spread := -1, 0, 1.0
		for i, part := range parts {
			if d, s := widest(p, part); s > spread {
				at, dim, spread = i, d, s
			}
		}
		if at < 0 {
			break
		}
		lo, hi := halve(p, parts[at], dim)
		parts[at] = lo
		parts = append(parts, hi)
	}
	bundles := make([]bundle, len(parts))
	for i, part := range parts {
		bundles[i] = newBundle(p, part, places)
	}
	return bundles
}

func newBundle(p *problem, part []int32, places []place) bundle {
	b := bundle{items: part, at: slices.Index(places, p.items[part[0]].place), need: make([]float64, p.dims), limit: math.MaxInt}
	for _, i := range part {
		it := &p.items[i]
		b.count += float64(it.count)
		b.limit = min(b.limit, it.perMachine)
		for d := range b.need {
			b.need[d] += float64(it.need[d]) * float64(it.count)
		}
	}
	for d := range b.need {
		b.need[d] /= b.count
	}
	if b.limit < math.MaxInt && len(part) > 1 {
		b.limit = math.MaxInt // several classes: their bounds don't add up to one of the bundle
	}
	return b
}

// widest is the resource in which a part's items differ most, and by what factor, weighted by how many they are.
func widest(p *problem, part []int32) (dim int, spread float64) {
	for d := range p.dims {
		lo, hi := int64(math.MaxInt64), int64(0)
		for _, i := range part {
			lo, hi = min(lo, p.items[i].need[d]), max(hi, p.items[i].need[d])
		}
		s := float64(hi+1) / float64(lo+1)
		if s > 1 {
			s = 1 + (s-1)*math.Sqrt(float64(len(part)))
		}
		if s > spread {
			dim, spread = d, s
		}
	}
	return dim, spread
}

func halve(p *problem, part []int32, dim int) (lo, hi []int32) {
	sorted := slices.Clone(part)
	slices.SortFunc(sorted, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.items[a].need[dim], p.items[b].need[dim]), cmp.Compare(a, b))
	})
	mid := len(sorted) / 2
	// Equal needs stay together, so that halving ends.
	for mid < len(sorted) && p.items[sorted[mid]].need[dim] == p.items[sorted[mid-1]].need[dim] {
		mid++
	}
	if mid == len(sorted) {
		mid = len(sorted) / 2
		for mid > 0 && p.items[sorted[mid]].need[dim] == p.items[sorted[mid-1]].need[dim] {
			mid--
		}
	}
	return sorted[:mid], sorted[mid:]
}

// generate runs column generation: as long as some machine could be filled with more value than it costs, that filling
// becomes a column and the values are corrected. Few options matter in the end: it goes on with those that do until
// none improves, and only then looks whether any other would.
func (pr *pricing) generate(ctx context.Context) {
	hot := pr.start()
	pr.revalue()
	isHot := make([]bool, len(pr.p.options))
	for _, o := range hot {
		isHot[o] = true
	}
	for range maxLPPasses {
		pr.converge(ctx, hot)
		if pr.tired() || ctx.Err() != nil {
			return
		}
		before := len(hot)
		for _, o := range pr.scan() {
			if !isHot[o] && len(hot) < before+maxNewOptions {
				isHot[o] = true
				hot = append(hot, o)
			}
		}
		if len(hot) == before {
			return
		}
	}
}

// converge improves the mix by the given options until none of them does.
func (pr *pricing) converge(ctx context.Context, options []int32) {
	for range maxLPRounds {
		again := false
		for _, o := range options {
			again = pr.improve(o) || again
		}
		if !again || pr.tired() || ctx.Err() != nil {
			return
		}
	}
}

// tired reports whether the values are good enough for what they are needed for.
func (pr *pricing) tired() bool {
	return pr.p.rough && pr.entered > roughColumns*len(pr.bundles)
}

// scan returns the options that would improve the mix, those first that are worth most for their price.
func (pr *pricing) scan() []int32 {
	var found []offer
	for i := range pr.p.options {
		o := int32(i)
		// Of limited machines there are only so many: they are no measure of what pods are worth.
		if pr.p.options[o].limited || !pr.pays(o) {
			continue
		}
		found = append(found, offer{option: o, ratio: pr.sacks[o].solve(pr.value, -1) / max(float64(pr.p.options[o].price), 1)})
	}
	slices.SortStableFunc(found, func(a, b offer) int { return -cmp.Compare(a.ratio, b.ratio) })
	out := make([]int32, len(found))
	for i := range found {
		out[i] = found[i].option
	}
	return out
}

func (pr *pricing) dropNegative() {
	for range 2 * pr.master.rows {
		if pr.master.dropNegative() < 0 {
			return
		}
	}
}

// start opens the master with the cheapest single-class filling of each bundle and returns the options of those.
func (pr *pricing) start() []int32 {
	n := len(pr.bundles)
	demand, per, price, option := make([]float64, n), make([]float64, n), make([]float64, n), make([]int32, n)
	for b := range pr.bundles {
		demand[b] = pr.bundles[b].count
		for o := range pr.p.options {
			f := pr.most[o][b]
			if f <= 0 || pr.p.options[o].limited {
				continue
			}
			c := float64(pr.p.options[o].price)
			if per[b] == 0 || c/f < price[b]/per[b] {
				per[b], price[b], option[b] = f, c, int32(o)
			}
		}
		if per[b] == 0 {
			// The mean of a bundle may fit nowhere although each item does; a tiny filling keeps the row alive.
			last := len(pr.p.options) - 1
			per[b], price[b], option[b] = 1, float64(pr.p.options[last].price), -1
		}
	}
	pr.master = newMaster(demand, per, price)
	slices.Sort(option)
	option = slices.Compact(option)
	return slices.DeleteFunc(option, func(o int32) bool { return o < 0 })
}

// improve prices one option against the present values and brings in its best filling if that is worth more than the
// machine.
func (pr *pricing) improve(o int32) bool {
	if !pr.pays(o) {
		return false
	}
	pr.entered++
	pr.sacks[o].filling(pr.column)
	if pr.master.enter(pr.column, float64(pr.p.options[o].price)) < 0 {
		return false
	}
	pr.dropNegative()
	pr.revalue()
	return true
}

// pays reports whether the option's best filling is worth more than its price at the present values.
func (pr *pricing) pays(o int32) bool {
	enough := float64(pr.p.options[o].price)*(1+1e-6) + 1e-3
	return pr.sacks[o].solve(pr.value, enough) > enough
}

// revalue makes pr.value the master's duals.
func (pr *pricing) revalue() {
	for b, y := range pr.master.y {
		pr.value[b] = max(y, 0)
	}
}

// settle makes pr.lambda what the options' resources are worth at the final values.
func (pr *pricing) settle() {
	pr.revalue()
	for o := range pr.sacks {
		pr.sacks[o].solve(pr.value, -1)
	}
}
