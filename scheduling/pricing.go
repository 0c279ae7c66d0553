package scheduling

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/lp"
)

// maxLPRows bounds the linear program: more items than that are bundled by likeness. The bound stays proven, since the
// proof looks at every item by itself, but it is a weak one where pods of a bundle use a node's resources in unlike shares: a few
// node selectors are enough to make several hundred items of a hundred sizes.
const maxLPRows = 400

// maxBundles is how many bundles are made where items are bundled.
const maxBundles = 64

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
	// centerWeight is how much of the best values known goes into those that fillings are looked for with.
	centerWeight = 0.5
	// maxRoughRows is how many rows the program may have where values only steer.
	maxRoughRows = 96
)

// pricing is the state of one column generation.
type pricing struct {
	p       *problem
	bundles []bundle
	// dims are the first dimensions of the problem that it looks at: all resources, and so many caps that rows stay few.
	dims int
	// need and most are indexed [bundle*dims+…] and [option][bundle]
	need   []float64
	most   [][]float64
	room   []float64 // [option*dims+d]
	master *lp.Master
	sacks  []lp.Knapsack // by option
	column []float64
	scale  []float64 // per resource: planner units per LP unit
	lambda []float64 // [option*dims+d], LP units
	value  []float64 // scratch
	// entered counts the columns brought in.
	entered int
	// center are the values with the best bound among those tried, as far as the options looked at go, and centerBound is that.
	center      []float64
	centerBound float64
	stuck       standstill
	// options are, by row of the master, those whose filling is its column; -1 for none.
	options []int32
}

// bundle is one row of the linear program: items with equal needs or, where there would be too many rows, much the same needs.
type bundle struct {
	items []int32
	at    []int // positions of the items' places
	need  []float64
	count float64
	limit int
	// uniform bundles have items with equal needs.
	uniform bool
}

// takenBy reports whether the option is open to some item of the bundle.
func (b *bundle) takenBy(o *option) bool { return slices.ContainsFunc(b.at, o.open.Has) }

func newPricing(p *problem, places []place) *pricing {
	pr := &pricing{p: p}
	pr.bundles, pr.dims = bundleItems(p, places)
	pr.scale = make([]float64, pr.dims)
	for d := range pr.scale {
		pr.scale[d] = 1
		for i := range p.options {
			pr.scale[d] = max(pr.scale[d], float64(p.options[i].alloc[d]))
		}
	}
	n := len(pr.bundles)
	pr.need = make([]float64, n*pr.dims)
	pr.column, pr.value = make([]float64, n), make([]float64, n)
	for b := range pr.bundles {
		for d := range pr.dims {
			pr.need[b*pr.dims+d] = pr.bundles[b].need[d] / pr.scale[d]
		}
	}
	pr.room = make([]float64, len(p.options)*pr.dims)
	pr.lambda = make([]float64, len(p.options)*pr.dims)
	pr.most = make([][]float64, len(p.options))
	flat := make([]float64, n*len(p.options))
	for o := range p.options {
		pr.most[o] = flat[o*n : (o+1)*n]
		for d := range pr.dims {
			pr.room[o*pr.dims+d] = float64(p.options[o].alloc[d]) / pr.scale[d]
		}
		for b := range pr.bundles {
			pr.most[o][b] = pr.bundles[b].perOption(&p.options[o])
		}
	}
	pr.sacks = lp.NewKnapsacks(pr.dims, pr.room, pr.need, pr.most, pr.lambda)
	return pr
}

// perOption is how many pods of the bundle's mean size fit on an empty node.
func (b *bundle) perOption(o *option) float64 {
	if !b.takenBy(o) {
		return 0
	}
	most := float64(b.limit)
	if b.uniform {
		most = min(most, b.count)
	}
	for d, need := range b.need {
		if need > 0 {
			fit := float64(o.alloc[d]) / need
			if b.uniform {
				fit = math.Floor(fit * (1 + 1e-12))
			}
			most = min(most, fit)
		}
	}
	return max(most, 0)
}

