package pricing

import (
	"context"
	"math"

	"github.com/drawknife/drawknife/internal/engine/lp"
)

// If only a few large pods fit on a node, the fractions in the linear program fill the node but whole pods don't. For example, on a node
// with 118 GiB, two pods of 52 GiB leave 14 GiB unused. If the gap is large because of this, the proof counts one or two resources of an
// instance type in whole pods. Dynamic programming finds the value of the best filling with whole pods, and anyone can repeat this
// computation. The needs for other resources may still be fractions of a node, so the proof of the bound uses a dual price for each of
// these resources.

const (
	// wholeGap is the share of the plan's cost that the gap between this cost and its lower bound must exceed, so that pods are counted
	// whole.
	wholeGap = 0.0125
	// wholePods is the maximum average number of pods per planned node if pods are counted whole. If there are more pods per node, they are
	// small enough to fill the node.
	wholePods = 6
	// wholeNodes is the least number of planned nodes for which pods are counted whole. With fewer nodes, the free room on the last node
	// costs more than whole pods gain.
	wholeNodes = 50
	// maxWholeStates is the maximum number of states of one knapsack. maxWholeSteps is the number of steps of dynamic programming for all
	// knapsacks of one plan after which the search ends.
	maxWholeStates = 6_000
	maxWholeSteps  = 300_000_000
	// maxSmallRoom applies to the second resource that is counted in whole pods, such as GPUs: it is the maximum number of its units on a
	// node.
	maxSmallRoom = 8
	// wholeNear is the share of the mix's cost by which the bound may be below this cost at the end of a search. wholeShare is a share of
	// the gap between the plan's cost and its bound. The search ends if it can close less than this share.
	wholeNear  = 5e-4
	wholeShare = 1.0 / 10
)

// WholeCount says which resources of an option a proof counts in whole pods (Dim), and the unit of each (Unit). A unit of 0 means that the
// proof does not count the resource in whole pods.
type WholeCount struct {
	Dim  [2]int
	Unit [2]int64
}

// Counts reports whether the resource is counted in whole pods.
func (w *WholeCount) Counts(d int) bool {
	return w.Unit[0] > 0 && w.Dim[0] == d || w.Unit[1] > 0 && w.Dim[1] == d
}

// wholePricing is the state of a column generation with fillings of whole pods.
type wholePricing struct {
	*Program
	kinds  []WholeCount
	sacks  []*lp.Whole
	value  []float64 // value and excess are scratch space
	excess []float64
	// steps is the number of steps of dynamic programming so far. When the cost of the mix falls below the field least, the search ends.
	steps int
	least float64
}

// CountWhole returns values with a better lower bound that counts whole pods, or nil if it finds none. The problem's seeds must be the
// plan's fillings.
func (v *Values) CountWhole(ctx context.Context, p *Problem) *Values {
	w := newWholePricing(p, v)
	w.generate(ctx, v.Program.InMix())
	if found := w.proven(); found.Bound > v.Bound {
		return found
	}
	return nil
}

// WorthCounting reports whether counting whole pods may improve the lower bound of a plan with this number of nodes: see CountWhole.
func (v *Values) WorthCounting(p *Problem, nodes int) bool {
	pods := 0
	for i := range p.Items {
		pods += p.Items[i].Count
	}
	return nodes >= wholeNodes && p.Planned-v.Bound > wholeGap*p.Planned && pods <= wholePods*nodes &&
		len(p.Committed) == 0 && len(v.Certified.Limits) == 0 && v.Program != nil && v.Program.Bundles[0].uniform
}

// newWholePricing starts with the plan's fillings and the proven values.
func newWholePricing(p *Problem, v *Values) *wholePricing {
	pr := NewProgram(p, PlacesInUse(p.Items))
	pr.start()
	pr.seed()
	pr.center, pr.centerBound = make([]float64, len(pr.Bundles)), v.Bound
	for b := range pr.Bundles {
		pr.center[b] = float64(v.Item[pr.Bundles[b].Items[0]])
	}
	return &wholePricing{
		Program: pr, kinds: make([]WholeCount, len(p.Options)), sacks: make([]*lp.Whole, len(p.Options)),
		value: make([]float64, len(pr.Bundles)), excess: make([]float64, len(pr.Bundles)),
		least: v.Bound + (p.Planned-v.Bound)*wholeShare,
	}
}

