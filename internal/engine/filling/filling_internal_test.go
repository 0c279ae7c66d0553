package filling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/packing"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/seeded"
)

// Each pod that some option holds is on just one node, no node holds more than it has room for, and nodes cost no less than the bound.
func TestFillingsAreWhole(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		p := drawn(t, 8, 9)
		k := packerFor(p)
		g := k.First(context.Background())
		if k.Waiting() == 0 && len(g.List) > 0 {
			k.Improve(context.Background(), g, packing.Effort{Starts: 2, Steps: 2_000, Improve: 2_000, Rounds: 2})
		}
		placed := make([]int, len(p.Items))
		for i := range g.List {
			b := &g.List[i]
			used := make([]int64, p.Dims)
			for _, l := range b.Load {
				placed[l.Item] += int(l.Count)
				resources.AddScaled(used, p.Items[l.Item].Need, int64(l.Count))
				if int(l.Count) > p.Items[l.Item].PerNode {
					t.Errorf("%d pods of item %d on a node, want at most %d", l.Count, l.Item, p.Items[l.Item].PerNode)
				}
			}
			if !resources.Fits(used, p.Options[b.Option].Alloc) {
				t.Errorf("a node of option %d holds %v, and has %v", b.Option, used, p.Options[b.Option].Alloc)
			}
		}
		for i := range p.Items {
			fits := slices.ContainsFunc(p.Options, func(o pricing.Option) bool { return p.PerOption(&p.Items[i], 0, &o) > 0 })
			if placed[i]+k.Left[i] != p.Items[i].Count || fits != (k.Left[i] == 0) {
				t.Errorf("item %d: %d of %d pods placed, %d left; fits on some option: %v", i, placed[i], p.Items[i].Count, k.Left[i], fits)
			}
		}
		if bound := k.v.Bound; k.Waiting() == 0 && float64(g.cost(p)) < bound-1e-6 {
			t.Errorf("the nodes cost %d, and at least %v was proven", g.cost(p), bound)
		}
	})
}

// A few pods are packed as cheaply as can be.
func TestFewPodsArePackedExactly(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		p := drawn(t, 4, 2)
		k := packerFor(p)
		g := k.First(context.Background())
		if k.Waiting() > 0 {
			return
		}
		var pods []int
		for i := range p.Items {
			for range p.Items[i].Count {
				pods = append(pods, i)
			}
		}
		if want := cheapest(p, pods, map[string]int64{}); g.cost(p) != want {
			t.Errorf("nodes for %d, the cheapest cost %d", g.cost(p), want)
		}
	})
}

// A node that is filled half by half has no more pods of an item than may be there.
func TestBalancedFillingKeepsToPodsPerNode(t *testing.T) {
	open := bitset.New(1)
	open.Add(0)
	p := &pricing.Problem{
		Dims: 2, Resources: 2, Options: []pricing.Option{{Price: 1_000_000, Open: open, Alloc: []int64{20, 20}}},
		Items: []pricing.Item{{Class: 0, Count: 30, PerNode: 11, Need: []int64{1, 0}}, {Class: 1, Count: 30, PerNode: pricing.Unbounded, Need: []int64{0, 1}}},
	}
	k := packerFor(p)
	k.orderOf(0)
	k.fillBalanced(0)
	k.mergeTrial()
	if i := slices.IndexFunc(k.Trial, func(l pricing.Load) bool { return l.Item == 0 }); i < 0 || k.Trial[i].Count != 11 {
		t.Errorf("the node has %v, want 11 pods of item 0", k.Trial)
	}
}

// What may not be bought is not.
func TestGateIsKept(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		p := drawn(t, 4, 5)
		left := make(atMost, len(p.Options))
		for o := range left {
			left[o] = rapid.IntRange(0, 2).Draw(t, "left")
		}
		given := slices.Clone(left)
		k := NewPacker(NewTask(p, pricing.Find(context.Background(), p), none()), left)
		g := k.First(context.Background())
		for i := range g.List {
			if given[g.List[i].Option]--; given[g.List[i].Option] < 0 {
				t.Errorf("more nodes of option %d than there are", g.List[i].Option)
			}
		}
	})
}

// atMost is how many nodes of each option are left.
type atMost []int

func (a atMost) Open(o int32) bool { return a[o] > 0 }

func (a atMost) Buy(o int32) bool {
	if a[o] == 0 {
		return false
	}
	a[o]--
	return true
}

func none() *Rules { return &Rules{Residents: func(*topology.OneNode, int32, int32) {}} }

func packerFor(p *pricing.Problem) *Packer {
	return NewPacker(NewTask(p, pricing.Find(context.Background(), p), none()), nil)
}

// cheapest tries all ways to have pods with the first one on a node.
func cheapest(p *pricing.Problem, pods []int, known map[string]int64) int64 {
	if len(pods) == 0 {
		return 0
	}
	key := fmt.Sprint(pods)
	if cost, ok := known[key]; ok {
		return cost
	}
	best := int64(math.MaxInt64)
	for set := 1; set < 1<<len(pods); set += 2 {
		var rest []int
		used, count := make([]int64, p.Dims), make([]int, len(p.Items))
		for i, item := range pods {
			if set&(1<<i) == 0 {
				rest = append(rest, item)
				continue
			}
			resources.AddScaled(used, p.Items[item].Need, 1)
			count[item]++
		}
		price := int64(math.MaxInt64)
		for o := range p.Options {
			if resources.Fits(used, p.Options[o].Alloc) {
				price = min(price, p.Options[o].Price)
			}
		}
		for item, n := range count {
			if n > p.Items[item].PerNode {
				price = math.MaxInt64
			}
		}
		if price == math.MaxInt64 {
			continue
		}
		if more := cheapest(p, rest, known); more < math.MaxInt64 {
			best = min(best, price+more)
		}
	}
	known[key] = best
	return best
}

// drawn is a problem of one place with no two options of which one stands in for the other.
func drawn(t *rapid.T, items, count int) *pricing.Problem {
	draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	open := bitset.New(1)
	open.Add(0)
	p := &pricing.Problem{Dims: 2, Resources: 2}
	for i := range draw("items", 1, items) {
		it := pricing.Item{Class: int32(i), Count: draw("count", 1, count), PerNode: pricing.Unbounded}
		for range p.Dims {
			it.Need = append(it.Need, int64(draw("need", 0, 5)))
		}
		if draw("bounded", 0, 3) == 0 {
			it.PerNode = draw("per node", 1, 7)
		}
		p.Items = append(p.Items, it)
	}
	var all []pricing.Option
	for range draw("options", 1, 5) {
		o := pricing.Option{Price: int64(draw("price", 1, 900)) * 1_000, Open: open}
		for range p.Dims {
			o.Alloc = append(o.Alloc, int64(draw("room", 0, 9)))
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b pricing.Option) int { return pricing.CompareOptions(&a, &b) })
	for _, o := range all {
		if !slices.ContainsFunc(p.Options, func(k pricing.Option) bool { return resources.Fits(o.Alloc, k.Alloc) }) {
			p.Options = append(p.Options, o)
		}
	}
	return p
}
