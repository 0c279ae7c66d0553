package pricing

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/lp"
)

// maxLPPasses and maxLPRounds limit column generation. maxLPPasses limits how often all options are examined, and maxLPRounds limits how
// often the relevant options are examined in between. Column generation nearly always ends earlier, when no column improves the mix. If
// column generation ends although some column would still improve the mix, all values must be lowered by the share by which that column's
// value exceeds its price. maxLPWork limits the number of multiplications; the number for one column is the square of the number of rows.
// maxNewOptions is the number of options that each pass adds to the relevant options.
const (
	maxLPPasses   = 60
	maxLPRounds   = 800
	maxLPWork     = 500_000_000
	maxNewOptions = 8
	// roughColumns is the maximum number of columns for each row of the linear program if values only guide a search (Problem.Rough). If
	// hundreds of nodes have nearly the same price for their capacity, saving the last thousandth of the cost takes most of the time.
	roughColumns = 20
	// The search ends when the bound of the best known values is below the cost of the mix by at most the share nearEnough of the cost. If
	// values only guide a search, it ends at the share roughlyNear.
	nearEnough  = 1e-5
	roughlyNear = 2e-3
	// gapShare is a share of the gap between a plan's cost and its lower bound. The search also ends if it can reduce the gap by at most
	// this share.
	gapShare = 1.0 / 3
	// progress is the share of the cost by which the mix or the bound must improve within idleColumns fillings per row. gapProgress is the
	// required improvement as a share of the difference between the cost of the mix and the bound. The larger of the two amounts is
	// required. Without progress the search ends, for example if hundreds of mixes cost the same. If values only guide a search,
	// roughProgress replaces progress, and roughIdle replaces idleColumns.
	progress      = 1e-5
	gapProgress   = 1.0 / 50
	idleColumns   = 4
	roughProgress = 1e-4
	roughIdle     = 1
	// plannedIdle and fairlyNear apply to a plan's proof. If plannedIdle fillings per row improved neither the mix nor the bound, all
	// options are checked against the best known values. At that time, the bound of these values may be below the plan's cost by at most
	// the share fairlyNear of the cost.
	plannedIdle = 1
	fairlyNear  = 2e-2
	// Fillings are searched with a weighted mean of the best known values and the master's values. centerWeight is the weight of the best
	// known values, from 0 to 1.
	centerWeight = 0.5
	// maxRoughRows is the maximum number of rows of the linear program if values only guide a search.
	maxRoughRows = 96
)

// Program is the state of one column generation.
type Program struct {
	p       *Problem
	Bundles []bundle
	// Dims is the number of leading dimensions that the program uses: all resources, and only so many caps of rules that the number of rows
	// stays small.
	Dims int
	// Need, indexed by bundle*Dims+dimension, has the need of one pod. Most, indexed by option and bundle, has the maximum number of pods
	// of the bundle on one node.
	Need   []float64
	Most   [][]float64
	Room   []float64 // [option*dims+d]
	master *lp.Master
	Sacks  []lp.Knapsack // by option
	Column []float64
	scale  []float64 // per resource: planner units per unit of the linear program
	Lambda []float64 // [option*dims+d], LP units
	Value  []float64 // scratch
	// entered is the number of columns added so far.
	entered int
	// center has the best known values: the value of a pod of each bundle with which the lower bound was highest so far. centerBound is
	// this bound. Both consider only the options examined so far.
	center      []float64
	centerBound float64
	stuck       standstill
	// checked is the value of entered at the last check in which, by the best known values, some option could hold more value than its
	// price: see Program.idle.
	checked int
	// options has, for each row of the master, the index of the option whose filling is the row's column, or -1 if the row's column is no
	// filling of an option.
	options []int32
}

// NewProgram starts a program for the problem, whose items use the places.
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

// generate runs column generation. As long as the value of some filling exceeds its node's price, that filling becomes a column and the
// values are computed again. Few options are relevant in the end. Therefore generate works with the relevant options until none of them
// improves the mix, and only then checks all other options.
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
			pr.shrinkCenter(found[0].ratio) // shrinkCenter changes the values, so continue even if hot got no new option
			pr.checked = pr.entered
		} else if len(hot) == before {
			return
		}
	}
}

