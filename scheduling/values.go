package scheduling

import (
	"context"
	"math"
	"slices"
)

// values say what placing one pod of each item is worth: the duals of covering all pods with nodes, by column
// generation with fractional fillings (a value per pod class such that no node can hold more value than its price).
// They steer the packing and, proved by certificate arithmetic, are the plan's lower bound.
type values struct {
	// item is indexed like problem.items: nano-USD per hour for one pod, rounded down to an integer before it steers
	// anything.
	item []int64
	// lambda is indexed [option*dims+resource]: what the option's resources are worth, nano-USD per hour and unit.
	lambda []float64
	// ratio is indexed by option: at most so much of its price can a filling of the option be worth.
	ratio []float64
	// bound is the lower bound that certified proves, nano-USD per hour.
	bound     float64
	certified certified
	// committed are values for the problem's committed options; nil without any.
	committed *committedValues
	// tighter are values with a better bound, for a problem with committed options; nil if there are none.
	tighter *values
	// pricing is the linear program they come from.
	pricing *pricing
}

// findValues computes values for the problem's items. ctx ends the refinement early; what was found until then is
// still proven.
func (m *Model) findValues(ctx context.Context, p *problem) *values {
	v := valuesOf(ctx, p)
	if len(p.committed) > 0 && v.pricing != nil {
		v.findCommitted(p)
		v.certify(p)
		v.tighten(ctx, p)
	}
	return v
}

// valuesOf are values for the problem with no commitment considered.
func valuesOf(ctx context.Context, p *problem) *values {
	v := &values{item: make([]int64, len(p.items)), lambda: make([]float64, len(p.options)*p.dims)}
	if len(p.items) == 0 || len(p.options) == 0 {
		return v
	}
	pr := newPricing(p, placesInUse(p.items))
	pr.generate(ctx)
	v.pricing, v.ratio = pr, make([]float64, len(p.options))
	for _, value := range [][]float64{pr.center, pr.master.Duals()} {
		pr.settle(value)
		v.take(pr, pr.bundleValues(), pr.lambda)
	}
	if len(pr.bundles) > 0 && !pr.bundles[0].uniform {
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
				u[i] = pr.cheapest(&pr.bundles[b], lambda, func(d int) float64 { return float64(need[d]) })
			}
		}
	}
	lowered, prices := pr.lower(u, lambda)
	v.keep(pr, u, lambda)
	if lowered != nil {
		v.keep(pr, lowered, prices)
	}
}

// keep proves candidate values, which it changes, and keeps them if their bound is better than what v has.
func (v *values) keep(pr *pricing, u, lambda []float64) {
	shrink, ratio := pr.prove(u, lambda)
	found := &values{item: make([]int64, len(u)), lambda: pr.perUnit(lambda, shrink), ratio: ratio, pricing: pr}
	for i := range u {
		found.item[i] = int64(u[i])
	}
	found.certify(pr.p)
	if found.bound > v.bound || v.bound <= 0 {
		*v = *found
	}
}

// perUnit are resource prices in LP units as prices of a planner's unit, scaled, for all of the problem's dimensions.
func (pr *pricing) perUnit(lambda []float64, scale float64) []float64 {
	dims := pr.p.dims
	out := make([]float64, len(pr.p.options)*dims)
	for o := range pr.p.options {
		for d := range pr.dims {
			out[o*dims+d] = lambda[o*pr.dims+d] * scale / pr.scale[d]
		}
	}
	return out
}

// bundleValues spreads the bundles' values over their items: in a bundle, a pod is worth the more, the more it would
// cost at the resource prices of the node that suits it best.
func (pr *pricing) bundleValues() []float64 {
	u := make([]float64, len(pr.p.items))
	for b := range pr.bundles {
		bn := &pr.bundles[b]
		if bn.uniform {
			for _, i := range bn.items {
				u[i] = pr.value[b]
			}
			continue
		}
		mean := pr.cheapest(bn, pr.lambda, func(d int) float64 { return bn.need[d] })
		for _, i := range bn.items {
			need := pr.p.items[i].need
			u[i] = pr.value[b]
			if mean > 0 {
				u[i] *= pr.cheapest(bn, pr.lambda, func(d int) float64 { return float64(need[d]) }) / mean
			}
		}
	}
	return u
}