// bundleItems groups items into bundles: those with equal needs; if that leaves more than maxLPRows, also of all cells that they are
// dealt to; else those of one place are halved again and again along the resource in which they differ most.
func bundleItems(p *problem, places []place) (bundles []bundle, dims int) {
	resources := p.dims - len(p.caps)
	pressing := 0
	for pressing < len(p.caps) && 2*p.caps[pressing].pressing >= p.caps[0].pressing {
		pressing++
	}
	for dims := resources + pressing; dims >= resources; dims-- {
		if parts := equalItems(p, dims, false); parts != nil && (!p.rough || len(parts) <= maxRoughRows) {
			return newBundles(p, parts, places, dims, true), dims
		}
		if p.cells == nil {
			continue
		}
		if parts := equalItems(p, dims, true); parts != nil {
			return newBundles(p, parts, places, dims, true), dims
		}
	}
	dims = resources
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
	for len(parts) < maxBundles {
		at, dim, spread := -1, 0, 1.0
		for i, part := range parts {
			if d, s := widest(p, part, dims); s > spread {
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
	return newBundles(p, parts, places, dims, false), dims
}

// equalItems are the items with equal needs, by the first dimensions, of one place, or of places that differ in nothing but their cell,
// in the order of the first of each. Nil if they are more than maxLPRows.
func equalItems(p *problem, dims int, anywhere bool) [][]int32 {
	var parts [][]int32
	at := make(map[string]int, len(p.items))
	var key []byte
	for i := range p.items {
		it := &p.items[i]
		key = it.appendKey(key[:0], dims)
		if !anywhere {
			key = binary.LittleEndian.AppendUint32(key, uint32(it.cell))
		}
		k, known := at[string(key)]
		if !known {
			if k = len(parts); k == maxLPRows {
				return nil
			}
			at[string(key)], parts = k, append(parts, nil)
		}
		parts[k] = append(parts[k], int32(i))
	}
	return parts
}

// appendKey adds what makes the item different from others by the first dimensions, its cell and count aside.
func (it *item) appendKey(key []byte, dims int) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(it.stage))
	key = append(key, byte(it.rules))
	if it.perMachine != unbounded {
		key = binary.LittleEndian.AppendUint32(key, uint32(it.class)) // bounds of several classes don't add up to one
	}
	for _, n := range it.need[:dims] {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	return key
}

func newBundles(p *problem, parts [][]int32, places []place, dims int, uniform bool) []bundle {
	bundles := make([]bundle, len(parts))
	for i, part := range parts {
		bundles[i] = newBundle(p, part, places, dims, uniform)
	}
	return bundles
}

func newBundle(p *problem, part []int32, places []place, dims int, uniform bool) bundle {
	b := bundle{items: part, need: make([]float64, dims), limit: math.MaxInt, uniform: uniform}
	for _, i := range part {
		it := &p.items[i]
		if at := slices.Index(places, it.place); !slices.Contains(b.at, at) {
			b.at = append(b.at, at)
		}
		b.count += float64(it.count)
		b.limit = min(b.limit, it.perMachine)
		for d := range b.need {
			b.need[d] += float64(it.need[d]) * float64(it.count)
		}
	}
	for d := range b.need {
		b.need[d] /= b.count
	}
	if uniform {
		for d, n := range p.items[part[0]].need[:dims] {
			b.need[d] = float64(n)
		}
	} else if b.limit < math.MaxInt && len(part) > 1 {
		b.limit = math.MaxInt // several classes: their bounds don't add up to one of the bundle
	}
	return b
}

// widest is the resource in which a part's items differ most, and by what factor, weighted by how many they are.
func widest(p *problem, part []int32, dims int) (dim int, spread float64) {
	for d := range dims {
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

// generate runs column generation: as long as some node could be filled with more value than it costs, that filling
// becomes a column and the values are corrected. Few options matter in the end: it goes on with those that do until
// none improves, and only then looks whether any other would.
func (pr *pricing) generate(ctx context.Context) {
	hot := pr.start()
	pr.spread(pr.startCenter())
	pr.seed()
	pr.revalue()
	isHot := make([]bool, len(pr.p.options))
	for _, o := range hot {
		isHot[o] = true
	}
	for _, o := range pr.inMix() {
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
		near := pr.near()
		if near {
			copy(pr.value, pr.center)
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
		} else if len(hot) == before {
			return
		}
	}
}

// converge improves the mix by the given options until none of them does.
func (pr *pricing) converge(ctx context.Context, options []int32) {
	for range maxLPRounds {
		again := pr.sweep(options)
		if !again {
			for _, o := range options {
				pr.revalue()
				again = pr.improve(o) || again
			}
		}
		if !again || pr.near() || pr.exhausted() || ctx.Err() != nil {
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
func (pr *pricing) sweep(options []int32) bool {
	for b, y := range pr.master.Duals() {
		pr.value[b] = centerWeight*pr.center[b] + (1-centerWeight)*max(y, 0)
	}
	again, worst := false, 1.0
	for _, o := range options {
		price := float64(pr.p.options[o].price)
		worst = max(worst, pr.sacks[o].Solve(pr.value, -1)/max(price, 1))
		pr.sacks[o].Filling(pr.column)
		worth := 0.0
		for b, n := range pr.column {
			worth += n * pr.master.Duals()[b]
		}
		if worth > price*(1+1e-6)+1e-3 {
			pr.entered++
			again = pr.enter(pr.column, o) || again
		}
	}
	bound := 0.0
	for b := range pr.bundles {
		bound += pr.bundles[b].count * pr.value[b] / worst
	}
	if bound > pr.centerBound {
		pr.centerBound = bound
		for b, v := range pr.value {
			pr.center[b] = v / worst
		}
	}
	return again
}

// near reports whether the best values known are within a small part of what the mix costs, which no values can exceed.
func (pr *pricing) near() bool {
	apart := nearEnough
	if pr.p.rough {
		apart = roughlyNear
	}
	cost := pr.master.Objective()
	near := cost * apart
	if len(pr.bundles) >= fewItems {
		near = max(near, (pr.p.planned-pr.centerBound)*gapShare)
	}
	return cost-pr.centerBound <= near
}

// exhausted reports whether as many fillings were looked at as the values are worth.
func (pr *pricing) exhausted() bool {
	rows, idle, cost := len(pr.bundles), idleColumns, pr.master.Objective()
	least := max(cost*progress, (cost-pr.centerBound)*gapProgress)
	if pr.p.rough {
		least, idle = cost*roughProgress, roughIdle
	}
	if cost < pr.stuck.cost-least || pr.centerBound > pr.stuck.bound+least {
		pr.stuck = standstill{cost, pr.centerBound, pr.entered}
	} else if pr.entered-pr.stuck.entered > idle*rows {
		return true
	}
	return pr.p.rough && pr.entered > roughColumns*rows || pr.entered*rows*rows > maxLPWork
}

// standstill is what the mix cost, the best bound, and how many fillings had been looked at when either last became better.
type standstill struct {
	cost, bound float64
	entered     int
}

// shrinkCenter makes up for an option that holds more of the best values known than its price, by the ratio.
func (pr *pricing) shrinkCenter(ratio float64) {
	if ratio <= 1 {
		return
	}
	pr.centerBound /= ratio
	for b := range pr.center {
		pr.center[b] /= ratio
	}
}

// scan returns the options that hold more of the present values than their price, those first that hold most for it.
func (pr *pricing) scan() []offer {
	var found []offer
	for i := range pr.p.options {
		o := int32(i)
		// Of limited nodes there are only so many: they are no measure of what pods are worth.
		if pr.p.options[o].limited || !pr.pays(o) {
			continue
		}
		found = append(found, offer{option: o, ratio: pr.sacks[o].Solve(pr.value, -1) / max(float64(pr.p.options[o].price), 1)})
	}
	slices.SortStableFunc(found, func(a, b offer) int { return -cmp.Compare(a.ratio, b.ratio) })
	return found
}

// enter brings a filling of the option into the mix; false if that can't improve anything.
func (pr *pricing) enter(column []float64, o int32) bool {
	row := pr.master.Enter(column, float64(pr.p.options[o].price))
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
func (pr *pricing) improve(o int32) bool {
	if !pr.pays(o) {
		return false
	}
	pr.entered++
	pr.sacks[o].Filling(pr.column)
	if !pr.enter(pr.column, o) {
		return false
	}
	pr.revalue()
	return true
}

// pays reports whether the option's best filling is worth more than its price at the present values.
func (pr *pricing) pays(o int32) bool {
	enough := float64(pr.p.options[o].price)*(1+1e-6) + 1e-3
	return pr.sacks[o].Solve(pr.value, enough) > enough
}

// revalue makes pr.value the master's duals.
func (pr *pricing) revalue() {
	for b, y := range pr.master.Duals() {
		pr.value[b] = max(y, 0)
	}
}

// meanPrice is what a node of the mix costs in the mean, nano-USD per hour.
func (pr *pricing) meanPrice() int64 {
	sum := 0.0
	for _, level := range pr.master.Levels() {
		sum += level
	}
	return int64(pr.master.Objective() / max(sum, 1))
}

// inMix are the options of the mix, those on which most is spent first.
func (pr *pricing) inMix() []int32 {
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

// nodes is how many nodes the mix has.
func (pr *pricing) nodes() int {
	sum := 0.0
	for _, level := range pr.master.Levels() {
		sum += level
	}
	return int(sum)
}

// settle makes pr.lambda what the options' resources are worth at the given values, by bundle.
func (pr *pricing) settle(value []float64) {
	for b, u := range value {
		pr.value[b] = max(u, 0)
	}
	for o := range pr.sacks {
		pr.sacks[o].Solve(pr.value, -1)
	}
}
