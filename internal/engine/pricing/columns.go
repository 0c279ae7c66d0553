package pricing

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/lp"
)

// maxLPPasses and maxLPRounds bound column generation: how often all options are looked at, and how often in between those
// that matter. It nearly always ends sooner, with no column left that would improve: as long as one is left, all values have to be
// lowered by what that column is worth beyond its price. maxLPWork bounds the multiplications, of which a column takes the square of the
// rows. maxNewOptions is how many options each pass adds to those that matter.
const (
	maxLPPasses   = 60
	maxLPRounds   = 800
	maxLPWork     = 500_000_000
	maxNewOptions = 8
	// roughColumns is how many columns a row may take where values only steer: where hundreds of nodes are about as good a
	// bargain as each other, the last part in a thousand takes most of the time.
	roughColumns = 20
	// nearEnough and roughlyNear are by which part of the cost the best values known may fall short of it.
	nearEnough  = 1e-5
	roughlyNear = 2e-3
	// gapShare is the part of the gap between a plan and its bound that may be left unexplored.
	gapShare = 1.0 / 3
	// progress is by which part of the cost the mix or the bound must become better within idleColumns fillings for each row, and
	// gapProgress by which part of what they are apart: where hundreds of mixes cost the same, the search may stand still.
	// roughProgress and roughIdle hold instead where values only steer.
	progress      = 1e-5
	gapProgress   = 1.0 / 50
	idleColumns   = 4
	roughProgress = 1e-4
	roughIdle     = 1
	// plannedIdle is how many fillings for each row may be looked at in vain for a plan's proof before all options are asked whether the
	// best values known hold, and fairlyNear by which part of the plan's cost these may fall short of it then.
	plannedIdle = 1
	fairlyNear  = 2e-2
	// centerWeight is how much of the best values known goes into those that fillings are looked for with.
	centerWeight = 0.5
	// maxRoughRows is how many rows the program may have where values only steer.
	maxRoughRows = 96
)

// Program is the state of one column generation.
type Program struct {
	p       *Problem
	Bundles []bundle
	// Dims are the first dimensions of the problem that it looks at: all resources, and so many caps that rows stay few.
	Dims int
	// Need and most are indexed [bundle*dims+…] and [option][bundle]
	Need   []float64
	Most   [][]float64
	Room   []float64 // [option*dims+d]
	master *lp.Master
	Sacks  []lp.Knapsack // by option
	Column []float64
	scale  []float64 // per resource: planner units per LP unit
	Lambda []float64 // [option*dims+d], LP units
	Value  []float64 // scratch
	// entered counts the columns brought in.
	entered int
	// center are the values with the best bound among those tried, as far as the options looked at go, and centerBound is that.
	center      []float64
	centerBound float64
	stuck       standstill
	// checked is how many had been when some option held more of the best values known than its price: see idle.
	checked int
	// options are, by row of the master, those whose filling is its column; -1 for none.
	options []int32
}

// NewProgram is for the problem, whose items use the places.
func NewProgram(p *Problem, places []Place) *Program {
	pr := &Program{p: p}
	pr.Bundles, pr.Dims = bundleItems(p, places)
	pr.scale = make([]float64, pr.Dims)
	for d := range pr.scale {
		pr.scale[d] = 1
		for i := range p.Options {
			pr.scale[d] = max(pr.scale[d], float64(p.Options[i].Alloc[d]))
		}
	}
	n := len(pr.Bundles)
	pr.Need = make([]float64, n*pr.Dims)
	pr.Column, pr.Value = make([]float64, n), make([]float64, n)
	for b := range pr.Bundles {
		for d := range pr.Dims {
			pr.Need[b*pr.Dims+d] = pr.Bundles[b].need[d] / pr.scale[d]
		}
	}
	pr.Room = make([]float64, len(p.Options)*pr.Dims)
	pr.Lambda = make([]float64, len(p.Options)*pr.Dims)
	pr.Most = make([][]float64, len(p.Options))
	flat := make([]float64, n*len(p.Options))
	for o := range p.Options {
		pr.Most[o] = flat[o*n : (o+1)*n]
		for d := range pr.Dims {
			pr.Room[o*pr.Dims+d] = float64(p.Options[o].Alloc[d]) / pr.scale[d]
		}
		for b := range pr.Bundles {
			pr.Most[o][b] = pr.Bundles[b].perOption(&p.Options[o])
		}
	}
	pr.Sacks = lp.NewKnapsacks(pr.Dims, pr.Room, pr.Need, pr.Most, pr.Lambda)
	return pr
}

