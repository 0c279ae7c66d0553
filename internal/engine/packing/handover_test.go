package packing

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// sizes is a problem with a resource and options of so many units for as many dollars.
func sizes(units ...int64) *Problem {
	p := &Problem{Dims: 1, Scarce: []int{0}}
	for _, n := range units {
		p.Options = append(p.Options, Option{Price: n * 1000, Alloc: []int64{n}, Open: []uint64{1}, Cell: AnyCell, Ratio: RatioOne})
	}
	return p
}

// Four pods that keep apart need four nodes. One that holds all other pods is too large next to three that are nearly empty.
func TestHandingOverMakesOneNodeSmaller(t *testing.T) {
	p := sizes(4, 8, 16, 32)
	p.Items = []Item{
		{Need: []int64{1}, Count: 4, PerNode: 1, Cell: AnyCell},
		{Need: []int64{1}, Count: 20, PerNode: 1 << 30, Cell: AnyCell},
	}
	given := []Node{{Option: 3, Load: []Load{{0, 1}, {1, 20}}}, {Load: []Load{{0, 1}}}, {Load: []Load{{0, 1}}}, {Load: []Load{{0, 1}}}}
	s := newSearch(p)
	got := s.handOver(t.Context(), s.copyOf(given), 1, 10_000)
	if fault := faultOf(p, got); fault != "" {
		t.Fatal(fault)
	}
	// 24 units at least, and 28 from what there is: the three small nodes take nine pods, and eleven and one need one of sixteen.
	if cost := p.Cost(got); cost > 28_000 {
		t.Errorf("costs %d, want 28,000 or less", cost)
	}
}

// Where nodes that are there are full, they grow if that costs less than it saves.
func TestHandingOverMakesOthersGrow(t *testing.T) {
	p := sizes(4, 5, 16, 32)
	p.Items = []Item{
		{Need: []int64{4}, Count: 2, PerNode: 1, Cell: AnyCell},
		{Need: []int64{1}, Count: 17, PerNode: 1 << 30, Cell: AnyCell},
	}
	given := []Node{{Option: 3, Load: []Load{{1, 17}}}, {Load: []Load{{0, 1}}}, {Load: []Load{{0, 1}}}}
	s := newSearch(p)
	got := s.handOver(t.Context(), s.copyOf(given), 1, 10_000)
	if fault := faultOf(p, got); fault != "" {
		t.Fatal(fault)
	}
	if cost := p.Cost(got); cost != 25_000 {
		t.Errorf("costs %d, want 25,000", cost)
	}
}

func TestNodesThatHandAllOverAreGone(t *testing.T) {
	p := sizes(8)
	p.Items = []Item{{Need: []int64{1}, Count: 4, PerNode: 3, Cell: AnyCell}, {Need: []int64{1}, Count: 6, PerNode: 1 << 30, Cell: AnyCell}}
	given := []Node{{Load: []Load{{0, 2}, {1, 2}}}, {Load: []Load{{0, 1}, {1, 2}}}, {Load: []Load{{0, 1}, {1, 2}}}}
	s := newSearch(p)
	got := s.handOver(t.Context(), s.copyOf(given), 1, 10_000)
	if fault := faultOf(p, got); fault != "" || len(got) != 2 {
		t.Errorf("%d nodes, want 2; %s", len(got), fault)
	}
}

// Handing over keeps every pod and every rule, costs no more, and is the same each time.
func TestHandingOverNeverCostsMore(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		p := drawn(t)
		given := Pack(context.Background(), p, nil, 0, Effort{Starts: 1, Steps: 100_000})
		if given == nil {
			return
		}
		s := newSearch(p)
		got := s.handOver(context.Background(), s.copyOf(given), 1, rapid.SampledFrom([]int{0, 50, 100_000}).Draw(t, "steps"))
		if fault := faultOf(p, got); fault != "" {
			t.Fatal(fault)
		}
		if p.Cost(got) > p.Cost(given) {
			t.Errorf("costs %d, was %d", p.Cost(got), p.Cost(given))
		}
	})
}
