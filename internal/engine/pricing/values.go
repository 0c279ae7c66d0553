package pricing

import (
	"context"
	"math"
	"slices"
)

// Values contains the value of one pod of each item. These are the duals of covering all pods with nodes; column generation with fractional
// fillings finds them. On no node does the total value of the pods exceed the node's price. The values guide the packing. Integer
// arithmetic proves that a lower bound on the plan's cost follows from the values.
type Values struct {
	// Item is indexed like Problem.Items. It has the value of one pod in nano-USD per hour, rounded down to an integer.
	Item []int64
	// Lambda is indexed by option*dims+resource. It has the price of one unit of the option's resources in nano-USD per hour.
	Lambda []float64
	// Ratio has, for each option, an upper bound of the value of the pods on one node, divided by the option's price.
	Ratio []float64
	// Bound is the proven lower bound in nano-USD per hour.
	Bound     float64
	Certified Certified
	// Committed has the values for the problem's committed options. It is nil if the problem has no committed options.
	Committed *CommittedValues
	// Tighter are values with a better lower bound for a problem with committed options. It is nil if no such values were found.
	Tighter *Values
	// Whole says, for each option, which resources the bound counts in whole pods. It is nil if no resource is counted in whole pods.
	Whole []WholeCount
	// Program is the linear program that computed the values.
	Program *Program
}

// Find computes values for the problem's items. If ctx is cancelled, the refinement ends early; the values found so far are still proven.
func Find(ctx context.Context, p *Problem) *Values {
	v := WithoutCommitments(ctx, p)
	if len(p.Committed) > 0 && v.Program != nil {
		v.findCommitted(p)
		v.certify(p)
		v.tighten(ctx, p)
	}
	return v
}

// WithoutCommitments computes values for the problem without its commitments.
func WithoutCommitments(ctx context.Context, p *Problem) *Values {
	v := &Values{Item: make([]int64, len(p.Items)), Lambda: make([]float64, len(p.Options)*p.Dims)}
	if len(p.Items) == 0 || len(p.Options) == 0 {
		return v
	}
	pr := NewProgram(p, PlacesInUse(p.Items))
	pr.generate(ctx)
	v.Program, v.Ratio = pr, make([]float64, len(p.Options))
	for _, value := range [][]float64{pr.center, pr.master.Duals()} {
		pr.settle(value)
		v.take(pr, pr.bundleValues(), pr.Lambda)
	}
	if len(pr.Bundles) > 0 && !pr.Bundles[0].uniform {
		v.take(pr, nil, pr.fullPrices())
	}
	return v
}

// take proves the candidate values u, and also the values that v.lower returns. It stores the proven values in v if their lower bound is
// better than the bound of v. lambda has the options' resource prices in units of the linear program. If u is nil, the value of each item
// is the cost of its needs by those prices on the option where this cost is lowest.
func (v *Values) take(pr *Program, u, lambda []float64) {
	if u == nil {
		u = make([]float64, len(pr.p.Items))
		for b := range pr.Bundles {
			for _, i := range pr.Bundles[b].Items {
				need := pr.p.Items[i].Need
				u[i] = pr.cheapest(&pr.Bundles[b], lambda, func(d int) float64 { return float64(need[d]) })
			}
		}
	}
	lowered, prices := pr.lower(u, lambda)
	v.keep(pr, u, lambda)
	if lowered != nil {
		v.keep(pr, lowered, prices)
	}
}

// keep proves the candidate values u. If their lower bound is higher than the bound of v, it stores them in v. It changes the slice u.
func (v *Values) keep(pr *Program, u, lambda []float64) {
	shrink, ratio := pr.prove(u, lambda)
	found := &Values{Item: make([]int64, len(u)), Lambda: pr.perUnit(lambda, shrink), Ratio: ratio, Program: pr}
	for i := range u {
		found.Item[i] = int64(u[i])
	}
	found.certify(pr.p)
	if found.Bound > v.Bound || v.Bound <= 0 {
		*v = *found
	}
}

// perUnit converts resource prices from units of the linear program to planner units and multiplies them by scale. The result has all of
// the problem's dimensions. The price is 0 in dimensions that the program does not use.
func (pr *Program) perUnit(lambda []float64, scale float64) []float64 {
	dims := pr.p.Dims
	out := make([]float64, len(pr.p.Options)*dims)
	for o := range pr.p.Options {
		for d := range pr.Dims {
			out[o*dims+d] = lambda[o*pr.Dims+d] * scale / pr.scale[d]
		}
	}
	return out
}

// bundleValues divides the bundles' values among their items. Within a bundle, a pod's value is proportional to the cost of its needs, at
// the resource prices of the option where this cost is lowest.
func (pr *Program) bundleValues() []float64 {
	u := make([]float64, len(pr.p.Items))
	for b := range pr.Bundles {
		bn := &pr.Bundles[b]
		if bn.uniform {
			for _, i := range bn.Items {
				u[i] = pr.Value[b]
			}
			continue
		}
		mean := pr.cheapest(bn, pr.Lambda, func(d int) float64 { return bn.need[d] })
		for _, i := range bn.Items {
			need := pr.p.Items[i].Need
			u[i] = pr.Value[b]
			if mean > 0 {
				u[i] *= pr.cheapest(bn, pr.Lambda, func(d int) float64 { return float64(need[d]) }) / mean
			}
		}
	}
	return u
}

