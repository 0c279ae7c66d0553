package scheduling_test

import (
	"strings"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// SCH-180: node overlays change what nodes cost and have before anything is planned; one that can't be applied is noted.
func TestNodeOverlays(t *testing.T) {
	overlaid := func(name, instanceType string, change func(*v1.NodeOverlaySpec)) *v1.NodeOverlay {
		o := &v1.NodeOverlay{}
		o.Name = name
		o.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: typeKey, Operator: opIn, Values: []string{instanceType}}}
		change(&o.Spec)
		return o
	}
	price := func(p string) func(*v1.NodeOverlaySpec) { return func(s *v1.NodeOverlaySpec) { s.Price = &p } }
	t.Run("a price", func(t *testing.T) {
		s := cluster(pod("p"))
		wantPlace(t, solve(t, s), "p", "new small/a/spot")
		s.NodeOverlays = []*v1.NodeOverlay{overlaid("cheap", "large", price("0.01"))}
		p := solveQuery(t, s, scheduling.Query{})
		if n := newNodeOf(t, p, "p"); n.InstanceTypes[0].Name != "large" || n.InstanceTypes[0].Price != 0.01 {
			t.Errorf("%+v, want large at 0.01", n.InstanceTypes[0])
		}
	})
	t.Run("a resource", func(t *testing.T) {
		s := cluster(pod("p", requests("cpu=1", "example.com/fuse=1")))
		wantPlace(t, solve(t, s), "p", "nowhere")
		s.NodeOverlays = []*v1.NodeOverlay{overlaid("fuse", "medium", func(s *v1.NodeOverlaySpec) { s.Capacity = amounts("example.com/fuse=2") })}
		p := solveQuery(t, s, scheduling.Query{})
		n := newNodeOf(t, p, "p")
		if q := n.Allocatable["example.com/fuse"]; n.InstanceTypes[0].Name != "medium" || q.Value() != 2 {
			t.Errorf("%+v with %v", n.InstanceTypes[0], n.Allocatable)
		}
	})
	t.Run("one that says nonsense", func(t *testing.T) {
		s := cluster(pod("p"))
		s.NodeOverlays = []*v1.NodeOverlay{overlaid("odd", "small", price("cheap"))}
		p := solveQuery(t, s, scheduling.Query{})
		wantPlace(t, p, "p", "new small/a/spot")
		if len(p.Notes) != 1 || p.Notes[0].Code != "NodeOverlayNotApplied" || p.Notes[0].Object != "NodeOverlay odd" || !strings.Contains(p.Notes[0].Message, "price") {
			t.Errorf("notes %+v", p.Notes)
		}
	})
}
