package scheduling

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// values say what placing one pod of each item is worth: the duals of covering all pods with machines, by column
// generation with fractional fillings (a value per pod class such that no machine can hold more value than its price).
// They steer the packing and, proved by certificate arithmetic, are the plan's lower bound.
type values struct {
	// item is indexed like problem.items: nano-USD per hour for one pod, rounded down to an integer before it steers
	// anything.
	item []int64
	// lambda is indexed [option*dims+resource]: what the option's resources are worth, nano-USD per hour and unit.
	lambda []float64
	// ratio is indexed by option: at most so much of its price can a filling of the option be worth.
	ratio []float64
	// bound is the proven lower bound in nano-USD per hour.
	bound float64
	// pricing is the linear program they come from.
	pricing *pricing
}

// maxLPRows bounds the linear program: more items than that are bundled by likeness. The bound stays proven, since the
// proof looks at every item by itself.
const maxLPRows = 128

// maxBundles is how many bundles are made where items are bundled.
const maxBundles = 64

// maxLPPasses bounds column generation; it nearly always ends sooner, with no column left that would improve.
const maxLPPasses = 60

// pricing is the state of one column generation.
type pricing struct {
	p       *problem
	bundles []bundle
	// need and most are indexed [bundle*dims+…] and [option][bundle]
	need   []float64
	most   [][]float64
	room   []float64 // [option*dims+d]
	master *master
	sack   *knapsack
	column []float64
	scale  []float64 // per resource: planner units per LP unit
	lambda []float64 // [option*dims+d], LP units
	value  []float64 // scratch
}

// bundle is one row of the linear program: items of one stage with much the same needs.
type bundle struct {
	items []int32
	at    int // position of the stage
	need  []float64
	count float64
	limit int
}

// findValues computes values for the problem's items. ctx ends the refinement early; what was found until then is
// still proven.
func (m *Model) findValues(ctx context.Context, p *problem) *values {
	v := &values{item: make([]int64, len(p.items)), lambda: make([]float64, len(p.options)*p.dims)}
	if len(p.items) == 0 || len(p.options) == 0 {
		return v
	}
	pr := newPricing(p, placesInUse(p.items))
	pr.generate(ctx)
	pr.settle()
	v.pricing, v.ratio = pr, make([]float64, len(p.options))
	v.take(pr, pr.bundleValues(), pr.lambda)
	if len(pr.bundles) < len(p.items) {
		v.take(pr, nil, pr.fullPrices())
	}
	return v
}

// take proves candidate values and keeps them if their bound is better than what v has. lambda are the options'
// resource prices in LP units; nil values stand for what those prices make of each item on the option that suits it best.
func (v *values) take(pr *pricing, u, lambda []float64) {
	if u == nil {
		u = make([]float64, len(pr.p.items))
		for b := range pr.bundles {
			for _, i := range pr.bundles[b].items {
				need := pr.p.items[i].need
				u[i] = pr.cheapest(pr.bundles[b].at, lambda, func(d int) float64 { return float64(need[d]) })
			}
		}
	}
	bound, shrink, ratio := pr.prove(u, lambda)
	if bound <= v.bound && v.bound > 0 {
		return
	}
	v.bound, v.ratio = bound, ratio
	for i := range u {
		v.item[i] = int64(u[i])
	}
	for i := range lambda {
		v.lambda[i] = lambda[i] * shrink / pr.scale[i%pr.p.dims]
	}
}

