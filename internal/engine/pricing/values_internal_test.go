package pricing

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/seeded"
)

// Whatever values a linear program that was not solved to its end leaves, lowering them makes them values that no option can hold
// more of than its price, and takes nothing from pods that only other options take.
func TestLoweredValuesAreProven(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		p := drawnProblem(t)
		pr := NewProgram(p, PlacesInUse(p.Items))
		u, lambda := make([]float64, len(p.Items)), make([]float64, len(p.Options)*pr.Dims)
		for i := range u {
			u[i] = float64(rapid.IntRange(0, 2_000).Draw(t, "value"))
		}
		for i := range lambda {
			lambda[i] = float64(rapid.IntRange(0, 1_000).Draw(t, "multiplier"))
		}
		values, prices := pr.lower(u, lambda)
		if values == nil {
			values, prices = u, lambda
		}
		held := make([]bool, len(u))
		for o := range p.Options {
			worth := func(u, lambda []float64) float64 { return pr.worth(o, u, lambda[o*pr.Dims:(o+1)*pr.Dims]) }
			price := float64(p.Options[o].Price)
			if got := worth(values, prices); got > price*nearlyProven+1e-6 {
				t.Errorf("option %d of price %v may hold %v", o, price, got)
			}
			for i := range p.Items {
				held[i] = held[i] || worth(u, lambda) > price && p.PerOption(&p.Items[i], 0, &p.Options[o]) > 0
			}
		}
		for i := range u {
			if values[i] > u[i] || values[i] < u[i] && !held[i] {
				t.Errorf("item %d was worth %v, and is worth %v now", i, u[i], values[i])
			}
		}
	})
}

// Where the program ends early, the bound is better by what is not taken from pods of other options.
func TestLoweredValuesBoundMore(t *testing.T) {
	ofNeed := func(need ...int64) Item {
		return Item{Count: 10, Need: need, PerNode: Unbounded, Class: int32(need[0])}
	}
	open := bitset.New(1)
	open.Add(0)
	p := &Problem{Dims: 2, Items: []Item{ofNeed(4, 0), ofNeed(0, 1)}, Options: []Option{
		{Price: 100_000, Alloc: []int64{8, 0}, Open: open}, {Price: 100_000, Alloc: []int64{0, 4}, Open: open},
	}}
	pr := NewProgram(p, PlacesInUse(p.Items))
	v := &Values{}
	v.take(pr, []float64{50_000, 50_000}, []float64{100_000, 0, 0, 200_000})
	// Two of the first fit on a node of the first option, four of the second on one of the second.
	if want := []int64{50_000, 25_000}; v.Bound < 749_900 || v.Bound > 750_000 || v.Item[0] < want[0]-1 || v.Item[1] < want[1]-1 {
		t.Errorf("bound %v by values %v, want 750000 by %v", v.Bound, v.Item, want)
	}
}

// Column generation goes on until the best values known are proven to be next to the best there are: no mix of fillings costs less than
// what they add up to, and the one found costs hardly more.
func TestColumnGenerationEnds(t *testing.T) {
	p := manySizes(100)
	v := WithoutCommitments(context.Background(), p)
	if cost := v.Program.master.Objective(); v.Bound < cost*(1-2*nearEnough) {
		t.Errorf("values of %v, a mix of fillings for %v after %d columns", v.Bound, cost, v.Program.entered)
	}
	if pr := v.Program; len(pr.Bundles) != len(p.Items) || pr.entered < 200 {
		t.Errorf("%d columns for %d rows and %d items", pr.entered, len(pr.Bundles), len(p.Items))
	}
}

