package lp

// Knapsack is the linear program:
//
//	max Σ_c value_c k_c   such that   Σ_c need_c[d] k_c <= room[d] for every resource d,   0 <= k_c <= most_c
//
// It fills one node with the pods of the highest total value, in fractions. It is solved by the simplex method with bounded variables, with
// one row for each resource. Only the values change from one Solve to the next: the last solution remains a valid filling, and each Solve
// continues from there. A Knapsack is not safe for concurrent use. Knapsacks made by one call of NewKnapsacks share memory: use them from
// one goroutine only.
type Knapsack struct {
	dims int
	// room is indexed by resource, need by class*dims+resource, most by class. The caller owns these slices.
	room, need, most []float64
	// The field open lists the classes c with most[c] > 0.
	open []int32
	// lambda receives the duals, which are >= 0 after a solve.
	lambda []float64

	inBasis []int8    // per class: atZero, atBound, or its row in the basis
	change  []float64 // per class: the direction in which it may change: 1 at zero, -1 at its bound, 0 in the basis
	basis   []int32   // per row: the class, or -1 for a slack
	slackAt []int32   // per row: the resource of the slack
	inSlack []bool    // per resource: whether its slack is basic
	inverse []float64
	level   []float64
	// moves counts the pivots since the basis was last rebuilt.
	moves int
	*knapsackScratch
}

// knapsackScratch is memory that all knapsacks of one problem may share.
type knapsackScratch struct {
	entry, cost []float64
}

const (
	atZero  = -1
	atBound = -2
)

// maxMoves is the number of pivots after which a knapsack starts again from an empty node, so that rounding errors don't add up.
const maxMoves = 100

// NewKnapsacks returns one knapsack for each element of the parameter most. dims is the number of resources; room and lambda are indexed by
// knapsack*dims+resource, need by class*dims+resource, most by knapsack and class. The slices are not copied: callers must not change room,
// need and most afterwards. After each Solve, lambda has the duals: the price of one unit of each resource.
func NewKnapsacks(dims int, room, need []float64, most [][]float64, lambda []float64) []Knapsack {
	n, count := len(need)/dims, len(most)
	scratch := &knapsackScratch{entry: make([]float64, dims), cost: make([]float64, dims)}
	inBasis := make([]int8, count*n)
	rows := make([]int32, 2*count*dims)
	slacks := make([]bool, count*dims)
	numbers, changes := make([]float64, count*dims*(dims+1)), make([]float64, count*n)
	list := make([]Knapsack, count)
	open := 0
	for i := range most {
		for _, limit := range most[i] {
			if limit > 0 {
				open++
			}
		}
	}
	opened := make([]int32, 0, open)
	for i := range list {
		from := len(opened)
		for c, limit := range most[i] {
			if limit > 0 {
				opened = append(opened, int32(c))
			}
		}
		list[i] = Knapsack{
			dims: dims, room: room[i*dims : (i+1)*dims], need: need, most: most[i], lambda: lambda[i*dims : (i+1)*dims],
			open: opened[from:len(opened):len(opened)], inBasis: inBasis[i*n : (i+1)*n], change: changes[i*n : (i+1)*n],
			basis: rows[2*i*dims : (2*i+1)*dims], slackAt: rows[(2*i+1)*dims : (2*i+2)*dims], inSlack: slacks[i*dims : (i+1)*dims],
			inverse: numbers[i*dims*(dims+1):][:dims*dims], level: numbers[i*dims*(dims+1)+dims*dims:][:dims],
			moves: maxMoves, knapsackScratch: scratch,
		}
	}
	return list
}

// Solve finds the best filling for the given values of classes, and returns an upper bound on its value. The bound is exact, unless Solve
// proves earlier that the value of no filling exceeds the parameter enough. If enough is negative, the bound is always exact.
func (s *Knapsack) Solve(value []float64, enough float64) float64 {
	if s.moves >= maxMoves {
		s.empty()
	}
	s.price(value)
	worth := 0.0
	for range 4*len(s.open) + 16 {
		var class, slack int
		var up bool
		class, slack, up, worth = s.choose(value)
		if class < 0 && slack < 0 {
			break
		}
		if slack < 0 && worth <= enough {
			break
		}
		s.step(class, slack, up, value)
	}
	for d, l := range s.lambda {
		s.lambda[d] = max(l, 0)
	}
	return worth
}

// Filling writes the last solution to k, indexed by class.
func (s *Knapsack) Filling(k []float64) {
	clear(k)
	for _, c := range s.open {
		if s.inBasis[c] == atBound {
			k[c] = s.most[c]
		}
	}
	for i, c := range s.basis {
		if c >= 0 {
			k[c] = min(max(s.level[i], 0), s.most[c])
		}
	}
}

