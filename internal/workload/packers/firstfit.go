package packers

import (
	"cmp"
	"math"
	"slices"
)

// FirstFitDecreasing packs the largest pods first. It places each pod on the first node with enough free room. At first, all nodes have the
// same type. Then it changes each node to the cheapest type that can hold its pods. The size of a pod is its largest share of a resource of
// the type. If two pods are equally large, the pod with the larger sum of shares comes first. It repeats this procedure with each type as
// the type of all nodes at first, and returns the cheapest packing.
func (p *Problem) FirstFitDecreasing() Packing { return p.best(p.firstFitFrom) }

func (p *Problem) firstFitFrom(start *Type) Packing {
	order := make([]int, len(p.Classes))
	sizes, sums := make([]float64, len(p.Classes)), make([]float64, len(p.Classes))
	for i := range p.Classes {
		order[i] = i
		if !fits(p.Classes[i].Need, start.Room) {
			return Packing{Cost: math.Inf(1)}
		}
		for r, n := range p.Classes[i].Need {
			if n > 0 {
				share := float64(n) / float64(start.Room[r])
				sizes[i], sums[i] = max(sizes[i], share), sums[i]+share
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(sums[b], sums[a]))
	})
	var nodes [][]int64 // the remaining room of each node
	for _, i := range order {
		c := &p.Classes[i]
		left := c.Count
		for n := 0; left > 0; n++ {
			if n == len(nodes) {
				nodes = append(nodes, slices.Clone(start.Room))
			}
			for left > 0 && fits(c.Need, nodes[n]) {
				for r, need := range c.Need {
					nodes[n][r] -= need
				}
				left--
			}
		}
	}
	out := Packing{Nodes: len(nodes)}
	used := make([]int64, len(start.Room))
	for _, room := range nodes {
		for r := range used {
			used[r] = start.Room[r] - room[r]
		}
		out.Cost += p.cheapest(used)
	}
	return out
}