// A plan's proof ends soon where hundreds of fillings cost the same, and proves as much as a long search does.
func TestProofOfPlanEndsSoon(t *testing.T) {
	searched := 0
	for seed := range uint64(60) {
		p := linearPrices(seed)
		long := WithoutCommitments(context.Background(), p)
		rows := len(long.Program.Bundles)
		if long.Program.entered < 2*rows {
			continue // there was little to search
		}
		searched++
		plan := *p
		plan.Planned = long.Program.master.Objective()
		soon := WithoutCommitments(context.Background(), &plan)
		if soon.Program.entered > 3*rows/2 || soon.Bound < long.Bound*(1-nearEnough) {
			t.Errorf("seed %d: %d columns for %d rows and a bound of %v, without the plan %d and %v",
				seed, soon.Program.entered, rows, soon.Bound, long.Program.entered, long.Bound)
		}
	}
	if searched == 0 {
		t.Error("no problem takes a search")
	}
}

// linearPrices is a problem of fifty sizes of pods, of a quarter of which a node takes one, on nodes of one shape in sizes of one price
// for the same amount.
func linearPrices(seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 0))
	open := bitset.New(1)
	open.Add(0)
	p := &Problem{Dims: 3}
	for i := range 50 {
		it := Item{Class: int32(i), Count: 1 + r.IntN(80), Need: []int64{125 << r.IntN(6), 128 << r.IntN(8), 1}, PerNode: Unbounded}
		if it.Need[0] <= 1_000 && r.IntN(4) == 0 {
			it.PerNode, it.Count = 1, 10+r.IntN(30)
		}
		p.Items = append(p.Items, it)
	}
	for _, size := range []int64{1, 2, 4, 8, 16, 24} {
		p.Options = append(p.Options, Option{Open: open, Price: 192_000_000 * size, Alloc: []int64{3_920 * size, 15_000 * size, min(58*size, 234)}})
	}
	return p
}

// manySizes is a problem of n sizes of pods, a third of which ask for one to eight GPUs, and nodes of unlike shapes.
func manySizes(n int) *Problem {
	open := bitset.New(1)
	open.Add(0)
	p := &Problem{Dims: 4}
	at := func(i, step, mod int) int64 { return int64(i * step % mod) }
	for i := range n {
		need := []int64{500 + 100*at(i, 37, 61), 256 + 256*at(i, 53, 97), 1, 0}
		if i%3 == 0 {
			need[3] = 1 << at(i, 5, 4)
		}
		p.Items = append(p.Items, Item{Class: int32(i), Count: 5 + int(at(i, 29, 83)), Need: need, PerNode: Unbounded})
	}
	for size := int64(1); size <= 16; size *= 2 {
		for ratio := int64(1); ratio <= 8; ratio *= 2 {
			for gpus := int64(0); gpus <= size; gpus = max(2*gpus, 1) {
				p.Options = append(p.Options, Option{
					Open: open, Price: size*(90_000_000+11_000_000*ratio+37_000*at(int(size*ratio), 31, 17)) + gpus*270_000_000,
					Alloc: []int64{4_000*size - 100, 4_096*size*ratio - 512, 29 * size, gpus},
				})
			}
		}
	}
	slices.SortFunc(p.Options, func(a, b Option) int { return CompareOptions(&a, &b) })
	return p
}

// drawnProblem is a small problem of one place: pods of one to three amounts on nodes that have some of each.
func drawnProblem(t *rapid.T) *Problem {
	open := bitset.New(1)
	open.Add(0)
	p := &Problem{Dims: 3}
	draw := func(name string, lo, hi int64) int64 { return rapid.Int64Range(lo, hi).Draw(t, name) }
	for i := range int(draw("items", 1, 8)) {
		it := Item{Class: int32(i), Count: int(draw("count", 1, 9)), PerNode: Unbounded}
		for d := range p.Dims {
			it.Need = append(it.Need, draw(fmt.Sprint("need ", d), 0, 5))
		}
		if draw("bounded", 0, 3) == 0 {
			it.PerNode = 1
		}
		p.Items = append(p.Items, it)
	}
	for range int(draw("options", 1, 6)) {
		o := Option{Price: draw("price", 1, 900), Open: open}
		for d := range p.Dims {
			o.Alloc = append(o.Alloc, draw(fmt.Sprint("room ", d), 0, 9))
		}
		p.Options = append(p.Options, o)
	}
	return p
}
