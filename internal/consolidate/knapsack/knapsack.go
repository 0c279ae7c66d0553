// Package knapsack answers one question: which of many choices have the highest total value, if each uses parts of several budgets and no
// budget may be exceeded?
//
// The input is choices with their value and their use of each budget, and the available amount of each budget, all as whole numbers. The
// output is the indices of the selected choices. The package does not depend on nodes.
//
// This is the multidimensional 0-1 knapsack problem (Kellerer, Pferschy and Pisinger, Knapsack Problems, 2004, chapter 9). If only one
// budget is binding, for instance because only one NodePool has a budget, the problem is solved exactly by dynamic programming (Bellman).
// The time is proportional to the number of choices times the units of the budget. If several budgets are binding, choices are taken in the
// order of their value per share of the scarcest budget. Then choices are exchanged for other choices while this increases the total value.
// The number of exchanges is limited.
package knapsack

import (
	"cmp"
	"slices"
)

// Choice is a possible action with its value and its use of each budget, all as whole numbers.
type Choice struct {
	Value int64
	Takes []int64
}

// Limits on the work of Choose.
const (
	// exactCells is the largest size of the table for a single binding budget. The size is the number of choices times the number of units
	// of the budget.
	exactCells = 4_000_000
	// mostSwaps is the largest number of exchanges that exchange tries.
	mostSwaps = 400_000
)

// Choose returns the indices of the choices with the highest total value that exceed no budget, in ascending order. If only one budget is
// binding and the table of the dynamic program is not too large, the result is exact. If several budgets are binding, Choose takes choices
// in the order of their value per used share of the budget that each choice uses most. Then it exchanges one choice for another, one choice
// for two others, or two choices for one, while this increases the total value. Choices without value are left out.
func Choose(list []Choice, room []int64) []int {
	var open []int
	for i := range list {
		if list[i].Value > 0 && within(list[i].Takes, room) {
			open = append(open, i)
		}
	}
	binding := bindingBudgets(list, open, room)
	switch len(binding) {
	case 0:
		return open
	case 1:
		if out, ok := chooseExactly(list, open, room[binding[0]], binding[0]); ok {
			return out
		}
	}
	p := &picker{list: list, room: slices.Clone(room), in: make([]bool, len(list)), open: open}
	p.rank(room)
	p.fill()
	p.exchange()
	return slices.DeleteFunc(slices.Clone(open), func(i int) bool { return !p.in[i] })
}

func within(takes, room []int64) bool {
	for b, n := range takes {
		if n > 0 && n > room[b] {
			return false
		}
	}
	return true
}

// bindingBudgets returns the budgets that are too small for all open choices (the choices that are possible) together.
func bindingBudgets(list []Choice, open []int, room []int64) []int {
	var out []int
	for b := range room {
		left := room[b]
		for _, i := range open {
			left -= list[i].Takes[b]
		}
		if left < 0 {
			out = append(out, b)
		}
	}
	return out
}

// chooseExactly returns the best choices if only one budget is binding. It divides the budget into units: the greatest common divisor of
// the amounts that the choices use. It returns false if the table would have more than exactCells entries, or if no choice uses the budget.
func chooseExactly(list []Choice, open []int, room int64, budget int) ([]int, bool) {
	unit := int64(0)
	for _, i := range open {
		unit = gcd(unit, list[i].Takes[budget])
	}
	if unit == 0 || room/unit+1 > exactCells/int64(len(open)) {
		return nil, false
	}
	units := int(room / unit)
	best := make([]int64, units+1) // best[u] is the highest value of choices that use at most u units
	took := make([]bool, len(open)*(units+1))
	for k, i := range open {
		n := int(list[i].Takes[budget] / unit)
		for u := units; u >= n; u-- {
			if with := best[u-n] + list[i].Value; with > best[u] {
				best[u], took[k*(units+1)+u] = with, true
			}
		}
	}
	var out []int
	for k, u := len(open)-1, units; k >= 0; k-- {
		if took[k*(units+1)+u] {
			out = append(out, open[k])
			u -= int(list[open[k]].Takes[budget] / unit)
		}
	}
	slices.Sort(out)
	return out, true
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// picker selects choices if several budgets are binding.
type picker struct {
	list []Choice
	// room is the amount that remains of each budget.
	room []int64
	in   []bool
	// open are the indices of the possible choices. order has the same indices, sorted by each choice's value per used share of the budget
	// that it uses most.
	open, order []int
	swaps       int
}

// rank sorts the indices of the possible choices and stores them in p.order. Used shares are relative to the given budgets.
func (p *picker) rank(room []int64) {
	density := make([]float64, len(p.list))
	for _, i := range p.open {
		share := 0.0
		for b, n := range p.list[i].Takes {
			if n > 0 {
				share = max(share, float64(n)/float64(room[b]))
			}
		}
		density[i] = float64(p.list[i].Value)
		if share > 0 {
			density[i] /= share
		} else {
			density[i] *= 1e9 // the choice uses no budget, so it comes first
		}
	}
	p.order = slices.Clone(p.open)
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Or(cmp.Compare(density[b], density[a]), cmp.Compare(a, b)) })
}

func (p *picker) add(i int) {
	p.in[i] = true
	for b, n := range p.list[i].Takes {
		p.room[b] -= n
	}
}

func (p *picker) drop(i int) {
	p.in[i] = false
	for b, n := range p.list[i].Takes {
		p.room[b] += n
	}
}

// fill adds choices that fit into the remaining budgets, one after another in the order of p.order. It returns the total value and the
// indices of the added choices.
func (p *picker) fill() (value int64, added []int) {
	for _, i := range p.order {
		if !p.in[i] && within(p.list[i].Takes, p.room) {
			p.add(i)
			value += p.list[i].Value
			added = append(added, i)
		}
	}
	return value, added
}

// exchange improves the selection until no exchange increases its value, or until mostSwaps exchanges were tried.
func (p *picker) exchange() {
	for p.better() && p.swaps < mostSwaps {
	}
}

// better makes one exchange that increases the value, and reports whether it found one.
func (p *picker) better() bool {
	for _, out := range p.order {
		if p.in[out] && p.replace(out) {
			return true
		}
	}
	for a, first := range p.order {
		for _, second := range p.order[a+1:] {
			if p.swaps >= mostSwaps {
				return false
			}
			if p.in[first] && p.in[second] && p.replace(first, second) {
				return true
			}
		}
	}
	return false
}

// replace removes the given choices, adds another choice that fits, and fills the remaining budgets with further choices. It tries one
// other choice after another until the total value increases. If no choice increases it, replace restores the selection.
func (p *picker) replace(out ...int) bool {
	lost := int64(0)
	for _, i := range out {
		lost += p.list[i].Value
		p.drop(i)
	}
	for _, i := range p.order {
		if p.in[i] || slices.Contains(out, i) || !within(p.list[i].Takes, p.room) {
			continue
		}
		if p.swaps++; p.swaps > mostSwaps {
			break
		}
		p.add(i)
		gained, added := p.fill()
		if gained+p.list[i].Value > lost {
			return true
		}
		for _, j := range added {
			p.drop(j)
		}
		p.drop(i)
	}
	for _, i := range out {
		p.add(i)
	}
	return false
}
