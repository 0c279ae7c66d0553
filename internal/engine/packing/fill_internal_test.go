package packing

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What is passed over can't be the best: nodes are filled as by looking at all items for each pod. Of equals the first in the order goes
// first.
func TestFillTakesTheBest(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		scarce := []int{0, 1, 3}[:1+r.IntN(3)]
		p := &Problem{Dims: 4, Scarce: scarce, Options: []Option{{Price: 1, Alloc: []int64{1000 + r.Int64N(4000), 1000 + r.Int64N(4000), 40, 3}, Open: []uint64{1}, Cell: AnyCell}}}
		for range 1 + r.IntN(20) {
			cell := int32(AnyCell)
			if r.IntN(3) == 0 {
				cell = 1
			}
			p.Items = append(p.Items, Item{Need: []int64{50 + r.Int64N(20)*50, 50 + r.Int64N(20)*50, 1, max(r.Int64N(8)-5, 0)}, Count: 1 + r.IntN(9), PerNode: 1 + r.IntN(9), Cell: cell})
		}
		f := newFiller(p)
		for i := range p.Items {
			f.left[i] = p.Items[i].Count
		}
		f.steps = 1 << 40
		bonus := r.Int64N(2) * 64
		f.weigh(0, f.order)
		f.fill(0, f.order, bonus)
		slices.SortFunc(f.load, func(a, b Load) int { return int(a.Item - b.Item) })
		if want := filledPlainly(f, bonus); !slices.Equal(f.load, want) {
			t.Fatalf("seed %d: %v, want %v", seed, f.load, want)
		}
	}
}

// filledPlainly fills a node by looking at all items for each pod.
func filledPlainly(f *filler, bonus int64) []Load {
	p, shares := f.p, f.on(0).shares
	free := slices.Clone(p.Options[0].Alloc)
	room := slices.Repeat([]int64{shareOne}, len(f.scarce))
	items := slices.Clone(f.order)
	if bonus > 0 { // what gets more comes last
		bound := func(i int32) int { return int(min(p.Items[i].Cell, 0)) }
		slices.SortStableFunc(items, func(a, b int32) int { return bound(a) - bound(b) })
	}
	counts := make([]int, len(p.Items))
	for {
		best, most := -1, int64(-1)
		for _, i := range items {
			it := &p.Items[i]
			if !fits(it.Need, free) || counts[i] >= min(it.Count, it.PerNode) {
				continue
			}
			score := int64(0)
			for j := range room {
				share := shares[int(i)*len(room)+j]
				score += f.weights[j] * share * (2*room[j] - share)
			}
			if score >>= 10; it.Cell != AnyCell {
				score += score >> 10 * bonus
			}
			if score > most {
				best, most = int(i), score
			}
		}
		if best < 0 {
			break
		}
		counts[best]++
		for d, need := range p.Items[best].Need {
			free[d] -= need
		}
		for j := range room {
			room[j] -= shares[best*len(room)+j]
		}
	}
	var out []Load
	for i, n := range counts {
		if n > 0 {
			out = append(out, Load{int32(i), int32(n)})
		}
	}
	return out
}
