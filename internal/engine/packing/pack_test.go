package packing

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// drawn is a problem with two resources, slots and a cap, in up to three cells, with prices that grow with sizes or do not.
func drawn(t *rapid.T) *Problem {
	number := func(lo, hi int) int64 { return int64(rapid.IntRange(lo, hi).Draw(t, "n")) }
	cells := int(number(1, 3))
	p := &Problem{Dims: 4, Scarce: []int{0, 1}}
	size := int64(0)
	for range number(1, 4) {
		size += number(2, 8)
		price := size * 1000
		if number(0, 1) == 1 {
			price = number(1, 40) * 500
		}
		for c := range cells {
			// Place 0 is any cell, place c+1 cell c.
			p.Options = append(p.Options, Option{
				Price: price, Alloc: []int64{size * 1000, size * number(1, 4) * 1000, number(4, 40), 2}, Open: []uint64{1 | 2<<c}, Cell: int32(c), Ratio: number(900, RatioOne),
			})
		}
	}
	for i := range p.Options {
		for j := i; j > 0 && p.Options[j].Price < p.Options[j-1].Price; j-- {
			p.Options[j], p.Options[j-1] = p.Options[j-1], p.Options[j]
		}
	}
	for range number(1, 8) {
		it := Item{Need: []int64{number(0, 2000), number(0, 2000), 1, number(0, 1)}, Count: int(number(1, 30)), PerNode: 1 << 30, Cell: AnyCell, Value: number(0, 300)}
		if number(0, 2) == 0 {
			it.Cell = int32(number(0, cells-1))
			it.Place = int(it.Cell) + 1
		}
		if number(0, 3) == 0 {
			it.PerNode = int(number(1, 2))
		}
		p.Items = append(p.Items, it)
	}
	return p
}

// faultOf says what is wrong with a packing, by the plainest arithmetic; empty for nothing.
func faultOf(p *Problem, nodes []Node) string {
	packed := make([]int, len(p.Items))
	for i, n := range nodes {
		o := &p.Options[n.Option]
		used := make([]int64, p.Dims)
		for _, l := range n.Load {
			it := &p.Items[l.Item]
			packed[l.Item] += int(l.Count)
			if int(l.Count) > it.PerNode || o.Open[0]&(1<<it.Place) == 0 {
				return fmt.Sprintf("node %d may not have %d of item %d", i, l.Count, l.Item)
			}
			for d, need := range it.Need {
				used[d] += need * int64(l.Count)
			}
		}
		for d := range used {
			if used[d] > o.Alloc[d] {
				return fmt.Sprintf("node %d has %d of %d in dimension %d", i, used[d], o.Alloc[d], d)
			}
		}
	}
	for i := range p.Items {
		if packed[i] != p.Items[i].Count {
			return fmt.Sprintf("%d of %d pods of item %d are packed", packed[i], p.Items[i].Count, i)
		}
	}
	return ""
}

var efforts = map[string]Effort{
	"starts": {Starts: 3, Steps: 100_000},
	"all":    {Starts: 4, Steps: 100_000, Improve: 20_000, Rounds: 2},
}

func TestPackingsAreComplete(t *testing.T) {
	for name, e := range efforts {
		t.Run(name, func(t *testing.T) {
			seeded.Check(t, func(t *rapid.T) {
				p := drawn(t)
				nodes := Pack(context.Background(), p, nil, 0, e)
				if nodes == nil {
					for i := range p.Items {
						held := false
						for o := range p.Options {
							held = held || p.Options[o].open(p.Items[i].Place) && fits(p.Items[i].Need, p.Options[o].Alloc)
						}
						if !held {
							return // this item fits no option
						}
					}
					t.Fatal("no packing, though every item fits some option")
				}
				if fault := faultOf(p, nodes); fault != "" {
					t.Fatal(fault)
				}
			})
		})
	}
}

func TestImprovingNeverCostsMore(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		p := drawn(t)
		given := Pack(context.Background(), p, nil, 0, Effort{Starts: 1, Steps: 100_000})
		if given == nil {
			return
		}
		cost := p.Cost(given)
		better := Pack(context.Background(), p, given, 0, efforts["all"])
		if fault := faultOf(p, better); fault != "" {
			t.Fatal(fault)
		}
		if p.Cost(better) > cost {
			t.Errorf("costs %d, was %d", p.Cost(better), cost)
		}
		again := Pack(context.Background(), p, given, 0, efforts["all"])
		if diff := cmp.Diff(better, again, cmp.AllowUnexported(Node{})); diff != "" {
			t.Errorf("packed twice:\n%s", diff)
		}
	})
}

