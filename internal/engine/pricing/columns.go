package pricing

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/lp"
)

// maxLPPasses and maxLPRounds limit column generation: how often all options are examined, and how often the relevant options are examined
// in between. Column generation nearly always ends earlier, when no column improves the mix. If it ends although some column would still
// improve the mix, all values must be lowered by the share by which that column's value exceeds its price. maxLPWork limits the number of
// multiplications; the number for one column is the square of the number of rows. maxNewOptions is the number of options that each pass
// adds to the relevant options.
const (
	maxLPPasses   = 60
	maxLPRounds   = 800
	maxLPWork     = 500_000_000
	maxNewOptions = 8
	// roughColumns is the maximum number of columns for each row if values are only a guide. If hundreds of nodes are nearly equally good,
	// the last thousandth of the cost takes most of the time.
	roughColumns = 20
	// nearEnough and roughlyNear end the search: the bound of the best known values is then below the cost of the mix by at most this share
	// of the cost. roughlyNear applies if values are only a guide.
	nearEnough  = 1e-5
	roughlyNear = 2e-3
	// gapShare is the share of the gap between a plan's cost and its lower bound. The search also ends if it could close no more than this
	// share.
	gapShare = 1.0 / 3
	// progress is the share of the cost by which the mix or the bound must improve within idleColumns fillings per row. gapProgress is such
	// a share of the difference between mix and bound. The larger of the two amounts is required. If hundreds of mixes cost the same, the
	// search may make no progress. roughProgress and roughIdle apply if values are only a guide.
	progress      = 1e-5
	gapProgress   = 1.0 / 50
	idleColumns   = 4
	roughProgress = 1e-4
	roughIdle     = 1
	// plannedIdle is for a plan's proof. It is the number of fillings per row after which all options are checked against the best known
	// values, if these fillings improved nothing. fairlyNear is the share of the plan's cost by which these values may then be too low.
	plannedIdle = 1
	fairlyNear  = 2e-2
	// centerWeight is the weight of the best known values in the values with which fillings are searched.
	centerWeight = 0.5
	// maxRoughRows is the maximum number of rows of the program if values are only a guide.
	maxRoughRows = 96
)

// Program is the state of one column generation.
type Program struct {
	p       *Problem
	Bundles []bundle
	// Dims is the number of leading dimensions that the program uses: all resources, and as many caps as keep the number of rows small.
	Dims int
	// Need is indexed by bundle*Dims+dimension. Most is indexed by option and bundle.
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
	// center has the best values tried so far, judged by the options that were examined. centerBound is the lower bound that they give.
	center      []float64
	centerBound float64
	stuck       standstill
	// checked is the value of entered at the last time when some option could hold more value than its price, by the best known values: see
	// idle.
	checked int
	// options has, for each row of the master, the option whose filling is the row's column, or -1.
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

// generate runs column generation. As long as some filling is worth more than its node's price, that filling becomes a column and the
// values are corrected. Few options are relevant in the end. So generate works with the relevant options until none of them improves the
// mix, and only then checks all other options.
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
			pr.shrinkCenter(found[0].ratio) // The values have changed: continue, even if no new option was found
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

// sweep examines the options once, with values between the master's values and the best known values. If hundreds of fillings are about
// equally good, the master's values alone oscillate. With values in between, far fewer columns are generated until the values settle.
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
// mix or the bound enough (see progress).
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

// idle is for a plan's proof. It reports whether mix and bound are close, and a few fillings improved neither of them. The mix begins with
// the plan's own fillings, and hundreds of other fillings cost the same. The best known values then improve only if some option that was
// not examined can hold more value than its price, by these values.
func (pr *Program) idle() bool {
	return pr.p.Planned > 0 && pr.entered-max(pr.stuck.entered, pr.checked) > plannedIdle*len(pr.Bundles) &&
		pr.p.Planned-pr.centerBound <= pr.p.Planned*fairlyNear
}

// standstill records the cost of the mix, the best bound, and the number of fillings that had been examined when one of them last improved.
type standstill struct {
	cost, bound float64
	entered     int
}

// shrinkCenter divides the best known values by ratio, because an option can hold a value of ratio times its price.
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
		// Limited nodes are few, so they don't determine the pods' values.
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

// improve computes one option's best filling at the current values, and adds it if its value exceeds the node's price.
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

// Nodes returns the number of nodes of the mix.
func (pr *Program) Nodes() int {
	sum := 0.0
	for _, level := range pr.master.Levels() {
		sum += level
	}
	return int(sum)
}

// settle sets pr.Value to the given values of bundles, and pr.Lambda to the prices of the options' resources at these values.
func (pr *Program) settle(value []float64) {
	for b, u := range value {
		pr.Value[b] = max(u, 0)
	}
	for o := range pr.Sacks {
		pr.Sacks[o].Solve(pr.Value, -1)
	}
}
