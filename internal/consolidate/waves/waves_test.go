package waves_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/waves"
	"github.com/drawknife/drawknife/scheduling/planning"
)

func command(id string, savings float64) *decision.Command {
	return &decision.Command{
		ID: id, Reason: decision.ReasonUnderutilized, Savings: savings, Members: []decision.Member{{Node: id, Cost: 1}},
		Receivers: []planning.ExistingNode{{Name: "stays", Pods: make([]planning.PodKey, 2)}},
	}
}

func TestDrain(t *testing.T) {
	times := waves.Times{Ready: time.Minute}
	for _, c := range []struct {
		pods, allowed int
		want          time.Duration
	}{{0, 1, 0}, {1, 1, time.Minute}, {5, 2, 3 * time.Minute}, {2, 0, 2 * time.Minute}} {
		if got := times.Drain(c.pods, c.allowed); got != c.want {
			t.Errorf("%d pods, %d at a time: %v, want %v", c.pods, c.allowed, got, c.want)
		}
	}
}

// Nodes with pods of one PodDisruptionBudget drain one after another; others join them. Given an order, nobody overtakes.
func TestWaves(t *testing.T) {
	shared, own := types.NamespacedName{Name: "shared"}, types.NamespacedName{Name: "own"}
	budgets := map[string]types.NamespacedName{"a": shared, "b": shared, "c": own}
	p := &waves.Planner{Times: waves.Times{Launch: time.Minute, Ready: time.Minute}, Evictions: func(node string) []waves.Evictions {
		return []waves.Evictions{{Budget: budgets[node], Pods: 2, Allowed: 1}}
	}}
	list := []*decision.Command{command("a", 3), command("b", 2), command("c", 1)}
	for _, c := range []struct {
		name    string
		inOrder bool
		want    [][]string
	}{{"by worth", false, [][]string{{"a", "c"}, {"b"}}}, {"in order", true, [][]string{{"a"}, {"b", "c"}}}} {
		t.Run(c.name, func(t *testing.T) {
			order, out := p.Of(list, c.inOrder)
			var got [][]string
			for _, w := range out {
				got = append(got, w.Commands)
				if w.Seconds != 120 {
					t.Errorf("a wave takes %v seconds, want 120", w.Seconds)
				}
			}
			if !slices.EqualFunc(got, c.want, slices.Equal) || len(order) != len(list) {
				t.Errorf("waves %v of %d commands, want %v", got, len(order), c.want)
			}
		})
	}
}