func newPricing(p *problem, places []place) *pricing {
	pr := &pricing{p: p, bundles: bundleItems(p, places), sack: newKnapsack(p.dims), scale: make([]float64, p.dims)}
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
// becomes a column and the values are corrected.
func (pr *pricing) generate(ctx context.Context) {
	if !pr.start() {
		return
	}
	p := pr.p
	hot := make([]int, 0, len(p.options))
	for range maxLPPasses {
		hot = hot[:0]
		for o := range p.options {
			// Of limited machines there are only so many: they are no measure of what pods are worth.
			if !p.options[o].limited && pr.improve(o) {
				hot = append(hot, o)
			}
		}
		if len(hot) == 0 || ctx.Err() != nil {
			break
		}
		for range 4 {
			again := false
			for _, o := range hot {
				again = pr.improve(o) || again
			}
			if !again {
				break
			}
		}
	}
	pr.dropNegative()
}

func (pr *pricing) dropNegative() {
	for range 2 * pr.master.rows {
		if pr.master.dropNegative() < 0 {
			return
		}
	}
}

// start opens the master with the cheapest single-class filling of each bundle.
func (pr *pricing) start() bool {
	n := len(pr.bundles)
	demand, per, price := make([]float64, n), make([]float64, n), make([]float64, n)
	for b := range pr.bundles {
		demand[b] = pr.bundles[b].count
		for o := range pr.p.options {
			f := pr.most[o][b]
			if f <= 0 || pr.p.options[o].limited {
				continue
			}
			c := float64(pr.p.options[o].price)
			if per[b] == 0 || c/f < price[b]/per[b] {
				per[b], price[b] = f, c
			}
		}
		if per[b] == 0 {
			// The mean of a bundle may fit nowhere although each item does; a tiny filling keeps the row alive.
			per[b], price[b] = 1, float64(pr.p.options[len(pr.p.options)-1].price)
		}
	}
	pr.master = newMaster(demand, per, price)
	return true
}

// improve prices one option against the present values and brings in its best filling if that is worth more than the
// machine.
func (pr *pricing) improve(o int) bool {
	p := pr.p
	for b, y := range pr.master.y {
		pr.value[b] = max(y, 0)
	}
	most := pr.most[o]
	hint := pr.lambda[o*p.dims : (o+1)*p.dims]
	pr.sack.solve(pr.room[o*p.dims:(o+1)*p.dims], pr.need, pr.value, most, hint)
	worth := 0.0
	for b, k := range pr.sack.k {
		worth += k * pr.value[b]
		pr.column[b] = k
	}
	copy(hint, pr.sack.lambda)
	price := float64(p.options[o].price)
	if worth <= price*(1+1e-6)+1e-3 {
		return false
	}
	if pr.master.enter(pr.column, price) < 0 {
		return false
	}
	pr.dropNegative()
	return true
}

// settle makes pr.value and pr.lambda those of the final duals.
func (pr *pricing) settle() {
	p := pr.p
	for b, y := range pr.master.y {
		pr.value[b] = max(y, 0)
	}
	for o := range p.options {
		l := pr.lambda[o*p.dims : (o+1)*p.dims]
		pr.sack.solve(pr.room[o*p.dims:(o+1)*p.dims], pr.need, pr.value, pr.most[o], l)
		copy(l, pr.sack.lambda)
	}
}

// bundleValues spreads the bundles' values over their items: in a bundle, a pod is worth the more, the more it would
// cost at the resource prices of the machine that suits it best.
func (pr *pricing) bundleValues() []float64 {
	u := make([]float64, len(pr.p.items))
	for b := range pr.bundles {
		bn := &pr.bundles[b]
		if len(bn.items) == 1 {
			u[bn.items[0]] = pr.value[b]
			continue
		}
		mean := pr.cheapest(bn.at, pr.lambda, func(d int) float64 { return bn.need[d] })
		for _, i := range bn.items {
			need := pr.p.items[i].need
			u[i] = pr.value[b]
			if mean > 0 {
				u[i] *= pr.cheapest(bn.at, pr.lambda, func(d int) float64 { return float64(need[d]) }) / mean
			}
		}
	}
	return u
}

// fullPrices are the options' resource prices raised so that each machine's resources together cost what it costs.
func (pr *pricing) fullPrices() []float64 {
	dims := pr.p.dims
	out := make([]float64, len(pr.lambda))
	for o := range pr.p.options {
		l, room := pr.lambda[o*dims:(o+1)*dims], pr.room[o*dims:(o+1)*dims]
		total := 0.0
		for d := range l {
			total += l[d] * room[d]
		}
		if total <= 0 {
			continue
		}
		for d := range l {
			out[o*dims+d] = l[d] * float64(pr.p.options[o].price) / total
		}
	}
	return out
}

// cheapest is what the needs cost at the resource prices of the option where that is least.
func (pr *pricing) cheapest(at int, lambda []float64, need func(d int) float64) float64 {
	p := pr.p
	best := math.Inf(1)
	for o := range p.options {
		if !p.options[o].open.has(at) {
			continue
		}
		sum := 0.0
		for d := range p.dims {
			sum += lambda[o*p.dims+d] * need(d) / pr.scale[d]
		}
		if sum > 0 {
			best = min(best, sum)
		}
	}
	if math.IsInf(best, 1) {
		return 0
	}
	return best
}

// prove scales u down until no option can hold more value than its price, and returns Σ count x u, by how much it
// scaled, and each option's ratio of value to price.
func (pr *pricing) prove(u, lambda []float64) (bound, shrink float64, ratio []float64) {
	p := pr.p
	worst := 1.0
	ratio = make([]float64, len(p.options))
	free := map[string]float64{} // by reservation: the most that one of its machines could hold for nothing
	for o := range p.options {
		worth := pr.worth(o, u, lambda[o*p.dims:(o+1)*p.dims])
		ratio[o] = worth / float64(max(p.options[o].price, 1))
		if p.options[o].limited {
			free[pr.p.reservation(o)] = max(free[pr.p.reservation(o)], worth-float64(p.options[o].price))
			continue
		}
		worst = max(worst, ratio[o])
	}
	shrink = 1 / worst * (1 - 1e-12)
	for o := range ratio {
		ratio[o] *= shrink
	}
	for i := range u {
		u[i] = math.Floor(u[i] * shrink)
		bound += u[i] * float64(p.items[i].count)
	}
	for id, most := range free {
		bound -= most * shrink * float64(p.left[id])
	}
	return max(bound, 0), shrink, ratio
}

// worth is an upper bound on the value one machine of the option can hold, by weak duality at multipliers l: the
// machine's resources at their prices, plus what each pod is worth beyond what it uses.
func (pr *pricing) worth(o int, u, l []float64) float64 {
	p := pr.p
	opt := &p.options[o]
	total := 0.0
	for d := range p.dims {
		total += l[d] * pr.room[o*p.dims+d]
	}
	for b := range pr.bundles {
		bn := &pr.bundles[b]
		if !opt.open.has(bn.at) {
			continue
		}
		for _, i := range bn.items {
			it := &p.items[i]
			excess := u[i]
			for d := range p.dims {
				excess -= l[d] * float64(it.need[d]) / pr.scale[d]
			}
			if excess <= 0 {
				continue
			}
			total += excess * float64(p.perOption(it, bn.at, opt))
		}
	}
	return total
}