// generate runs column generation: as long as some node could be filled with more value than it costs, that filling
// becomes a column and the values are corrected. Few options matter in the end: it goes on with those that do until
// none improves, and only then looks whether any other would.
func (pr *Program) generate(ctx context.Context) {
	hot := pr.start()
	pr.spread(pr.startCenter())
	pr.seed()
	pr.revalue()
	isHot := make([]bool, len(pr.p.Options))
	for _, o := range hot {
		isHot[o] = true
	}
	for _, o := range pr.InMix() {
		if !isHot[o] {
			isHot[o] = true
			hot = append(hot, o)
		}
	}
	for range maxLPPasses {
		pr.converge(ctx, hot)
		if pr.exhausted() || ctx.Err() != nil {
			return
		}
		near := pr.near() || pr.idle()
		if near {
			copy(pr.Value, pr.center)
		}
		before := len(hot)
		found := pr.scan()
		for _, of := range found {
			if !isHot[of.option] && len(hot) < before+maxNewOptions {
				isHot[of.option] = true
				hot = append(hot, of.option)
			}
		}
		if near && len(found) > 0 {
			pr.shrinkCenter(found[0].ratio) // and go on, if only with the options looked at so far
			pr.checked = pr.entered
		} else if len(hot) == before {
			return
		}
	}
}

// converge improves the mix by the given options until none of them does.
func (pr *Program) converge(ctx context.Context, options []int32) {
	for range maxLPRounds {
		again := pr.sweep(options)
		if !again {
			for _, o := range options {
				pr.revalue()
				again = pr.improve(o) || again
			}
		}
		if !again || pr.near() || pr.exhausted() || pr.idle() || ctx.Err() != nil {
			pr.revalue()
			return
		}
	}
	pr.revalue()
}

// sweep looks at the options once, by values between the master's and the best known. The master's alone leap to and fro while hundreds
// of fillings are about as good as each other; in between they lead there in a fraction of the columns.
//
// Source: P. Wentges, "Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming", 1997.
func (pr *Program) sweep(options []int32) bool {
	for b, y := range pr.master.Duals() {
		pr.Value[b] = centerWeight*pr.center[b] + (1-centerWeight)*max(y, 0)
	}
	again, worst := false, 1.0
	for _, o := range options {
		price := float64(pr.p.Options[o].Price)
		worst = max(worst, pr.Sacks[o].Solve(pr.Value, -1)/max(price, 1))
		pr.Sacks[o].Filling(pr.Column)
		worth := 0.0
		for b, n := range pr.Column {
			worth += n * pr.master.Duals()[b]
		}
		if worth > price*(1+1e-6)+1e-3 {
			pr.entered++
			again = pr.enter(pr.Column, o) || again
		}
	}
	bound := 0.0
	for b := range pr.Bundles {
		bound += pr.Bundles[b].count * pr.Value[b] / worst
	}
	if bound > pr.centerBound {
		pr.centerBound = bound
		for b, v := range pr.Value {
			pr.center[b] = v / worst
		}
	}
	return again
}

// near reports whether the best values known are within a small part of what the mix costs, which no values can exceed.
func (pr *Program) near() bool {
	apart := nearEnough
	if pr.p.Rough {
		apart = roughlyNear
	}
	cost := pr.master.Objective()
	near := cost * apart
	if len(pr.Bundles) >= FewItems {
		near = max(near, (pr.p.Planned-pr.centerBound)*gapShare)
	}
	return cost-pr.centerBound <= near
}

// exhausted reports whether as many fillings were looked at as the values are worth.
func (pr *Program) exhausted() bool {
	rows, idle, cost := len(pr.Bundles), idleColumns, pr.master.Objective()
	least := max(cost*progress, (cost-pr.centerBound)*gapProgress)
	if pr.p.Rough {
		least, idle = cost*roughProgress, roughIdle
	}
	if cost < pr.stuck.cost-least || pr.centerBound > pr.stuck.bound+least {
		pr.stuck = standstill{cost, pr.centerBound, pr.entered}
	} else if pr.entered-pr.stuck.entered > idle*rows {
		return true
	}
	return pr.p.Rough && pr.entered > roughColumns*rows || pr.entered*rows*rows > maxLPWork
}

