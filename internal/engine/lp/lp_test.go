package lp

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// solveBySupport maximises value·k over need·k <= room, 0 <= k <= most by looking at every vertex: every choice of
// variables at zero, at their bound or free, with as many tight rows as free variables.
func solveBySupport(room []float64, need [][]float64, value, most []float64) float64 {
	n, dims := len(value), len(room)
	best := 0.0
	state := make([]int, n) // 0 at zero, 1 at its bound, 2 free
	var visit func(i int)
	visit = func(i int) {
		if i < n {
			for s := range 3 {
				state[i] = s
				visit(i + 1)
			}
			return
		}
		var free []int
		k := make([]float64, n)
		left := slices.Clone(room)
		for c, s := range state {
			switch s {
			case 1:
				k[c] = most[c]
				for d := range dims {
					left[d] -= need[c][d] * most[c]
				}
			case 2:
				free = append(free, c)
			}
		}
		for rows := range uint(1) << dims {
			var tight []int
			for d := range dims {
				if rows&(1<<d) != 0 {
					tight = append(tight, d)
				}
			}
			if len(tight) != len(free) {
				continue
			}
			x, ok := solveLinear(tight, free, need, left)
			if !ok {
				continue
			}
			for i, c := range free {
				k[c] = x[i]
			}
			if worth, feasible := judge(room, need, value, most, k); feasible {
				best = max(best, worth)
			}
		}
	}
	visit(0)
	return best
}

// solveLinear makes the free variables fill the tight rows exactly.
func solveLinear(rows, free []int, need [][]float64, left []float64) ([]float64, bool) {
	n := len(rows)
	a := make([][]float64, n)
	for i, d := range rows {
		a[i] = make([]float64, n+1)
		for j, c := range free {
			a[i][j] = need[c][d]
		}
		a[i][n] = left[d]
	}
	for col := range n {
		at := col
		for i := col; i < n; i++ {
			if math.Abs(a[i][col]) > math.Abs(a[at][col]) {
				at = i
			}
		}
		if n == 0 || math.Abs(a[at][col]) < 1e-12 {
			return nil, false
		}
		a[col], a[at] = a[at], a[col]
		for i := range n {
			if i == col {
				continue
			}
			f := a[i][col] / a[col][col]
			for j := col; j <= n; j++ {
				a[i][j] -= f * a[col][j]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = a[i][n] / a[i][i]
	}
	return x, true
}

func judge(room []float64, need [][]float64, value, most, k []float64) (worth float64, feasible bool) {
	for c := range k {
		if k[c] < -1e-9 || k[c] > most[c]+1e-9 {
			return 0, false
		}
		worth += value[c] * k[c]
	}
	for d := range room {
		used := 0.0
		for c := range k {
			used += need[c][d] * k[c]
		}
		if used > room[d]+1e-9 {
			return 0, false
		}
	}
	return worth, true
}

// The knapsack finds the best fractional filling, and its prices prove that there is no better one; so it does when the
// values change and it goes on from the solution before. It ends early only if the filling is proven to be worth no more
// than what would do.
func TestKnapsackAgainstBruteForce(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		dims, n := rapid.IntRange(1, 3).Draw(t, "dims"), rapid.IntRange(1, 4).Draw(t, "classes")
		amount := rapid.IntRange(0, 12)
		room := make([]float64, dims)
		for d := range room {
			room[d] = float64(amount.Draw(t, "room")) / 4
		}
		need, flat := make([][]float64, n), []float64(nil)
		most := make([]float64, n)
		for c := range n {
			need[c] = make([]float64, dims)
			for d := range dims {
				need[c][d] = float64(amount.Draw(t, "need")) / 8
			}
			flat = append(flat, need[c]...)
			most[c] = float64(rapid.IntRange(0, 4).Draw(t, "most"))
		}
		s := &NewKnapsacks(dims, room, flat, [][]float64{most}, make([]float64, dims))[0]
		for range rapid.IntRange(1, 4).Draw(t, "solves") {
			value := make([]float64, n)
			for c := range value {
				value[c] = float64(amount.Draw(t, "value"))
			}
			want := solveBySupport(room, need, value, most)
			if enough := float64(amount.Draw(t, "enough")); s.Solve(value, enough) <= enough {
				if want > enough+1e-6 {
					t.Fatalf("worth at most %v, the best is %v", enough, want)
				}
			}
			worth := s.Solve(value, -1)
			k := make([]float64, n)
			s.Filling(k)
			got, feasible := judge(room, need, value, most, k)
			if !feasible {
				t.Fatalf("k = %v does not fit", k)
			}
			if math.Abs(got-want) > 1e-6*max(1, want) || math.Abs(worth-want) > 1e-6*max(1, want) {
				t.Fatalf("worth %v, said to be %v, the best is %v", got, worth, want)
			}
			// Weak duality: at its prices nothing can be worth more.
			proof := 0.0
			for d, l := range s.lambda {
				if l < 0 {
					t.Errorf("price %d is %v", d, l)
				}
				proof += l * room[d]
			}
			for c := range n {
				excess := value[c]
				for d, l := range s.lambda {
					excess -= l * need[c][d]
				}
				proof += most[c] * max(excess, 0)
			}
			if math.Abs(proof-got) > 1e-6*max(1, got) {
				t.Errorf("the prices prove %v, the filling is worth %v", proof, got)
			}
		}
	})
}