// generate improves the values with the given options, and then with further options that hold more value than their price at the new
// values.
func (w *wholePricing) generate(ctx context.Context, hot []int32) {
	isHot := make([]bool, len(w.p.Options))
	for _, o := range hot {
		isHot[o] = true
	}
	for range maxLPPasses {
		w.converge(ctx, hot)
		if w.ended(ctx) {
			return
		}
		copy(w.Program.Value, w.center)
		before, worst := len(hot), 1.0
		for _, of := range w.scan() {
			ratio := min(of.ratio, w.worthOf(of.option, w.center)/float64(max(w.p.Options[of.option].Price, 1)))
			worst = max(worst, ratio)
			if ratio > 1+1e-6 && !isHot[of.option] && len(hot) < before+maxNewOptions {
				isHot[of.option] = true
				hot = append(hot, of.option)
			}
		}
		if len(hot) == before {
			return
		}
		w.shrinkCenter(worst)
	}
}

// converge improves the mix with the given options until no option improves it, until its cost is near the bound (wholeNear), or until the
// search has ended.
func (w *wholePricing) converge(ctx context.Context, options []int32) {
	for range maxLPRounds {
		again := w.sweep(options, centerWeight)
		if !again {
			again = w.sweep(options, 0)
		}
		if cost := w.master.Objective(); !again || cost-w.centerBound <= cost*wholeNear || w.ended(ctx) {
			return
		}
	}
}

// ended reports whether the search has used all its steps, or can't gain much because the cost of the mix, an upper limit of all bounds, is
// below least.
func (w *wholePricing) ended(ctx context.Context) bool {
	return w.steps > maxWholeSteps || w.master.Objective() < w.least || ctx.Err() != nil
}

// sweep examines the options once, with values between the master's values and the best known values: see Program.sweep.
func (w *wholePricing) sweep(options []int32, weight float64) bool {
	for b, y := range w.master.Duals() {
		w.value[b] = weight*w.center[b] + (1-weight)*max(y, 0)
	}
	again, worst := false, 1.0
	for _, o := range options {
		worst = max(worst, w.worthOf(o, w.value)/float64(max(w.p.Options[o].Price, 1)))
		again = w.sacks[o] != nil && w.enterWhole(o) || again
	}
	bound := 0.0
	for b := range w.Bundles {
		bound += w.Bundles[b].count * w.value[b] / worst
	}
	if bound > w.centerBound {
		w.centerBound = bound
		for b, x := range w.value {
			w.center[b] = x / worst
		}
	}
	return again
}

// enterWhole adds the option's best filling to the mix, and for each bundle the best filling with a pod of it. It adds only fillings whose
// value exceeds the node's price. A single run of dynamic programming finds all these fillings.
func (w *wholePricing) enterWhole(o int32) bool {
	entered, enough := false, float64(w.p.Options[o].Price)*(1+1e-6)+1e-3
	for with := -1; with < len(w.Bundles); with++ {
		if !w.sacks[o].Filling(with, w.excess, w.Column) {
			continue
		}
		worth := 0.0
		for b, n := range w.Column {
			worth += n * w.master.Duals()[b]
		}
		if worth > enough {
			entered = w.enter(w.Column, o) || entered
		}
	}
	return entered
}

// worthOf returns an upper bound on the value that one node of the option holds, for the given values of bundles. One or two resources are
// counted in whole pods (see wholePricing.open), and the other resources by their prices. If no resource of the option is counted in whole
// pods, the option's entry in the field sacks is nil.
func (w *wholePricing) worthOf(o int32, value []float64) float64 {
	worth := w.Program.Sacks[o].Solve(value, -1)
	if w.sacks[o] == nil && !w.open(o) {
		return worth
	}
	rest := w.rest(o, value)
	w.steps += w.sacks[o].States() * len(w.Bundles)
	return min(worth, rest+w.sacks[o].Solve(w.excess))
}

