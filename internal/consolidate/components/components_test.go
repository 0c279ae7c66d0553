package components_test

import (
	"slices"
	"testing"

	"github.com/drawknife/drawknife/internal/consolidate/components"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

func node(number int) *searchcontext.Candidate { return &searchcontext.Candidate{Number: number} }

func planned(number int) *searchcontext.Candidate {
	return &searchcontext.Candidate{Number: number, Planned: true}
}

// A planned node belongs to what it was opened for: who gives it up for another one joins that component, which launches no more for it.
func TestExchangeUponExchange(t *testing.T) {
	x := components.New()
	a, b, c := node(0), node(1), node(2)
	roots, size := x.Union(nil, []*searchcontext.Candidate{a, b}, nil)
	if want := (components.Size{Members: 2}); size != want || !slices.Equal(roots, []*searchcontext.Candidate{a, b}) {
		t.Errorf("two nodes come to %+v, %d roots", size, len(roots))
	}
	x.Join(roots, size, []int{7})
	if x.OpenedFor(7) != x.Connected.Find(b) {
		t.Error("the new node was not opened for the component")
	}
	roots, size = x.Union(nil, []*searchcontext.Candidate{planned(7), c}, nil)
	if want := (components.Size{Members: 3}); size != want || len(roots) != 2 {
		t.Errorf("with the new node given up and a third one gone they come to %+v, %d roots", size, len(roots))
	}
	x.Join(roots, size, []int{8})
	if _, size = x.Union(nil, []*searchcontext.Candidate{c}, nil); size != (components.Size{Members: 3, NewNodes: 1}) {
		t.Errorf("the component is %+v", size)
	}
	if x.Connected.Find(a) != x.Connected.Find(c) || x.Connected.Find(node(3)) == x.Connected.Find(a) {
		t.Error("other nodes are together")
	}
}

// Pods that a node received may come to share a new node with those of nodes that are removed with it.
func TestReceivedPodsShareNewNodes(t *testing.T) {
	x := components.New()
	a, receiver := node(0), node(1)
	roots, size := x.Union(nil, []*searchcontext.Candidate{a}, nil)
	x.Join(roots, size, nil)
	x.Receive(receiver, []*searchcontext.Candidate{a})
	group := []*searchcontext.Candidate{receiver}
	if others := x.Sharing(group, nil, nil); others != nil {
		t.Errorf("without a new node %d others share one", len(others))
	}
	if others := x.Sharing(group, []int{3}, nil); !slices.Equal(others, []*searchcontext.Candidate{a}) {
		t.Errorf("%d others share the new node", len(others))
	}
	if _, size := x.Union(nil, group, x.Sharing(group, []int{3}, nil)); size != (components.Size{Members: 2}) {
		t.Errorf("together they are %+v", size)
	}
}