// converge improves the mix with the given options until none of them improves it.
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

// sweep examines the options once, with values between the master's values and the best known values. If the ratio of value to price is
// about the same for hundreds of fillings, the master's values alone oscillate. With values between these and the best known values, far
// fewer columns are generated until the values no longer change.
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

// near reports whether the bound of the best known values is close enough to the cost of the mix, which is an upper limit of all bounds:
// see nearEnough and gapShare.
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

// exhausted reports whether the search must end: it has examined the maximum number of fillings, or the last fillings have not improved the
// mix or the bound enough (see the constants progress and gapProgress).
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

// idle is for a plan's proof. It reports whether the cost of the plan and the bound are close, and the last fillings improved neither the
// mix nor the bound. The mix begins with the plan's own fillings, and hundreds of other fillings cost the same. In this case the best known
// values improve only if, by these values, some option that was not examined can hold more value than its price.
func (pr *Program) idle() bool {
	return pr.p.Planned > 0 && pr.entered-max(pr.stuck.entered, pr.checked) > plannedIdle*len(pr.Bundles) &&
		pr.p.Planned-pr.centerBound <= pr.p.Planned*fairlyNear
}

// standstill records the last improvement of the mix or of the bound: the cost of the mix, the best bound, and the number of fillings
// examined until then.
type standstill struct {
	cost, bound float64
	entered     int
}

// shrinkCenter divides the best known values by the parameter ratio, because some option can hold a value of its price multiplied by ratio.
func (pr *Program) shrinkCenter(ratio float64) {
	if ratio <= 1 {
		return
	}
	pr.centerBound /= ratio
	for b := range pr.center {
		pr.center[b] /= ratio
	}
}

// worthMore is an option that can hold more value than its price. ratio is the highest value on one of its nodes at the current values,
// divided by the price.
type worthMore struct {
	option int32
	ratio  float64
}

// scan returns the options that can hold more value than their price at the current values, the highest ratio of value to price first.
func (pr *Program) scan() []worthMore {
	var found []worthMore
	for i := range pr.p.Options {
		o := int32(i)
		// Options with reserved instances (Limited) are skipped: the few instances don't determine the values of pods.
		if pr.p.Options[o].Limited || !pr.pays(o) {
			continue
		}
		found = append(found, worthMore{option: o, ratio: pr.Sacks[o].Solve(pr.Value, -1) / max(float64(pr.p.Options[o].Price), 1)})
	}
	slices.SortStableFunc(found, func(a, b worthMore) int { return -cmp.Compare(a.ratio, b.ratio) })
	return found
}

// enter adds a filling of the option to the mix. It returns false if the filling can't improve the mix.
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

// improve computes one option's best filling at the current values. If the value of the filling exceeds the option's price, it adds the
// filling to the mix.
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

// pays reports whether the value of the option's best filling exceeds its price at the current values.
func (pr *Program) pays(o int32) bool {
	enough := float64(pr.p.Options[o].Price)*(1+1e-6) + 1e-3
	return pr.Sacks[o].Solve(pr.Value, enough) > enough
}

// revalue sets pr.Value to the master's duals.
func (pr *Program) revalue() {
	for b, y := range pr.master.Duals() {
		pr.Value[b] = max(y, 0)
	}
}

// MeanPrice returns the mean price of a node of the mix in nano-USD per hour.
func (pr *Program) MeanPrice() int64 {
	sum := 0.0
	for _, level := range pr.master.Levels() {
		sum += level
	}
	return int64(pr.master.Objective() / max(sum, 1))
}

// InMix returns the options of the mix, sorted by the total price of their nodes, highest first.
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

// Nodes returns the total number of nodes in the mix, rounded down to an integer.
func (pr *Program) Nodes() int {
	sum := 0.0
	for _, level := range pr.master.Levels() {
		sum += level
	}
	return int(sum)
}

// settle sets pr.Value to the given values of bundles, and pr.Lambda to the prices of the options' resources that follow from these values.
func (pr *Program) settle(value []float64) {
	for b, u := range value {
		pr.Value[b] = max(u, 0)
	}
	for o := range pr.Sacks {
		pr.Sacks[o].Solve(pr.Value, -1)
	}
}