// idle reports whether, for a plan's proof, a few fillings have made neither the mix nor the bound better although they are not far
// apart. The mix begins with the plan's own fillings, and hundreds of others cost the same: the best values known are then as good as
// they get, unless an option that was not looked at holds more of them than its price.
func (pr *Program) idle() bool {
	return pr.p.Planned > 0 && pr.entered-max(pr.stuck.entered, pr.checked) > plannedIdle*len(pr.Bundles) &&
		pr.p.Planned-pr.centerBound <= pr.p.Planned*fairlyNear
}

// standstill is what the mix cost, the best bound, and how many fillings had been looked at when either last became better.
type standstill struct {
	cost, bound float64
	entered     int
}

// shrinkCenter makes up for an option that holds more of the best values known than its price, by the ratio.
func (pr *Program) shrinkCenter(ratio float64) {
	if ratio <= 1 {
		return
	}
	pr.centerBound /= ratio
	for b := range pr.center {
		pr.center[b] /= ratio
	}
}

// worthMore is an option that is worth more than its price, and the most that a node of it holds of the present values, in prices.
type worthMore struct {
	option int32
	ratio  float64
}

// scan returns the options that hold more of the present values than their price, those first that hold most for it.
func (pr *Program) scan() []worthMore {
	var found []worthMore
	for i := range pr.p.Options {
		o := int32(i)
		// Of limited nodes there are only so many: they are no measure of what pods are worth.
		if pr.p.Options[o].Limited || !pr.pays(o) {
			continue
		}
		found = append(found, worthMore{option: o, ratio: pr.Sacks[o].Solve(pr.Value, -1) / max(float64(pr.p.Options[o].Price), 1)})
	}
	slices.SortStableFunc(found, func(a, b worthMore) int { return -cmp.Compare(a.ratio, b.ratio) })
	return found
}

// enter brings a filling of the option into the mix; false if that can't improve anything.
func (pr *Program) enter(column []float64, o int32) bool {
	row := pr.master.Enter(column, float64(pr.p.Options[o].Price))
	if row < 0 {
		return false
	}
	pr.options[row] = o
	for range 2 * pr.master.Rows() {
		if row = pr.master.DropNegative(); row < 0 {
			break
		}
		pr.options[row] = -1
	}
	return true
}

// improve prices one option against the present values and brings in its best filling if that is worth more than the
// node.
func (pr *Program) improve(o int32) bool {
	if !pr.pays(o) {
		return false
	}
	pr.entered++
	pr.Sacks[o].Filling(pr.Column)
	if !pr.enter(pr.Column, o) {
		return false
	}
	pr.revalue()
	return true
}

// pays reports whether the option's best filling is worth more than its price at the present values.
func (pr *Program) pays(o int32) bool {
	enough := float64(pr.p.Options[o].Price)*(1+1e-6) + 1e-3
	return pr.Sacks[o].Solve(pr.Value, enough) > enough
}

// revalue makes pr.value the master's duals.
func (pr *Program) revalue() {
	for b, y := range pr.master.Duals() {
		pr.Value[b] = max(y, 0)
	}
}

// MeanPrice is what a node of the mix costs in the mean, nano-USD per hour.
func (pr *Program) MeanPrice() int64 {
	sum := 0.0
	for _, level := range pr.master.Levels() {
		sum += level
	}
	return int64(pr.master.Objective() / max(sum, 1))
}

// InMix are the options of the mix, those on which most is spent first.
func (pr *Program) InMix() []int32 {
	spent := map[int32]float64{}
	var out []int32
	for row, o := range pr.options {
		if o < 0 || pr.master.Levels()[row] <= 0 {
			continue
		}
		if spent[o] == 0 {
			out = append(out, o)
		}
		spent[o] += pr.master.Levels()[row] * pr.master.Prices()[row]
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Or(-cmp.Compare(spent[a], spent[b]), cmp.Compare(a, b)) })
	return out
}

// Nodes is how many nodes the mix has.
func (pr *Program) Nodes() int {
	sum := 0.0
	for _, level := range pr.master.Levels() {
		sum += level
	}
	return int(sum)
}

// settle makes pr.lambda what the options' resources are worth at the given values, by bundle.
func (pr *Program) settle(value []float64) {
	for b, u := range value {
		pr.Value[b] = max(u, 0)
	}
	for o := range pr.Sacks {
		pr.Sacks[o].Solve(pr.Value, -1)
	}
}
