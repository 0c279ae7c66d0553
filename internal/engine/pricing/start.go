package pricing

import (
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/lp"
)

// start adds to the master, for each bundle, the filling that has only pods of this bundle and the lowest cost per pod. It returns the
// options used.
func (pr *Program) start() []int32 {
	n := len(pr.Bundles)
	demand, per, price, option := make([]float64, n), make([]float64, n), make([]float64, n), make([]int32, n)
	for b := range pr.Bundles {
		demand[b] = pr.Bundles[b].count
		for o := range pr.p.Options {
			f := pr.Most[o][b]
			if f <= 0 || pr.p.Options[o].Limited {
				continue
			}
			c := float64(pr.p.Options[o].Price)
			if per[b] == 0 || c/f < price[b]/per[b] {
				per[b], price[b], option[b] = f, c, int32(o)
			}
		}
		if per[b] == 0 {
			// The mean need of a bundle may fit on no node although each item fits. In this case, the bundle's row starts with a filling of
			// one pod at the highest price, so that the linear program has a solution.
			last := len(pr.p.Options) - 1
			per[b], price[b], option[b] = 1, float64(pr.p.Options[last].Price), -1
		}
	}
	pr.master = lp.NewMaster(demand, per, price)
	pr.options = slices.Clone(option)
	slices.Sort(option)
	option = slices.Compact(option)
	return slices.DeleteFunc(option, func(o int32) bool { return o < 0 })
}

// seed adds known fillings whose value exceeds their price. Starting with a good mix saves most of the work.
func (pr *Program) seed() {
	bundleOf := make([]int, len(pr.p.Items))
	for b := range pr.Bundles {
		for _, i := range pr.Bundles[b].Items {
			bundleOf[i] = b
		}
	}
	for _, s := range pr.p.Seeds {
		clear(pr.Column)
		worth := 0.0
		for _, l := range s.Load {
			b := bundleOf[l.Item]
			pr.Column[b] += float64(l.Count)
			worth += float64(l.Count) * pr.master.Duals()[b]
		}
		if price := float64(pr.p.Options[s.Option].Price); worth > price*(1+1e-6)+1e-3 {
			pr.enter(pr.Column, s.Option)
		}
	}
}

// startCenter sets center to the cost of the pods' needs at resource prices that are the same for all options. These prices are the duals
// of the problem of buying the total needs of all pods. At these values, the pods that fill an option's room are worth at most the option's
// price, so few fillings can improve the first solution. startCenter returns the number of nodes of each option in the solution of that
// problem.
func (pr *Program) startCenter() []bought {
	p := pr.p
	var rows []int // the dimensions that pods need
	var demand, per, price []float64
	var first []int32
	for d := range pr.Dims {
		total := 0.0
		for b := range pr.Bundles {
			total += pr.Bundles[b].count * pr.Need[b*pr.Dims+d]
		}
		best := -1
		for o := range p.Options {
			room := pr.Room[o*pr.Dims+d]
			if room > 0 && !p.Options[o].Limited && (best < 0 || float64(p.Options[o].Price)*pr.Room[best*pr.Dims+d] < float64(p.Options[best].Price)*room) {
				best = o
			}
		}
		if total > 0 && best >= 0 {
			rows = append(rows, d)
			first = append(first, int32(best))
			demand, per, price = append(demand, total), append(per, pr.Room[best*pr.Dims+d]), append(price, float64(p.Options[best].Price))
		}
	}
	pr.center = make([]float64, len(pr.Bundles))
	if len(rows) == 0 {
		return nil
	}
	m := lp.NewMaster(demand, per, price)
	chosen := first // the option of each row's column, or -1 for a column that is no option
	column := make([]float64, len(rows))
	for range 50 * len(rows) {
		most, at := 1+1e-9, -1
		for o := range p.Options {
			worth := 0.0
			for i, d := range rows {
				worth += m.Duals()[i] * pr.Room[o*pr.Dims+d]
			}
			if ratio := worth / float64(max(p.Options[o].Price, 1)); ratio > most && !p.Options[o].Limited {
				most, at = ratio, o
			}
		}
		if at < 0 {
			break
		}
		for i, d := range rows {
			column[i] = pr.Room[at*pr.Dims+d]
		}
		row := m.Enter(column, float64(p.Options[at].Price))
		if row < 0 {
			break
		}
		chosen[row] = int32(at)
		for range 2 * len(rows) {
			if row = m.DropNegative(); row < 0 {
				break
			}
			chosen[row] = -1
		}
	}
	for b := range pr.Bundles {
		for i, d := range rows {
			pr.center[b] += max(m.Duals()[i], 0) * pr.Need[b*pr.Dims+d]
		}
		pr.centerBound += pr.center[b] * pr.Bundles[b].count
	}
	var mix []bought
	for row, o := range chosen {
		if o >= 0 && m.Levels()[row] > 0 {
			mix = append(mix, bought{o, m.Levels()[row]})
		}
	}
	return mix
}

// bought is an option with the number of its nodes in a mix.
type bought struct {
	option int32
	nodes  float64
}

// fewTypes is the number of options up to which spread is used. If there are more options, some have a much better ratio of value to price
// than others, and the search soon finds those options without spread.
const fewTypes = 256

