package scheduling

// Two small linear programs carry the planner's sense of value: covering all pods with machines (master), and filling
// one machine with the most valuable pods (knapsack). Both are dense: they have few rows.

// eps is the tolerance of both solvers. It never decides whether a bound is valid: bounds are re-proved afterwards.
const eps = 1e-9

// master solves min Σ price_j x_j  s.t.  Σ_j column_j[i] x_j >= demand_i, x >= 0 by the revised simplex method, taking
// columns as they are found. Its duals y are what one pod of each class is worth.
type master struct {
	rows    int
	inverse []float64 // rows x rows
	level   []float64 // values of the basic variables
	cost    []float64 // their prices
	y       []float64 // duals
	entry   []float64 // scratch: the entering column in terms of the basis
	surplus []float64 // scratch
	nonzero []int     // scratch: where the entering column is not zero
	scale   float64   // of the duals, for tolerances
}

// newMaster starts from one single-class column per row: perMachine_i pods of class i on a machine of price_i.
func newMaster(demand, perMachine, price []float64) *master {
	n := len(demand)
	s := &master{
		rows: n, inverse: make([]float64, n*n), level: make([]float64, n), cost: append([]float64(nil), price...),
		y: make([]float64, n), entry: make([]float64, n), surplus: make([]float64, n),
	}
	for i := range n {
		s.scale = max(s.scale, price[i]/perMachine[i])
		s.inverse[i*n+i] = 1 / perMachine[i]
		s.level[i] = demand[i] / perMachine[i]
		s.y[i] = price[i] / perMachine[i]
	}
	return s
}

// objective is the cost of the present mix.
func (s *master) objective() float64 {
	sum := 0.0
	for i, level := range s.level {
		sum += level * s.cost[i]
	}
	return sum
}

// enter brings a column into the basis and returns the row it takes there, or -1 when it can't (numerically) improve
// anything.
func (s *master) enter(column []float64, price float64) int {
	n := s.rows
	s.nonzero = s.nonzero[:0]
	reduced := price
	for j, a := range column {
		if a != 0 {
			s.nonzero = append(s.nonzero, j)
			reduced -= s.y[j] * a
		}
	}
	leave, ratio := -1, 0.0
	for i := range n {
		row := s.inverse[i*n : (i+1)*n]
		e := 0.0
		for _, j := range s.nonzero {
			e += row[j] * column[j]
		}
		s.entry[i] = e
		if e <= eps {
			continue
		}
		if r := s.level[i] / e; leave < 0 || r < ratio-eps || (r < ratio+eps && e > s.entry[leave]) {
			leave, ratio = i, r
		}
	}
	if leave >= 0 {
		s.pivot(leave, max(ratio, 0), price, reduced)
	}
	return leave
}

func (s *master) pivot(leave int, ratio, price, reduced float64) {
	n := s.rows
	for i := range n {
		s.level[i] -= ratio * s.entry[i]
	}
	s.level[leave] = ratio
	s.cost[leave] = price
	pivotRow := s.inverse[leave*n : (leave+1)*n]
	scale := 1 / s.entry[leave]
	for j := range pivotRow {
		pivotRow[j] *= scale
	}
	for i := range n {
		f := s.entry[i]
		if i == leave || f == 0 {
			continue
		}
		row := s.inverse[i*n : (i+1)*n]
		for j, v := range pivotRow {
			row[j] -= f * v
		}
	}
	// The duals move along the pivot row until the entering column just pays for itself.
	for j, v := range pivotRow {
		s.y[j] += reduced * v
	}
}

// dropNegative lets the surplus variable enter where a dual is most negative: covering more than asked is allowed. It
// returns the row that takes, or -1 when no dual is negative.
func (s *master) dropNegative() int {
	worst, at := -eps, -1
	for i, y := range s.y {
		if y < worst*max(1, s.scale) {
			worst, at = y/max(1, s.scale), i
		}
	}
	if at < 0 {
		return -1
	}
	clear(s.surplus)
	s.surplus[at] = -1
	return s.enter(s.surplus, 0)
}

// knapsack solves max Σ value_c k_c  s.t.  Σ_c need_c k_c <= room, 0 <= k_c <= most_c by the bounded simplex method with
// one row per resource. Its duals are what the machine's resources are worth. Buffers are kept between calls.
type knapsack struct {
	dims    int
	k       []float64 // solution
	lambda  []float64 // duals, >= 0
	inBasis []int8    // per class: -1 at zero, -2 at its bound, else its basis row
	basis   []int     // per row: class, or -1 for the row's slack
	slackAt []int     // per row: which resource's slack
	inverse []float64
	level   []float64
	entry   []float64
	cost    []float64
	inSlack []bool // per resource: its slack is basic
}

func newKnapsack(dims int) *knapsack {
	return &knapsack{
		dims: dims, lambda: make([]float64, dims), basis: make([]int, dims), slackAt: make([]int, dims),
		inverse: make([]float64, dims*dims), level: make([]float64, dims), entry: make([]float64, dims), cost: make([]float64, dims),
	}
}

const (
	atZero  = -1
	atBound = -2
)