// coverByDuals maximises demand·y over column·y <= price, y >= 0: the dual of the master, by the knapsack, whose
// bounds are made too wide to matter.
func coverByDuals(demand []float64, columns [][]float64, price []float64) float64 {
	n := len(demand)
	wide := make([]float64, n)
	need := make([][]float64, n)
	for c := range n {
		for _, column := range columns {
			need[c] = append(need[c], column[c])
		}
		wide[c] = 1e9
	}
	return solveBySupport(price, need, demand, wide)
}

// The master's duals are worth exactly what the cheapest fractional cover costs, and no column holds more than its price.
func TestMasterAgainstBruteForce(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "rows")
		small := rapid.IntRange(1, 9)
		demand, per, price := make([]float64, n), make([]float64, n), make([]float64, n)
		var columns [][]float64
		var prices []float64
		for i := range n {
			demand[i], per[i], price[i] = float64(small.Draw(t, "demand")), float64(small.Draw(t, "per")), float64(small.Draw(t, "price"))
			single := make([]float64, n)
			single[i] = per[i]
			columns, prices = append(columns, single), append(prices, price[i])
		}
		for range rapid.IntRange(0, 3).Draw(t, "columns") {
			column := make([]float64, n)
			for i := range column {
				column[i] = float64(rapid.IntRange(0, 5).Draw(t, "entry"))
			}
			columns, prices = append(columns, column), append(prices, float64(small.Draw(t, "price")))
		}
		s := NewMaster(demand, per, price)
		worth := func(column []float64) float64 {
			sum := 0.0
			for i := range column {
				sum += s.y[i] * column[i]
			}
			return sum
		}
		for range 200 {
			entered := false
			for j, column := range columns {
				if worth(column) > prices[j]+1e-7 {
					entered = s.Enter(column, prices[j]) >= 0 || entered
					for s.DropNegative() >= 0 {
					}
				}
			}
			if !entered {
				break
			}
		}
		total := 0.0
		for i := range demand {
			if s.y[i] < -1e-6 {
				t.Errorf("dual %d is %v", i, s.y[i])
			}
			total += demand[i] * s.y[i]
		}
		for j, column := range columns {
			if worth(column) > prices[j]+1e-6 {
				t.Errorf("column %v is worth %v, it costs %v", column, worth(column), prices[j])
			}
		}
		if want := coverByDuals(demand, columns, prices); math.Abs(total-want) > 1e-5*max(1, want) {
			t.Errorf("duals are worth %v, the cheapest cover costs %v", total, want)
		}
	})
}
