package packers

import "math"

// VectorGreedy is the norm-based greedy algorithm of Panigrahy, Talwar, Uyeda and Wieder ("Heuristics for vector bin packing", 2011). It
// fills nodes of one type, one node after another. It always adds the pod with which the weighted square of the remaining room is smallest.
// Then it changes each node to the cheapest type that can hold its pods. It repeats this procedure with each type as the type of all nodes
// at first, and returns the cheapest packing.
func (p *Problem) VectorGreedy() Packing { return p.best(p.greedyFrom) }

func (p *Problem) greedyFrom(start *Type) Packing {
	// The last resource is the number of pods. It limits how many pods fit on a node, but it is not a dimension of the norm.
	dimensions := len(p.Resources) - 1
	weights := make([]float64, dimensions)
	sum := 0.0
	for r := range weights {
		total := int64(0)
		for i := range p.Classes {
			total += p.Classes[i].Need[r] * int64(p.Classes[i].Count)
		}
		if total > 0 && start.Room[r] <= 0 {
			return Packing{Cost: math.Inf(1)} // some pod does not fit on an empty node of this type
		}
		if total > 0 {
			weights[r] = float64(total) / float64(start.Room[r])
		}
		sum += weights[r]
	}
	for r := range weights {
		weights[r] /= sum
	}
	left := make([]int, len(p.Classes))
	waiting := 0
	for i := range p.Classes {
		left[i] = p.Classes[i].Count
		waiting += left[i]
	}
	var out Packing
	room, used := make([]int64, len(start.Room)), make([]int64, len(start.Room))
	for waiting > 0 {
		copy(room, start.Room)
		clear(used)
		before := waiting
		for {
			best, least := -1, math.Inf(1)
			for i, n := range left {
				if n == 0 || !fits(p.Classes[i].Need, room) {
					continue
				}
				if remains := norm(weights, p.Classes[i].Need, room, start.Room); remains < least {
					best, least = i, remains
				}
			}
			if best < 0 {
				break
			}
			left[best]--
			waiting--
			for r, n := range p.Classes[best].Need {
				room[r] -= n
				used[r] += n
			}
		}
		if waiting == before {
			return Packing{Cost: math.Inf(1)}
		}
		out.Cost += p.cheapest(used)
		out.Nodes++
	}
	return out
}

// norm returns the weighted sum of squares of the free shares of a node's resources, after a pod has been added. The conversions to float64
// keep the compiler from fusing multiplications and additions. Fused operations would give different results on some processors.
func norm(weights []float64, need, room, whole []int64) float64 {
	sum := 0.0
	for r, w := range weights {
		if w > 0 {
			share := float64(room[r]-need[r]) / float64(whole[r])
			sum += float64(w * float64(share*share))
		}
	}
	return sum
}
