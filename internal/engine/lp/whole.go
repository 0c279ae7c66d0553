package lp

// Whole is a knapsack of whole pods, in up to two resources that are counted in units:
//
//	max Σ_c value_c k_c   such that   Σ_c need_c[d] k_c <= room[d] for both resources,   k_c = 0, 1, 2, … most_c
//
// It is solved exactly, by dynamic programming over the remaining units of both resources. Only the values change from one Solve to the
// next. A Whole is not safe for concurrent use.
type Whole struct {
	room [2]int
	need [][2]int
	most []int
	// parts are the parts for which the last Solve called pass. took says, for each part and each amount of remaining room, whether the
	// best filling of this room contains the part.
	parts []wholePart
	took  []bool
	best  []float64
}

// wholePart is a number of pods of one class that are taken together.
type wholePart struct {
	class  int32
	count  int
	again  bool // whether the part may be taken any number of times
	offset int
}

// NewWhole returns a knapsack with room for the given units of each resource. need and most are indexed by class; the slices are not
// copied. Units must not be negative.
func NewWhole(room [2]int, need [][2]int, most []int) *Whole {
	return &Whole{room: room, need: need, most: most, best: make([]float64, (room[0]+1)*(room[1]+1))}
}

// States returns the number of steps that one class takes in Solve.
func (s *Whole) States() int { return len(s.best) }

// Solve finds the most valuable filling for the given values of classes, and returns its value.
func (s *Whole) Solve(value []float64) float64 {
	clear(s.best)
	s.parts = s.parts[:0]
	free := 0.0 // value of the pods that need neither resource
	for c, v := range value {
		if v <= 0 || s.most[c] <= 0 {
			continue
		}
		need := s.need[c]
		if need == [2]int{} {
			free += v * float64(s.most[c])
			continue
		}
		fit := s.most[c]
		for d, n := range need {
			if n > 0 {
				fit = min(fit, s.room[d]/n)
			}
		}
		if fit < s.most[c] {
			s.pass(wholePart{class: int32(c), count: 1, again: true}, v)
			continue
		}
		for left, count := fit, 1; left > 0; count *= 2 {
			n := min(left, count)
			s.pass(wholePart{class: int32(c), count: n}, v)
			left -= n
		}
	}
	return free + s.best[len(s.best)-1]
}

// pass updates the best fillings with those that contain the part.
func (s *Whole) pass(p wholePart, value float64) {
	a, b := s.need[p.class][0]*p.count, s.need[p.class][1]*p.count
	if a > s.room[0] || b > s.room[1] {
		return
	}
	value *= float64(p.count)
	p.offset = len(s.parts) * len(s.best)
	if more := p.offset + len(s.best) - len(s.took); more > 0 {
		s.took = append(s.took, make([]bool, more)...)
	}
	took := s.took[p.offset : p.offset+len(s.best)]
	clear(took)
	s.parts = append(s.parts, p)
	width := s.room[1] + 1
	row := func(i int) {
		to, from := s.best[i*width:(i+1)*width], s.best[(i-a)*width:(i-a+1)*width]
		took := took[i*width : (i+1)*width]
		if p.again || a > 0 {
			for j := b; j < width; j++ {
				if with := from[j-b] + value; with > to[j] {
					to[j], took[j] = with, true
				}
			}
			return
		}
		for j := width - 1; j >= b; j-- {
			if with := from[j-b] + value; with > to[j] {
				to[j], took[j] = with, true
			}
		}
	}
	if p.again {
		for i := a; i <= s.room[0]; i++ {
			row(i)
		}
		return
	}
	for i := s.room[0]; i >= a; i-- {
		row(i)
	}
}

// Filling writes the last solution to k, indexed by class. If the parameter with is a class, the solution is the best filling that has a
// pod of this class. If with is -1, it is the best of all fillings. It returns false if the filling would have too many pods of this class,
// or if one pod of it doesn't fit. Classes that need neither resource have their maximum in the filling.
func (s *Whole) Filling(with int, value, k []float64) bool {
	clear(k)
	for c, v := range value {
		if v > 0 && s.most[c] > 0 && s.need[c] == [2]int{} {
			k[c] = float64(s.most[c])
		}
	}
	at, width := len(s.best)-1, s.room[1]+1
	if with >= 0 {
		need := s.need[with]
		if need[0] > s.room[0] || need[1] > s.room[1] || s.most[with] <= 0 || need == [2]int{} {
			return false
		}
		at -= need[0]*width + need[1]
		k[with] = 1
	}
	for i := len(s.parts) - 1; i >= 0; i-- {
		p := &s.parts[i]
		step := s.need[p.class][0]*p.count*width + s.need[p.class][1]*p.count
		for s.took[p.offset+at] {
			k[p.class] += float64(p.count)
			at -= step
			if !p.again {
				break
			}
		}
	}
	return with < 0 || k[with] <= float64(s.most[with])
}