// rest sets excess to the value of each pod minus the price of the resources that it uses and that aren't counted in whole pods. It returns
// the price of the node's room in these resources.
func (w *wholePricing) rest(o int32, value []float64) float64 {
	kind, sum := &w.kinds[o], 0.0
	copy(w.excess, value)
	for d := range w.Dims {
		l := w.Lambda[int(o)*w.Dims+d]
		if l == 0 || kind.Counts(d) {
			continue
		}
		sum += l * w.Room[int(o)*w.Dims+d]
		for b := range w.excess {
			w.excess[b] -= l * w.Need[b*w.Dims+d]
		}
	}
	return sum
}

// open makes the option's knapsack of whole pods. It counts the resource whose room on a node has the highest price at the current values,
// and one resource of which the node has few units. It returns false if no resource has a price.
func (w *wholePricing) open(o int32) bool {
	opt, kind := &w.p.Options[o], &w.kinds[o]
	most, second := 0.0, -1
	for d := range w.p.Resources {
		worth := w.Lambda[int(o)*w.Dims+d] * w.Room[int(o)*w.Dims+d]
		if worth <= 0 {
			continue
		}
		if opt.Alloc[d] <= maxSmallRoom {
			second = d
		} else if worth > most {
			most, kind.Dim[0] = worth, d
		}
	}
	if most == 0 {
		return false
	}
	room := [2]int{}
	small := int64(0)
	if second >= 0 {
		kind.Dim[1], kind.Unit[1], small = second, 1, opt.Alloc[second]
		room[1] = int(small)
	}
	kind.Unit[0] = w.unitOf(kind.Dim[0], opt.Alloc[kind.Dim[0]], maxWholeStates/(small+1))
	room[0] = int(opt.Alloc[kind.Dim[0]] / kind.Unit[0])
	need, limit := make([][2]int, len(w.Bundles)), make([]int, len(w.Bundles))
	for b := range need {
		first := w.p.Items[w.Bundles[b].Items[0]].Need
		for i := range need[b] {
			if kind.Unit[i] > 0 {
				need[b][i] = int(min(first[kind.Dim[i]]/kind.Unit[i], math.MaxInt32))
			}
		}
		limit[b] = int(min(w.Most[o][b], math.MaxInt32))
	}
	w.sacks[o] = lp.NewWhole(room, need, limit)
	return true
}

// unitOf returns the unit in which the resource is counted. The unit is the greatest common divisor of all needs. If the node's room would
// have more such units than the parameter most allows, the unit is the smallest that keeps this maximum.
func (w *wholePricing) unitOf(d int, room, most int64) int64 {
	unit := int64(0)
	for b := range w.Bundles {
		for a := w.p.Items[w.Bundles[b].Items[0]].Need[d]; a != 0; {
			unit, a = a, unit%a
		}
	}
	if unit > 0 && room/unit < most {
		return unit
	}
	return room/most + 1
}

// proven returns the best known values, lowered until on no option the value of the pods exceeds the price.
func (w *wholePricing) proven() *Values {
	p, worst := w.p, 1.0
	whole := make([]WholeCount, len(p.Options))
	ratio := make([]float64, len(p.Options))
	for o := range p.Options {
		price := float64(max(p.Options[o].Price, 1))
		worth := w.Program.Sacks[o].Solve(w.center, -1)
		if worth > price {
			if counted := w.worthOf(int32(o), w.center); counted < worth {
				worth, whole[o] = counted, w.kinds[o]
				for d := range w.Dims {
					if whole[o].Counts(d) {
						w.Lambda[o*w.Dims+d] = 0
					}
				}
			}
		}
		ratio[o] = worth / price
		worst = max(worst, ratio[o])
	}
	shrink := 1 / worst * (1 - 1e-12)
	out := &Values{Item: make([]int64, len(p.Items)), Lambda: w.perUnit(w.Lambda, shrink), Ratio: ratio, Program: w.Program, Whole: whole}
	for b := range w.Bundles {
		for _, i := range w.Bundles[b].Items {
			out.Item[i] = int64(math.Floor(w.center[b] * shrink))
		}
	}
	out.certify(p)
	return out
}