// fullPrices are the options' resource prices raised so that each node's resources together cost what it costs.
func (pr *pricing) fullPrices() []float64 {
	dims := pr.dims
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
func (pr *pricing) cheapest(bn *bundle, lambda []float64, need func(d int) float64) float64 {
	p := pr.p
	best := math.Inf(1)
	for o := range p.options {
		if !bn.takenBy(&p.options[o]) {
			continue
		}
		sum := 0.0
		for d := range pr.dims {
			sum += lambda[o*pr.dims+d] * need(d) / pr.scale[d]
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

// nearlyProven is by what factor an option's worth may be above its price for all values to be scaled down by it.
const nearlyProven = 1 + 1e-5

// lower returns values and resource prices that are lowered for options that would hold far more value than their price, and for their
// pods; nil if there are none. Where the linear program was not solved to its end, or has rows for bundles of unlike pods, scaling
// all values down by the worst option takes from the pods of all others as well.
func (pr *pricing) lower(u, lambda []float64) (values, prices []float64) {
	if pr.p.rough {
		return nil, nil
	}
	for o := range pr.p.options {
		opt := &pr.p.options[o]
		if opt.limited {
			continue
		}
		from, to := o*pr.dims, (o+1)*pr.dims
		worth := pr.worth(o, u, lambda[from:to])
		if worth <= float64(opt.price)*nearlyProven {
			continue
		}
		if values == nil {
			values, prices = slices.Clone(u), slices.Clone(lambda)
			u, lambda = values, prices
		}
		pr.lowerOption(o, float64(opt.price)/worth, values, prices[from:to])
	}
	return values, prices
}

// lowerOption leaves the option no more than share of its worth: its resources' prices l are scaled by it, and so are the values of pods
// that were worth more than what they use; the others are then worth no more than what they use.
func (pr *pricing) lowerOption(o int, share float64, values, l []float64) {
	opt := &pr.p.options[o]
	for b := range pr.bundles {
		bn := &pr.bundles[b]
		for _, i := range bn.items {
			it := &pr.p.items[i]
			if bn.uniform && pr.most[o][b] <= 0 || !bn.uniform && pr.p.perOption(it, bn.at[0], opt) == 0 {
				continue
			}
			used := 0.0
			for d := range l {
				used += l[d] * float64(it.need[d]) / pr.scale[d]
			}
			values[i] = min(values[i], share*max(values[i], used))
		}
	}
	for d := range l {
		l[d] *= share
	}
}

// prove scales u down until no option that can be bought without limit holds more value than its price. It returns by how
// much it scaled, and each option's ratio of value to price.
func (pr *pricing) prove(u, lambda []float64) (shrink float64, ratio []float64) {
	p := pr.p
	worst := 1.0
	ratio = make([]float64, len(p.options))
	for o := range p.options {
		worth := pr.worth(o, u, lambda[o*pr.dims:(o+1)*pr.dims])
		ratio[o] = worth / float64(max(p.options[o].price, 1))
		if !p.options[o].limited {
			worst = max(worst, ratio[o])
		}
	}
	shrink = 1 / worst * (1 - 1e-12)
	for o := range ratio {
		ratio[o] *= shrink
	}
	for i := range u {
		u[i] = math.Floor(u[i] * shrink)
	}
	return shrink, ratio
}

// worth is an upper bound on the value one node of the option can hold, by weak duality at multipliers l: the
// node's resources at their prices, plus what each pod is worth beyond what it uses.
func (pr *pricing) worth(o int, u, l []float64) float64 {
	p := pr.p
	opt := &p.options[o]
	total := 0.0
	for d := range pr.dims {
		total += l[d] * pr.room[o*pr.dims+d]
	}
	for b := range pr.bundles {
		bn := &pr.bundles[b]
		if !bn.takenBy(opt) {
			continue
		}
		if bn.uniform {
			excess := u[bn.items[0]]
			for d := range pr.dims {
				excess -= l[d] * pr.need[b*pr.dims+d]
			}
			total += max(excess, 0) * pr.most[o][b]
			continue
		}
		for _, i := range bn.items {
			it := &p.items[i]
			excess := u[i]
			for d := range pr.dims {
				excess -= l[d] * float64(it.need[d]) / pr.scale[d]
			}
			if excess <= 0 {
				continue
			}
			total += excess * float64(p.perOption(it, bn.at[0], opt))
		}
	}
	return total
}
