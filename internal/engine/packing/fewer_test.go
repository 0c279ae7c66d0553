package packing

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// Eight nodes whose price is half of the next larger ones' become one that holds the pods of all, and four of which no two may share a
// node stay as they are.
func TestFewerNodesForTheSamePrice(t *testing.T) {
	p := sizes(1, 2, 4, 8)
	p.Items = []Item{{Need: []int64{1}, Count: 8, PerNode: 1 << 30, Cell: AnyCell}, {Need: []int64{1}, Count: 4, PerNode: 1, Cell: AnyCell}}
	var given []Node
	for range 8 {
		given = append(given, Node{Load: []Load{{0, 1}}})
	}
	for range 4 {
		given = append(given, Node{Load: []Load{{1, 1}}})
	}
	s := newSearch(p)
	got := s.fewer(given)
	if fault := faultOf(p, got); fault != "" {
		t.Fatal(fault)
	}
	if p.Cost(got) != p.Cost(given) || len(got) != 5 {
		t.Errorf("%d nodes for %d, want 5 for %d: %v", len(got), p.Cost(got), p.Cost(given), got)
	}
}

// Whatever is put together keeps the rules and costs the same.
func TestFewerNodesKeepTheCost(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		p := drawn(t)
		s := newSearch(p)
		given := Pack(t.Context(), p, nil, 0, Effort{Starts: 1, Steps: 10_000})
		if given == nil {
			return
		}
		got := s.fewer(s.copyOf(given))
		if fault := faultOf(p, got); fault != "" {
			t.Fatal(fault)
		}
		if p.Cost(got) != p.Cost(given) || len(got) > len(given) {
			t.Errorf("%d nodes for %d, of %d for %d", len(got), p.Cost(got), len(given), p.Cost(given))
		}
	})
}
