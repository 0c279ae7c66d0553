package filling

import (
	"math"
	"math/bits"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Limits of packing a few pods exactly: the number of pods, and the number of nodes to check (subsets of pods times options).
const (
	exactPods = 10
	exactWork = 500_000
)

// packExactly replaces a packing of a few pods by the cheapest packing, if that is better. Of equally cheap packings it takes the one with
// the fewest nodes. It finds the cheapest node that holds each subset of the pods, and from these the cheapest way to divide all pods. It
// respects the rules about pods on one node. Rules about several nodes are already expressed by the places that each option can take.
func (k *Task) packExactly(g *Bins) {
	p := k.p
	pods := g.pods()
	if len(pods) < 2 || len(pods) > exactPods || len(p.Options)<<len(pods) > exactWork {
		return
	}
	all := 1<<len(pods) - 1
	bins := make([]Bin, all+1)
	price := make([]int64, all+1) // the price of the cheapest node for each subset
	bins[0].used = make([]int64, p.Dims)
	for set := 1; set <= all; set++ {
		first := bits.TrailingZeros(uint(set))
		rest := &bins[set&(set-1)]
		it := pods[first]
		b := Bin{used: slices.Clone(rest.used), Load: slices.Clone(rest.Load)}
		resources.AddScaled(b.used, p.Items[it].Need, 1)
		b.add(pricing.Load{Item: it, Count: 1})
		price[set] = math.MaxInt64
		if o, _ := k.oneFor(&b, math.MaxInt64); o >= 0 {
			b.Option, price[set] = o, p.Options[o].Price
		}
		bins[set] = b
	}
	cost, parts, last := make([]int64, all+1), make([]int, all+1), make([]int, all+1)
	for set := 1; set <= all; set++ {
		cost[set] = math.MaxInt64
		first := set & -set // some node must hold the first pod
		for sub := set; sub > 0; sub = (sub - 1) & set {
			rest := cost[set&^sub]
			if sub&first == 0 || price[sub] == math.MaxInt64 || rest == math.MaxInt64 {
				continue
			}
			if sum, n := price[sub]+rest, parts[set&^sub]+1; sum < cost[set] || (sum == cost[set] && n < parts[set]) {
				cost[set], parts[set], last[set] = sum, n, sub
			}
		}
	}
	if before := g.cost(p); cost[all] > before || (cost[all] == before && parts[all] >= len(g.List)) {
		return
	}
	g.List = g.List[:0]
	for set := all; set > 0; set &^= last[set] {
		g.List = append(g.List, bins[last[set]])
	}
}

// pods returns the items of all pods of the packing, one entry per pod, or none if there are too many pods to pack exactly.
func (g *Bins) pods() []int32 {
	var list []int32
	for i := range g.List {
		for _, l := range g.List[i].Load {
			if len(list)+int(l.Count) > exactPods {
				return nil
			}
			for range l.Count {
				list = append(list, l.Item)
			}
		}
	}
	slices.Sort(list)
	return list
}