func TestPackedToTheBoundIsLeftAlone(t *testing.T) {
	p := &Problem{Dims: 1, Scarce: []int{0}, Options: []Option{{Price: 1000, Alloc: []int64{4}, Open: []uint64{1}, Cell: AnyCell, Ratio: RatioOne}}}
	p.Items = []Item{{Need: []int64{1}, Count: 8, PerNode: 1 << 30, Cell: AnyCell}}
	given := []Node{{Load: []Load{{0, 2}}}, {Load: []Load{{0, 3}}}, {Load: []Load{{0, 3}}}}
	if got := Pack(context.Background(), p, given, 3000, efforts["all"]); len(got) != 3 {
		t.Errorf("%d nodes, though the three given cost no more than the bound", len(got))
	}
	if got := Pack(context.Background(), p, given, 2000, efforts["all"]); len(got) != 2 {
		t.Errorf("%d nodes, want 2", len(got))
	}
	if got := Pack(context.Background(), p, given, 2001, efforts["all"]); len(got) != 3 {
		t.Errorf("%d nodes, though nodes for 1000 each that cost at least 2001 cost at least 3000", len(got))
	}
}

func TestRulesThatAreNoAmounts(t *testing.T) {
	// Items 0 and 1 may not share a node.
	p := &Problem{Dims: 1, Scarce: []int{0}, Options: []Option{{Price: 1000, Alloc: []int64{8}, Open: []uint64{1}, Cell: AnyCell, Ratio: RatioOne}}}
	for range 2 {
		p.Items = append(p.Items, Item{Need: []int64{1}, Count: 4, PerNode: 1 << 30, Cell: AnyCell, Ruled: true})
	}
	p.Room = func(_ int32, load []Load, item int32) int {
		for _, l := range load {
			if l.Item != item {
				return 0
			}
		}
		return 1 << 30
	}
	p.Fits = func(_ int32, load []Load) bool { return len(load) < 2 }
	if got := Pack(context.Background(), p, nil, 0, efforts["all"]); len(got) != 2 || len(got[0].Load) != 1 || len(got[1].Load) != 1 {
		t.Errorf("packed as %v, want a node for each item", got)
	}
}

func TestNothingFits(t *testing.T) {
	p := &Problem{Dims: 1, Scarce: []int{0}, Options: []Option{{Price: 1, Alloc: []int64{1}, Open: []uint64{1}, Cell: AnyCell}}}
	p.Items = []Item{{Need: []int64{2}, Count: 1, PerNode: 1, Cell: AnyCell}}
	if got := Pack(context.Background(), p, nil, 0, efforts["all"]); got != nil {
		t.Errorf("packed as %v what fits nowhere", got)
	}
	if got := Pack(context.Background(), &Problem{}, nil, 0, efforts["all"]); len(got) != 0 {
		t.Errorf("packed nothing as %v", got)
	}
}

func BenchmarkPack(b *testing.B) {
	// Prices in proportion to size, round requests: hundreds of packings cost about the same.
	p := &Problem{Dims: 3, Scarce: []int{0, 1}}
	for _, cpus := range []int64{2, 4, 8, 16, 32, 48, 64, 96} {
		p.Options = append(p.Options, Option{Price: cpus * 48, Alloc: []int64{cpus*1000 - 200, cpus*4096 - 800, cpus * 10}, Open: []uint64{1}, Cell: AnyCell, Ratio: RatioOne})
	}
	for i := range 48 {
		p.Items = append(p.Items, Item{Need: []int64{50 << (i % 6), 128 << (i / 8), 1}, Count: 20 + i%5*15, PerNode: 1 << 30, Cell: AnyCell})
	}
	for _, steps := range []int{0, 100_000, 400_000} {
		b.Run(fmt.Sprint("improve=", steps), func(b *testing.B) {
			b.ReportAllocs()
			cost := int64(0)
			for b.Loop() {
				cost = p.Cost(Pack(context.Background(), p, nil, 0, Effort{Starts: 8, Steps: 1 << 30, Improve: steps, Rounds: 64}))
			}
			b.ReportMetric(float64(cost), "cost")
		})
	}
}

// Repacking ends earlier for packings whose cost is fair: others get all rounds, and more steps.
func TestPoorPackingsGetMoreEffort(t *testing.T) {
	e := Effort{Rounds: 8, FairRounds: 5, Enough: 1_000}
	for name, c := range map[string]struct {
		e              Effort
		idle, steps, n int
		fair, want     bool
	}{
		"fair, idle for long":       {e, 5 * 18, 0, 10, true, true},
		"fair, still gaining":       {e, 5*18 - 1, 0, 10, true, false},
		"fair, enough steps":        {e, 0, 1_000, 10, true, true},
		"poor, idle for long":       {e, 5 * 18, 0, 10, false, false},
		"poor, idle for longer":     {e, 8 * 18, 0, 10, false, true},
		"poor, many steps":          {e, 0, 3_999, 10, false, false},
		"poor, enough steps":        {e, 0, 4_000, 10, false, true},
		"no bounds for fair ones":   {Effort{Rounds: 8}, 8*18 - 1, 1_000_000, 10, true, false},
		"fewer rounds for everyone": {Effort{Rounds: 3, FairRounds: 5}, 3 * 18, 0, 10, true, true},
	} {
		if got := c.e.ends(c.idle, c.steps, c.n, c.fair); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
