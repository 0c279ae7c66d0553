package documents_test

import (
	"math"
)

// This is column generation as textbooks have it, on the example: small enough that each linear program is solved by looking at
// all its corners. It shares no code with package scheduling, whose result must be the same.

const tolerance = 1e-9

// column is a filling of a node: how many pods of each workload are on it, in fractions.
type column struct {
	of    instanceType
	count [3]float64
}

// mix is which fillings are bought how often.
type mix struct {
	columns []column
	times   []float64
	cost    float64
	// prices are the duals: what one more pod of each workload would cost.
	prices [3]float64
}

// start is the cheapest filling with pods of one workload alone, for each workload.
func start() []column {
	var out []column
	for w := range exampleWorkloads() {
		best, least := column{}, math.Inf(1)
		for _, it := range exampleTypes() {
			c := column{of: it}
			if c.count[w] = fitsAlone(it, w); c.count[w] > 0 && it.price/c.count[w] < least {
				best, least = c, it.price/c.count[w]
			}
		}
		out = append(out, best)
	}
	return out
}

// fitsAlone is how many pods of the workload fit on an empty node of the type.
func fitsAlone(it instanceType, workload int) float64 {
	w := exampleWorkloads()[workload]
	return math.Min(float64(w.pods), math.Floor(math.Min(it.cpu/w.cpu, it.memory/w.memory)+tolerance))
}

// solve3 solves three equations; false where they have no single solution.
func solve3(a [3][3]float64, b [3]float64) (x [3]float64, ok bool) {
	for i := range 3 {
		pivot := i
		for r := i + 1; r < 3; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[pivot][i]) {
				pivot = r
			}
		}
		if math.Abs(a[pivot][i]) < tolerance {
			return x, false
		}
		a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
		for r := range 3 {
			if r == i {
				continue
			}
			k := a[r][i] / a[i][i]
			for c := i; c < 3; c++ {
				a[r][c] -= k * a[i][c]
			}
			b[r] -= k * b[i]
		}
	}
	for i := range 3 {
		x[i] = b[i] / a[i][i]
	}
	return x, true
}

// cheapestMix covers all pods with the given fillings at the least cost, in fractions: each corner of the program has three columns,
// of which some may be surplus, that is a workload that gets more places than it has pods.
func cheapestMix(columns []column) mix {
	all := columns
	for w := range 3 {
		surplus := column{}
		surplus.count[w] = -1
		all = append(all[:len(all):len(all)], surplus)
	}
	best := mix{cost: math.Inf(1)}
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			for k := j + 1; k < len(all); k++ {
				if m, ok := corner([]column{all[i], all[j], all[k]}); ok && m.cost < best.cost-tolerance && m.proven(all) {
					best = m
				}
			}
		}
	}
	return best
}

// corner buys the three columns so that they cover the pods exactly; false if some would be bought less than never.
func corner(columns []column) (mix, bool) {
	var cover, transposed [3][3]float64
	var demand, price [3]float64
	for w, workload := range exampleWorkloads() {
		demand[w] = float64(workload.pods)
		for c := range columns {
			cover[w][c], transposed[c][w] = columns[c].count[w], columns[c].count[w]
			price[c] = columns[c].of.price
		}
	}
	times, ok := solve3(cover, demand)
	if !ok {
		return mix{}, false
	}
	m := mix{columns: columns}
	for c, n := range times {
		if n < -tolerance {
			return mix{}, false
		}
		m.times = append(m.times, n)
		m.cost += n * price[c]
	}
	m.prices, ok = solve3(transposed, price)
	return m, ok
}

// proven reports whether no column is worth more than it costs at the mix's prices, which shows that no mix of them is cheaper.
func (m *mix) proven(columns []column) bool {
	for i := range columns {
		if m.worth(&columns[i]) > columns[i].of.price+tolerance {
			return false
		}
	}
	return true
}

func (m *mix) worth(c *column) float64 {
	sum := 0.0
	for w, n := range c.count {
		sum += n * m.prices[w]
	}
	return sum
}

// mostValuable is the filling of the type that is worth most at the prices, in fractions: the knapsack, again corner by corner.
func (m *mix) mostValuable(it instanceType) column {
	type limit struct {
		a [3]float64
		b float64
	}
	limits := []limit{{b: it.cpu}, {b: it.memory}}
	for w, workload := range exampleWorkloads() {
		limits[0].a[w], limits[1].a[w] = workload.cpu, workload.memory
	}
	for w := range 3 {
		none, most := limit{}, limit{b: fitsAlone(it, w)}
		none.a[w], most.a[w] = -1, 1
		limits = append(limits, none, most)
	}
	best, worth := column{of: it}, 0.0
	for i := range limits {
		for j := i + 1; j < len(limits); j++ {
			for k := j + 1; k < len(limits); k++ {
				x, ok := solve3([3][3]float64{limits[i].a, limits[j].a, limits[k].a}, [3]float64{limits[i].b, limits[j].b, limits[k].b})
				c := column{of: it, count: x}
				for _, l := range limits {
					ok = ok && l.a[0]*x[0]+l.a[1]*x[1]+l.a[2]*x[2] <= l.b+tolerance
				}
				if w := m.worth(&c); ok && w > worth+tolerance {
					best, worth = c, w
				}
			}
		}
	}
	return best
}

// round is one step of column generation: a mix, and the best filling of each type at its prices.
type round struct {
	mix   mix
	best  []column
	added bool
}

// generate adds the fillings that are worth more than they cost until there is none.
func generate() []round {
	columns := start()
	var out []round
	for {
		r := round{mix: cheapestMix(columns)}
		for _, it := range exampleTypes() {
			c := r.mix.mostValuable(it)
			r.best = append(r.best, c)
			if r.mix.worth(&c) > it.price+1e-6 {
				columns = append(columns, c)
				r.added = true
			}
		}
		if out = append(out, r); !r.added {
			return out
		}
	}
}

// cheapestWhole is what whole nodes for all pods cost at least: each pod is put on each node bought so far and on a new one of each
// type, with all that can't become cheaper left out.
func cheapestWhole() float64 {
	type node struct{ cpu, memory float64 }
	var pods []workload
	for _, w := range exampleWorkloads() {
		for range w.pods {
			pods = append(pods, w)
		}
	}
	best := math.Inf(1)
	var place func(next int, nodes []node, cost float64)
	place = func(next int, nodes []node, cost float64) {
		if cost > best-tolerance {
			return
		}
		if next == len(pods) {
			best = cost
			return
		}
		p := pods[next]
		for i := range nodes {
			if n := nodes[i]; n.cpu >= p.cpu && n.memory >= p.memory {
				nodes[i] = node{n.cpu - p.cpu, n.memory - p.memory}
				place(next+1, nodes, cost)
				nodes[i] = n
			}
		}
		for _, it := range exampleTypes() {
			if it.cpu >= p.cpu && it.memory >= p.memory {
				place(next+1, append(nodes[:len(nodes):len(nodes)], node{it.cpu - p.cpu, it.memory - p.memory}), cost+it.price)
			}
		}
	}
	place(0, nil, 0)
	return best
}
