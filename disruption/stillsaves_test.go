package disruption_test

import (
	"errors"
	"testing"

	"github.com/drawknife/drawknife/disruption"
)

// A command that waits until prices have changed so that it saves nothing any more is void, and takes nothing of budgets and
// room from those after it; it is good as long as any node that may be launched is cheaper.
func TestCommandsMustStillSave(t *testing.T) {
	for name, c := range map[string]struct {
		prices map[string]string
		good   bool
	}{
		"as planned":                 {nil, true},
		"all cost more":              {map[string]string{"c2": "3", "c4": "3", "c8": "3"}, false},
		"as dear as what would go":   {map[string]string{"c2": "0.8", "c4": "0.8", "c8": "0.8"}, false},
		"the cheapest costs more":    {map[string]string{"c2": "3"}, true},
		"what would go is as cheap":  {map[string]string{"c16": "0.1"}, false},
		"it saves less, but it does": {map[string]string{"c2": "0.7", "c4": "0.7", "c8": "0.7"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.node("n", "c16", holding(pods("p", 1, "1")...))
			planner := &disruption.Global{}
			plan, err := planner.Plan(t.Context(), w.fleet(t))
			if err != nil || len(plan.Commands) != 1 || len(plan.Commands[0].Replacements) != 1 {
				t.Fatalf("%v: %v", said(plan), err)
			}
			types := w.snapshot.Catalogs["all"]
			for i, cores := range []int{2, 4, 8, 16} {
				if price, changed := c.prices[types[i].Name]; changed {
					types[i] = instanceType(types[i].Name, cores, "on-demand="+price)
				}
			}
			again := *plan.Commands[0]
			again.ID = "again"
			good, rejected, err := planner.Restrict(t.Context(), w.fleet(t), []*disruption.Command{plan.Commands[0], &again})
			if err != nil || len(good)+len(rejected) != 2 || (len(good) == 1) != c.good {
				t.Fatalf("good %v, rejected %v, error %v", good, rejected, err)
			}
			if c.good {
				return
			}
			for _, why := range rejected { // the first does not stand in the way of the second
				if why.Block.Code != disruption.BlockNotCheaper {
					t.Errorf("%v", why)
				}
			}
			var void *disruption.RejectedError
			if _, err := planner.Validate(t.Context(), w.fleet(t), plan.Commands[0]); !errors.As(err, &void) {
				t.Errorf("validated: %v", err)
			}
		})
	}
}
