package scheduling_test

import (
	"fmt"
	"testing"
)

// A node is partly full, and the pods worth most fill it in one resource with another left: those that go together do, and what is
// left needs one small node, of 0.04 USD/h.
func TestPartlyFullNodesTakePodsThatGoTogether(t *testing.T) {
	for name, c := range map[string]struct {
		bound [2]int
		pods  [][2]int
	}{
		"short of memory":        {[2]int{500, 8000}, [][2]int{{100, 7000}, {500, 500}, {1500, 4000}, {1000, 4000}}},
		"short of cores":         {[2]int{1000, 2000}, [][2]int{{500, 4000}, {1500, 2000}, {1500, 500}, {1000, 7000}}},
		"half of both":           {[2]int{1000, 6000}, [][2]int{{1500, 2000}, {1000, 7000}, {1500, 500}, {100, 4000}}},
		"empty":                  {[2]int{0, 0}, [][2]int{{500, 7000}, {1000, 2000}, {1500, 500}, {1500, 4000}, {500, 2000}}},
		"many small, two larger": {[2]int{2000, 8000}, [][2]int{{500, 500}, {1000, 2000}, {100, 2000}, {500, 4000}, {500, 2000}, {1000, 500}}},
	} {
		t.Run(name, func(t *testing.T) {
			asks := func(a [2]int) podOption {
				return requests(fmt.Sprintf("cpu=%dm", a[0]), fmt.Sprintf("memory=%dMi", a[1]))
			}
			parts := []any{nodePool("default"), node("n", bound(pod("b", asks(c.bound))))}
			for i, a := range c.pods {
				parts = append(parts, pod(fmt.Sprintf("p%d", i), asks(a)))
			}
			p := solve(t, cluster(parts...))
			if len(p.Unschedulable) > 0 || len(p.NewNodes) != 1 || p.HourlyCost > 0.0401 {
				t.Errorf("%d new nodes for %v USD/h, %d pods without a place", len(p.NewNodes), p.HourlyCost, len(p.Unschedulable))
			}
		})
	}
}