// fullPrices returns the options' resource prices, raised so that each node's resources together have the node's price.
func (pr *Program) fullPrices() []float64 {
	dims := pr.Dims
	out := make([]float64, len(pr.Lambda))
	for o := range pr.p.Options {
		l, room := pr.Lambda[o*dims:(o+1)*dims], pr.Room[o*dims:(o+1)*dims]
		total := 0.0
		for d := range l {
			total += l[d] * room[d]
		}
		if total <= 0 {
			continue
		}
		for d := range l {
			out[o*dims+d] = l[d] * float64(pr.p.Options[o].Price) / total
		}
	}
	return out
}

// cheapest returns the cost of the needs at the resource prices of the option where this cost is lowest.
func (pr *Program) cheapest(bn *bundle, lambda []float64, need func(d int) float64) float64 {
	p := pr.p
	best := math.Inf(1)
	for o := range p.Options {
		if !bn.takenBy(&p.Options[o]) {
			continue
		}
		sum := 0.0
		for d := range pr.Dims {
			sum += lambda[o*pr.Dims+d] * need(d) / pr.scale[d]
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

// nearlyProven is the factor up to which the value on an option may exceed the option's price without a correction by the method lower. For
// such small excesses, the method prove scales down all values.
const nearlyProven = 1 + 1e-5

// lower returns copies of the values u and the resource prices lambda. In the copies it lowers the resource prices of options that could
// hold more value than nearlyProven times their price, and the values of the pods on these options. It returns nil if there are no such
// options, or if values only guide a search. Without lower, prove would scale down all values because of the option with the highest ratio
// of value to price. That would unnecessarily lower the values of all other pods if the linear program was not solved to the end, or has
// rows for bundles of different pods.
func (pr *Program) lower(u, lambda []float64) (values, prices []float64) {
	if pr.p.Rough {
		return nil, nil
	}
	for o := range pr.p.Options {
		opt := &pr.p.Options[o]
		if opt.Limited {
			continue
		}
		from, to := o*pr.Dims, (o+1)*pr.Dims
		worth := pr.worth(o, u, lambda[from:to])
		if worth <= float64(opt.Price)*nearlyProven {
			continue
		}
		if values == nil {
			values, prices = slices.Clone(u), slices.Clone(lambda)
			u, lambda = values, prices
		}
		pr.lowerOption(o, float64(opt.Price)/worth, values, prices[from:to])
	}
	return values, prices
}

// lowerOption multiplies the value that the option can hold by the parameter share. It multiplies the resource prices l by the share. If a
// pod's value exceeds the price of the resources that the pod uses, the value is multiplied too. The value of any other pod is lowered to
// the reduced price of its resources, if it exceeds this price.
func (pr *Program) lowerOption(o int, share float64, values, l []float64) {
	opt := &pr.p.Options[o]
	for b := range pr.Bundles {
		bn := &pr.Bundles[b]
		for _, i := range bn.Items {
			it := &pr.p.Items[i]
			if bn.uniform && pr.Most[o][b] <= 0 || !bn.uniform && pr.p.PerOption(it, bn.At[0], opt) == 0 {
				continue
			}
			used := 0.0
			for d := range l {
				used += l[d] * float64(it.Need[d]) / pr.scale[d]
			}
			values[i] = min(values[i], share*max(values[i], used))
		}
	}
	for d := range l {
		l[d] *= share
	}
}

// prove scales u down until on no option with unlimited supply the value exceeds the price. It returns the factor (shrink), and each
// option's ratio of value to price.
func (pr *Program) prove(u, lambda []float64) (shrink float64, ratio []float64) {
	p := pr.p
	worst := 1.0
	ratio = make([]float64, len(p.Options))
	for o := range p.Options {
		worth := pr.worth(o, u, lambda[o*pr.Dims:(o+1)*pr.Dims])
		ratio[o] = worth / float64(max(p.Options[o].Price, 1))
		if !p.Options[o].Limited {
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

// worth returns an upper bound on the value that one node of the option can hold, by weak duality with the resource prices l. The bound is
// the price of the node's resources plus, for each pod whose value exceeds the price of its resources, the difference.
func (pr *Program) worth(o int, u, l []float64) float64 {
	p := pr.p
	opt := &p.Options[o]
	total := 0.0
	for d := range pr.Dims {
		total += l[d] * pr.Room[o*pr.Dims+d]
	}
	for b := range pr.Bundles {
		bn := &pr.Bundles[b]
		if !bn.takenBy(opt) {
			continue
		}
		if bn.uniform {
			excess := u[bn.Items[0]]
			for d := range pr.Dims {
				excess -= l[d] * pr.Need[b*pr.Dims+d]
			}
			total += max(excess, 0) * pr.Most[o][b]
			continue
		}
		for _, i := range bn.Items {
			it := &p.Items[i]
			excess := u[i]
			for d := range pr.Dims {
				excess -= l[d] * float64(it.Need[d]) / pr.scale[d]
			}
			if excess <= 0 {
				continue
			}
			total += excess * float64(p.PerOption(it, bn.At[0], opt))
		}
	}
	return total
}