// solve fills s.k and s.lambda. need is indexed [class*dims+resource]; classes with most 0 are passed over. hint, if not
// all zero, are resource prices thought to be near the result: it starts from what they would take.
func (s *knapsack) solve(room, need, value, most, hint []float64) {
	n := len(value)
	s.k = resize(s.k, n)
	s.inBasis = resize(s.inBasis, n)
	for c := range n {
		s.k[c], s.inBasis[c] = 0, atZero
	}
	clear(s.inverse)
	clear(s.cost)
	clear(s.lambda)
	for d := range s.dims {
		s.inverse[d*s.dims+d] = 1
		s.basis[d], s.slackAt[d] = -1, d
		s.level[d] = room[d]
	}
	s.inSlack = resize(s.inSlack, s.dims)
	inSlack := s.inSlack
	for d := range inSlack {
		inSlack[d] = true
	}
	s.start(need, value, most, hint)
	for range 4*n + 16 {
		c, slack, up := s.choose(need, value, most, inSlack)
		if c < 0 && slack < 0 {
			break
		}
		s.step(c, slack, up, need, value, most, inSlack)
	}
	for i, c := range s.basis {
		if c >= 0 {
			s.k[c] = min(max(s.level[i], 0), most[c])
		}
	}
	for c := range n {
		if s.inBasis[c] == atBound {
			s.k[c] = most[c]
		}
	}
	for d := range s.lambda {
		s.lambda[d] = max(s.lambda[d], 0)
	}
}

// start puts at their bounds the classes that are worth more than the hinted prices of what they need, as long as they
// fit: the slacks stay the basis.
func (s *knapsack) start(need, value, most, hint []float64) {
	some := false
	for _, l := range hint {
		some = some || l > 0
	}
	if !some {
		return
	}
next:
	for c := range value {
		if most[c] <= 0 {
			continue
		}
		gain := value[c]
		for d, l := range hint {
			gain -= l * need[c*s.dims+d]
		}
		if gain <= eps*value[c] {
			continue
		}
		for d, room := range s.level {
			if need[c*s.dims+d]*most[c] > room {
				continue next
			}
		}
		for d := range s.level {
			s.level[d] -= need[c*s.dims+d] * most[c]
		}
		s.inBasis[c] = atBound
	}
}

// choose finds the variable whose move gains most: a class upwards from zero or downwards from its bound, or the slack
// of a resource that is priced below zero.
func (s *knapsack) choose(need, value, most []float64, inSlack []bool) (class, slack int, up bool) {
	class, slack = -1, -1
	best := eps
	for c := range value {
		if most[c] <= 0 || s.inBasis[c] >= 0 {
			continue
		}
		gain := value[c]
		for d, l := range s.lambda {
			gain -= l * need[c*s.dims+d]
		}
		switch {
		case s.inBasis[c] == atZero && gain > best*value[c]:
			if g := gain / value[c]; g > best {
				best, class, up = g, c, true
			}
		case s.inBasis[c] == atBound && -gain > best*value[c]:
			if g := -gain / value[c]; g > best {
				best, class, up = g, c, false
			}
		}
	}
	for d, l := range s.lambda {
		if !inSlack[d] && l < -eps {
			return -1, d, true
		}
	}
	return class, slack, up
}

// step moves the entering variable as far as bounds allow, swapping it into the basis unless it reaches its own other
// bound first.
func (s *knapsack) step(c, slack int, up bool, need, value, most []float64, inSlack []bool) {
	dims := s.dims
	for i := range dims {
		sum := 0.0
		if slack >= 0 {
			sum = s.inverse[i*dims+slack]
		} else {
			for d := range dims {
				sum += s.inverse[i*dims+d] * need[c*dims+d]
			}
		}
		if !up {
			sum = -sum
		}
		s.entry[i] = sum
	}
	limit, leave, toBound := 1e300, -1, false
	if c >= 0 {
		limit = most[c]
	}
	for i, e := range s.entry {
		var r float64
		var hitsBound bool
		switch {
		case e > eps:
			r = max(s.level[i], 0) / e
		case e < -eps && s.basis[i] >= 0:
			r, hitsBound = max(most[s.basis[i]]-s.level[i], 0)/-e, true
		default:
			continue
		}
		if r < limit {
			limit, leave, toBound = r, i, hitsBound
		}
	}
	for i := range dims {
		s.level[i] -= limit * s.entry[i]
	}
	if leave < 0 {
		if c >= 0 {
			s.inBasis[c] = atBound
			if !up {
				s.inBasis[c] = atZero
			}
		}
		return
	}
	s.swap(leave, c, slack, up, limit, value, most, toBound, inSlack)
}

func (s *knapsack) swap(leave, c, slack int, up bool, moved float64, value, most []float64, toBound bool, inSlack []bool) {
	dims := s.dims
	if old := s.basis[leave]; old >= 0 {
		s.inBasis[old] = atZero
		if toBound {
			s.inBasis[old] = atBound
		}
	} else {
		inSlack[s.slackAt[leave]] = false
	}
	s.basis[leave], s.slackAt[leave] = c, slack
	s.level[leave], s.cost[leave] = moved, 0
	if c >= 0 {
		s.inBasis[c], s.cost[leave] = int8(leave), value[c]
		if !up {
			s.level[leave] = most[c] - moved
		}
	} else {
		inSlack[slack] = true
	}
	pivot := s.entry[leave]
	if !up {
		pivot = -pivot
	}
	row := s.inverse[leave*dims : (leave+1)*dims]
	for d := range row {
		row[d] /= pivot
	}
	for i := range dims {
		f := s.entry[i]
		if !up {
			f = -f
		}
		if i == leave || f == 0 {
			continue
		}
		other := s.inverse[i*dims : (i+1)*dims]
		for d := range other {
			other[d] -= f * row[d]
		}
	}
	clear(s.lambda)
	for i, price := range s.cost {
		if price == 0 {
			continue
		}
		for d := range dims {
			s.lambda[d] += price * s.inverse[i*dims+d]
		}
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