// empty resets the solution to an empty node.
func (s *Knapsack) empty() {
	s.moves = 0
	for c := range s.inBasis {
		s.place(c, atZero)
	}
	clear(s.inverse)
	for d := range s.dims {
		s.inverse[d*s.dims+d] = 1
		s.basis[d], s.slackAt[d], s.inSlack[d] = -1, int32(d), true
	}
	copy(s.level, s.room)
}

// place records that a class is at zero, at its bound, or in a row of the basis.
func (s *Knapsack) place(class int, at int8) {
	s.inBasis[class] = at
	switch at {
	case atZero:
		s.change[class] = 1
	case atBound:
		s.change[class] = -1
	default:
		s.change[class] = 0
	}
}

// price computes the duals of the basis.
func (s *Knapsack) price(value []float64) {
	clear(s.lambda)
	for i, c := range s.basis {
		if c < 0 || value[c] == 0 {
			continue
		}
		for d, x := range s.inverse[i*s.dims : (i+1)*s.dims] {
			s.lambda[d] += value[c] * x
		}
	}
}

// choose returns the variable to change next; class and slack are both -1 if no change gains anything. If the price of a resource is
// negative, the variable is the slack of this resource. If no price is negative, the variable is the class whose change gains most in
// relation to its value: the class rises from zero (up is true) or falls from its bound. Unless the variable is a slack, worth is an upper
// bound on the best filling's value.
func (s *Knapsack) choose(value []float64) (class, slack int, up bool, worth float64) {
	for d, l := range s.lambda {
		if !s.inSlack[d] && l < -eps {
			return -1, d, true, 0
		}
		worth += max(l, 0) * s.room[d]
	}
	class = -1
	best, dims := eps, s.dims
	var l0, l1, l2 float64 // most problems have three resources: CPU, memory and the number of pods
	if dims == 3 {
		l0, l1, l2 = s.lambda[0], s.lambda[1], s.lambda[2]
	}
	// A processor can't predict whether a gain is positive, so the only branch on a gain is the comparison with the best so far.
	for _, c := range s.open {
		v := value[c]
		gain := v
		need := s.need[int(c)*dims:][:dims]
		if len(need) == 3 {
			gain = gain - l0*need[0] - l1*need[1] - l2*need[2]
		} else {
			for d, l := range s.lambda {
				gain -= l * need[d]
			}
		}
		worth += max(gain, 0) * s.most[c]
		if change := s.change[c]; gain*change > best*v {
			best, class, up = gain*change/v, int(c), change > 0
		}
	}
	return class, -1, up, worth
}

// step moves the entering variable as far as the bounds allow. It then swaps the variable into the basis, unless the variable reaches its
// own opposite bound first.
func (s *Knapsack) step(c, slack int, up bool, value []float64) {
	dims := s.dims
	for i := range dims {
		sum := 0.0
		if slack >= 0 {
			sum = s.inverse[i*dims+slack]
		} else {
			for d := range dims {
				sum += s.inverse[i*dims+d] * s.need[c*dims+d]
			}
		}
		if !up {
			sum = -sum
		}
		s.entry[i] = sum
	}
	limit, leave, toBound := 1e300, -1, false
	if c >= 0 {
		limit = s.most[c]
	}
	for i, e := range s.entry {
		var r float64
		var hitsBound bool
		switch {
		case e > eps:
			r = max(s.level[i], 0) / e
		case e < -eps && s.basis[i] >= 0:
			r, hitsBound = max(s.most[s.basis[i]]-s.level[i], 0)/-e, true
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
			if s.place(c, atBound); !up {
				s.place(c, atZero)
			}
		}
		return
	}
	s.swap(leave, c, slack, up, limit, toBound)
	s.price(value)
}

func (s *Knapsack) swap(leave, c, slack int, up bool, moved float64, toBound bool) {
	s.moves++
	dims := s.dims
	if old := s.basis[leave]; old >= 0 {
		if s.place(int(old), atZero); toBound {
			s.place(int(old), atBound)
		}
	} else {
		s.inSlack[s.slackAt[leave]] = false
	}
	s.basis[leave], s.slackAt[leave] = int32(c), int32(slack)
	s.level[leave] = moved
	if c >= 0 {
		s.place(c, int8(leave))
		if !up {
			s.level[leave] = s.most[c] - moved
		}
	} else {
		s.inSlack[slack] = true
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
}
