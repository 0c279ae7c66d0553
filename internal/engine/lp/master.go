package lp

// Master is the linear program:
//
//	min Σ_j price_j x_j   such that   Σ_j column_j[i] x_j >= demand_i for every row i,   x >= 0
//
// It covers the demand of every row at the lowest price. It is solved by the revised simplex method. Columns are added one by one with
// Enter: callers generate a column when it is needed (column generation; Gilmore and Gomory, 1961). A Master is not safe for concurrent
// use.
type Master struct {
	rows    int
	inverse []float64 // rows x rows
	level   []float64 // values of the basic variables
	cost    []float64 // the prices of the basic variables
	y       []float64 // duals
	entry   []float64 // scratch: the entering column expressed in the basis
	surplus []float64 // scratch
	nonzero []int     // scratch: the rows where the entering column is not zero
	scale   float64   // the scale of the duals, for tolerances
}

// NewMaster returns a master that starts with one column for each row i. This column has amount_i > 0 in row i, 0 in the other rows, and
// costs price_i. The three slices are indexed by row. price is copied; the other slices are not used after the call.
func NewMaster(demand, amount, price []float64) *Master {
	n := len(demand)
	s := &Master{
		rows: n, inverse: make([]float64, n*n), level: make([]float64, n), cost: append([]float64(nil), price...),
		y: make([]float64, n), entry: make([]float64, n), surplus: make([]float64, n),
	}
	for i := range n {
		s.scale = max(s.scale, price[i]/amount[i])
		s.inverse[i*n+i] = 1 / amount[i]
		s.level[i] = demand[i] / amount[i]
		s.y[i] = price[i] / amount[i]
	}
	return s
}

// Rows returns the number of rows.
func (s *Master) Rows() int { return s.rows }

// Duals returns the value of one unit of each row. With these values, the value of a column of the basis never exceeds its price. The slice
// belongs to the master and changes with the next Enter or DropNegative; callers must only read it.
func (s *Master) Duals() []float64 { return s.y }

// Levels returns how often the basic column of each row is used. The slice belongs to the master: see Duals.
func (s *Master) Levels() []float64 { return s.level }

// Prices returns the price of the basic column of each row; it is 0 for a surplus variable. The slice belongs to the master: see Duals.
func (s *Master) Prices() []float64 { return s.cost }

// Objective returns the price of the current solution.
func (s *Master) Objective() float64 {
	sum := 0.0
	for i, level := range s.level {
		sum += level * s.cost[i]
	}
	return sum
}

// Enter adds a column to the basis, which has one column for each row. column[i] is the new column's entry in row i. Enter returns the row
// that the column gets, or -1 if the column can't improve the solution by more than the tolerance.
func (s *Master) Enter(column []float64, price float64) int {
	s.nonzero = s.nonzero[:0]
	reduced := price
	for j, a := range column {
		if a != 0 {
			s.nonzero = append(s.nonzero, j)
			reduced -= s.y[j] * a
		}
	}
	leave, ratio := -1, 0.0
	s.express(column)
	for i, e := range s.entry {
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

// express expresses the entering column, whose non-zero rows are s.nonzero, in the basis.
func (s *Master) express(column []float64) {
	n := s.rows
	if len(s.nonzero) == 1 {
		j := s.nonzero[0]
		for i, at := 0, j; i < n; i, at = i+1, at+n {
			s.entry[i] = s.inverse[at] * column[j]
		}
		return
	}
	for i := range n {
		row := s.inverse[i*n : (i+1)*n]
		e := 0.0
		for _, j := range s.nonzero {
			e += row[j] * column[j]
		}
		s.entry[i] = e
	}
}

func (s *Master) pivot(leave int, ratio, price, reduced float64) {
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
		subtract(s.inverse[i*n:(i+1)*n], pivotRow, f)
	}
	// The duals move along the pivot row until the value of the entering column equals its price.
	for j, v := range pivotRow {
		s.y[j] += reduced * v
	}
}

// subtract subtracts f times other from row. A master spends nearly all its time here, so it handles eight elements at a time, through
// arrays whose bounds are checked once.
func subtract(row, other []float64, f float64) {
	row = row[:len(other)]
	j := 0
	for ; j <= len(other)-8; j += 8 {
		r, o := (*[8]float64)(row[j:]), (*[8]float64)(other[j:])
		r[0] -= f * o[0]
		r[1] -= f * o[1]
		r[2] -= f * o[2]
		r[3] -= f * o[3]
		r[4] -= f * o[4]
		r[5] -= f * o[5]
		r[6] -= f * o[6]
		r[7] -= f * o[7]
	}
	for ; j < len(other); j++ {
		row[j] -= f * other[j]
	}
}

// DropNegative adds the surplus variable of the most negative dual to the basis, because covering more than the demand is allowed. It
// returns the row that this variable gets, or -1 if no dual is negative. Call it until it returns -1; then all Duals are prices, never
// negative.
func (s *Master) DropNegative() int {
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
	return s.Enter(s.surplus, 0)
}
