package packing

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What was looked at before is passed over only where it can't be the best: nodes are filled as by looking at all candidates for
// each pod.
func TestFillTakesTheBest(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := &Problem{Dims: 3, Scarce: []int{0, 1}, Options: []Option{{Price: 1, Alloc: []int64{1000 + r.Int64N(4000), 1000 + r.Int64N(4000), 40}, Open: []uint64{1}, Cell: AnyCell}}}
		var items []int32
		for i := range 1 + r.IntN(20) {
			cell := int32(AnyCell)
			if r.IntN(3) == 0 {
				cell = 1
			}
			p.Items = append(p.Items, Item{Need: []int64{50 + r.Int64N(20)*50, 50 + r.Int64N(20)*50, 1}, Count: 1 + r.IntN(9), PerNode: 1 + r.IntN(9), Cell: cell})
			items = append(items, int32(i))
		}
		f := newFiller(p)
		for i := range p.Items {
			f.left[i] = p.Items[i].Count
		}
		f.steps = 1 << 40
		bonus := r.Int64N(2) * 64
		f.weigh(0, items)
		f.fill(0, items, bonus)
		if want := filledPlainly(f, items, bonus); !slices.Equal(f.load, want) {
			t.Fatalf("seed %d: %v, want %v", seed, f.load, want)
		}
	}
}

// filledPlainly fills a node by looking at all items for each pod.
func filledPlainly(f *filler, items []int32, bonus int64) []Load {
	p, shares := f.p, f.sharesOn(0)
	free := slices.Clone(p.Options[0].Alloc)
	room := []int64{shareOne, shareOne}
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
				share := shares[int(i)*2+j]
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
			room[j] -= shares[best*2+j]
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