// spread adds fillings with pods of all bundles. With pr.split, it divides the pods among the nodes of the mix. For each of these parts and
// each option, it adds a filling with an equal share of the part's pods. Together, the fillings of the options in mix cost as much as the
// resources at the prices of startCenter. No nodes can be cheaper, unless a node accepts only a limited number of pods. If prices grow with
// size, these fillings replace most of the search.
func (pr *Program) spread(mix []bought) {
	if len(pr.Bundles) < FewItems || len(pr.p.Options) > fewTypes {
		return
	}
	left := make([]float64, len(pr.Bundles))
	for b := range left {
		left[b] = pr.Bundles[b].count
	}
	part := make([]float64, len(left))
	alike := pr.takers()
	for k, m := range mix {
		copy(part, left)
		if k < len(mix)-1 {
			pr.split(m, left, part)
		}
		for b, n := range part {
			left[b] -= n
		}
		for o := range pr.p.Options {
			if !pr.p.Options[o].Limited {
				pr.mixed(int32(o), part, alike)
			}
		}
	}
}

// takers returns, for each bundle, the number of kinds of options that can hold its pods. Options are of the same kind if they can hold
// pods of the same bundles, for example the options of one zone.
func (pr *Program) takers() []float64 {
	out := make([]float64, len(pr.Bundles))
	known := map[string]bool{}
	taken := make([]byte, len(pr.Bundles))
	for o := range pr.p.Options {
		if pr.p.Options[o].Limited {
			continue
		}
		for b := range pr.Bundles {
			taken[b] = 0
			if pr.Bundles[b].takenBy(&pr.p.Options[o]) {
				taken[b] = 1
			}
		}
		if known[string(taken)] {
			continue
		}
		known[string(taken)] = true
		for b, n := range taken {
			out[b] += float64(n)
		}
	}
	return out
}

// mixed adds a filling of the option with the largest equal share of all given pods that the option can hold and that fits on one node.
// Pods that several kinds of options can hold are divided among the kinds. The filling is added only if its value exceeds the option's
// price.
func (pr *Program) mixed(o int32, pods, kinds []float64) {
	clear(pr.Column)
	for b, n := range pods {
		if n > 0 && pr.Bundles[b].takenBy(&pr.p.Options[o]) {
			pr.Column[b] = n / kinds[b]
		}
	}
	nodes := 0.0
	for d := range pr.Dims {
		need := 0.0
		for b, n := range pr.Column {
			need += n * pr.Need[b*pr.Dims+d]
		}
		if room := pr.Room[int(o)*pr.Dims+d]; need > nodes*room {
			nodes = need / room
		}
	}
	if nodes == 0 || math.IsInf(nodes, 1) {
		return // the column has no pods for this option, or the option lacks a resource that some of its pods need
	}
	worth := 0.0
	for b, n := range pr.Column {
		pr.Column[b] = min(n/nodes, pr.Most[o][b])
		worth += pr.Column[b] * pr.master.Duals()[b]
	}
	if price := float64(pr.p.Options[o].Price); worth > price*(1+1e-6)+1e-3 {
		pr.enter(pr.Column, o)
	}
}

// splitSteps is the number of times that an interval is halved to find a split of the pods.
const splitSteps = 24

// split divides the remaining pods (the parameter left) and sets part to the pods for the nodes m. It chooses the pods so that these nodes'
// two scarcest resources are used equally, and prefers pods whose needs have the same proportion as the nodes.
func (pr *Program) split(m bought, left, part []float64) {
	first, second := pr.scarcest(m, left)
	if second < 0 {
		return
	}
	room := pr.Room[int(m.option)*pr.Dims:]
	// lean says, from -1 to 1, how much more a pod needs of the first resource than of the second. size is the pod's use of both resources,
	// as a multiple of a node.
	lean, size := make([]float64, len(left)), make([]float64, len(left))
	for b := range left {
		x, y := pr.Need[b*pr.Dims+first]/room[first], pr.Need[b*pr.Dims+second]/room[second]
		if size[b] = x + y; size[b] > 0 {
			lean[b] = (x - y) / size[b]
		}
	}
	// used returns the part's use of both resources, and the amount by which its use of the first resource is larger, as multiples of a
	// node.
	used := func(level, slope float64) (sum, more float64) {
		for b, n := range left {
			z := level + slope*lean[b]
			part[b] = n * (1 + z/(1+math.Abs(z))) / 2
			sum += part[b] * size[b]
			more += part[b] * size[b] * lean[b]
		}
		return sum, more
	}
	level := func(slope float64) (more float64) {
		lo, hi := -1e4, 1e4
		for range splitSteps {
			mid := (lo + hi) / 2
			sum, by := used(mid, slope)
			if more = by; sum < 2*m.nodes {
				lo = mid
			} else {
				hi = mid
			}
		}
		return more
	}
	lo, hi := -1e3, 1e3
	for range splitSteps {
		if mid := (lo + hi) / 2; level(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
}

// scarcest returns the two resources of which the remaining pods need the most, as multiples of a node of the option. second is -1 if the
// pods need only one resource.
func (pr *Program) scarcest(m bought, left []float64) (first, second int) {
	first, second = -1, -1
	most, next := 0.0, 0.0
	for d := range pr.Dims {
		need := 0.0
		for b, n := range left {
			need += n * pr.Need[b*pr.Dims+d]
		}
		if room := pr.Room[int(m.option)*pr.Dims+d]; room > 0 {
			need /= room
		}
		if need > most {
			first, second, most, next = d, first, need, most
		} else if need > next {
			second, next = d, need
		}
	}
	return first, second
}
