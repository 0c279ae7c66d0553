package disruption_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// referenceOf is Reference with no more holding it back than thrifty.
func referenceOf() *disruption.Reference {
	return &disruption.Reference{SpotToSpot: true, SpotToSpotTypes: ptr(1), ValidationDelay: new(time.Duration)}
}

// Fleets that are two fifths full come to cost less by one plan, and in three rounds no more than what Karpenter's methods
// come to in the end.
func TestGlobalFleets(t *testing.T) {
	specs := []fleetSpec{{nodes: 10, fill: 0.4}, {nodes: 10, fill: 0.4, mixed: true}}
	if !testing.Short() {
		specs = append(specs, fleetSpec{nodes: 25, fill: 0.4})
	}
	if seeded.Long() {
		specs = append(specs, fleetSpec{nodes: 15, fill: 0.6, mixed: true})
	}
	for _, spec := range specs {
		t.Run(spec.String(), func(t *testing.T) {
			s := spec.snapshot()
			before := costOf(t, s)
			once, _, movedOnce := rounds(t, thrifty(), s, 1, false)
			last, n, moved := rounds(t, thrifty(), s, 3, false)
			want, commands, movedBy := rounds(t, referenceOf(), s, 100, false)
			got, ref := costOf(t, last), costOf(t, want)
			t.Logf("%.3f USD/h: one plan %.3f (%d moved), %d rounds %.3f (%d moved), reference %.3f (%d moved) in %d",
				before, costOf(t, once), movedOnce, n, got, moved, ref, movedBy, commands)
			if got > ref+1e-9 {
				t.Errorf("it ends at %.4f USD/h, Reference at %.4f", got, ref)
			}
		})
	}
}

// restless has no cool-downs, and the thresholds of a planner that nobody has set.
func restless() *disruption.Global {
	return &disruption.Global{CoolDown: new(time.Duration), SpotToSpot: true, ValidationDelay: new(time.Duration)}
}

// comesToRest plans and applies until a plan comes to nothing, after so many rounds at most, none of which makes the fleet more expensive
// unless nodes had to go.
func comesToRest(t failing, tb testing.TB, planner *disruption.Global, s *scheduling.Snapshot, most int) {
	t.Helper()
	cost := costOf(tb, s)
	for round := 1; ; round++ {
		plan, err := planner.Plan(tb.Context(), surveyed(tb, s))
		if err != nil {
			t.Fatalf("%v", err)
		}
		if len(plan.Commands) == 0 {
			return
		}
		if round > most {
			t.Errorf("plan %d still has commands: %s", round, plan.Commands[0])
			return
		}
		s = applied(t, s, plan.Commands, false)
		due := slices.ContainsFunc(plan.Commands, func(c *disruption.Command) bool { return c.Reason == disruption.ReasonDrifted })
		after := costOf(tb, s)
		if after > cost+1e-9 && !due {
			t.Errorf("round %d: the fleet costs %.4f USD/h, before it %.4f", round, after, cost)
		}
		cost = after
	}
}

// A fleet that nothing happens to is at rest after three rounds.
func TestGlobalComesToRest(t *testing.T) {
	specs := []fleetSpec{{nodes: 10, fill: 0.4}, {nodes: 25, fill: 0.5, mixed: true}, {nodes: 60, fill: 0.4}}
	if !testing.Short() {
		specs = append(specs, fleetSpec{nodes: 25, fill: 0.4}, fleetSpec{nodes: 100, fill: 0.4, mixed: true},
			fleetSpec{nodes: 300, fill: 0.4, mixed: true})
	}
	if seeded.Long() {
		specs = append(specs, fleetSpec{nodes: 200, fill: 0.4, mixed: true}, fleetSpec{nodes: 500, fill: 0.4, mixed: true},
			fleetSpec{nodes: 500, fill: 0.4})
	}
	for _, spec := range specs {
		t.Run(spec.String(), func(t *testing.T) { comesToRest(t, t, restless(), spec.snapshot(), 3) })
	}
}

// Large fleets whose pods are under rules come to rest as good as: what a fourth plan saves is less than a five-hundredth of what they
// cost.
func TestGlobalLeavesLittleForAFourthPlan(t *testing.T) {
	if testing.Short() {
		t.Skip("four plans for each of two large fleets take seconds; run without -short")
	}
	specs := []fleetSpec{{nodes: 350, fill: 0.4, mixed: true}}
	if seeded.Long() {
		specs = append(specs, fleetSpec{nodes: 450, fill: 0.4, mixed: true})
	}
	for _, spec := range specs {
		t.Run(spec.String(), func(t *testing.T) {
			if saving, cost := leftAfter(t, spec, 3); saving > cost/500 {
				t.Errorf("a fourth plan still saves %.4f of %.2f USD/h", saving, cost)
			}
		})
	}
}

// A plan says of nodes that stay what is in the way: not that their pods have no place where it is that new nodes for them would cost too
// much, nor either of these where they have places on nodes that other commands launch, only that all would be too much for one command: a
// plan that leaves something to the next one has nodes of that kind.
func TestGlobalTellsWhatIsInTheWay(t *testing.T) {
	specs := map[fleetSpec]int{{nodes: 60, fill: 0.4, mixed: true}: 3}
	if !testing.Short() {
		specs[fleetSpec{nodes: 350, fill: 0.4, mixed: true}] = 4
	}
	for spec, plans := range specs {
		t.Run(spec.String(), func(t *testing.T) {
			s, later := spec.snapshot(), 0
			for round := range plans {
				plan, err := restless().Plan(t.Context(), surveyed(t, s))
				if err != nil {
					t.Fatal(err)
				}
				if round == 3 && len(plan.Commands) > 0 && later == 0 {
					t.Errorf("plan %d has commands: %s; the one before called no node Later", round+1, said(plan))
				}
				later = 0
				for _, v := range plan.Verdicts {
					for _, b := range v.Blocks {
						switch b.Block.Code {
						case disruption.BlockUnschedulable:
							t.Errorf("plan %d: node %s: %s", round+1, v.Node, b.Block)
						case disruption.BlockLater:
							later++
						}
					}
				}
				s = applied(t, s, plan.Commands, false)
			}
		})
	}
}

// leftAfter is what another plan still saves, USD/h, once so many were carried out, and what the fleet then costs, as far as the
// search goes.
func leftAfter(t *testing.T, spec fleetSpec, plans int) (saving, cost float64) {
	t.Helper()
	s := spec.snapshot()
	for round := 0; ; round++ {
		plan, err := restless().Plan(t.Context(), surveyed(t, s))
		if err != nil {
			t.Fatal(err)
		}
		if round < plans {
			s = applied(t, s, plan.Commands, false)
			continue
		}
		for _, cmd := range plan.Commands {
			saving += cmd.Savings
		}
		cost = costOf(t, s)
		t.Logf("after %d plans another saves %.4f of %.4f USD/h", plans, saving, cost)
		return saving, cost
	}
}

// A plan is refined until it has nearly all that the next one would find: a second plan saves less than a thirtieth of what the fleet
// then costs.
func TestGlobalLeavesLittleForASecondPlan(t *testing.T) {
	for _, spec := range []fleetSpec{{nodes: 20, fill: 0.4, mixed: true}, {nodes: 25, fill: 0.5, mixed: true}, {nodes: 30, fill: 0.4, mixed: true}, {nodes: 60, fill: 0.4, mixed: true}} {
		t.Run(spec.String(), func(t *testing.T) {
			if saving, cost := leftAfter(t, spec, 1); saving > cost/30 {
				t.Errorf("a second plan still saves %.4f of %.4f USD/h", saving, cost)
			}
		})
	}
}

// So is any small fleet, whatever rules its pods are under. Without thresholds, where a thousandth of a dollar is worth a move, it may
// take three more: a command has a bound on what it launches and removes, and what would go beyond it is left to the next plan.
func TestGlobalConverges(t *testing.T) {
	for name, c := range map[string]struct {
		planner *disruption.Global
		rounds  int
	}{
		"thresholds": {restless(), 3}, "none": {thrifty(), 6},
	} {
		t.Run(name, func(t *testing.T) {
			seeded.Check(t, func(rt *rapid.T) {
				w := drawnWorld(rt)
				w.pool("default", budgets([]v1.Budget{}...))
				comesToRest(rt, t, c.planner, w.snapshot, c.rounds)
			})
		})
	}
}

// DIS-140: what may be spent on several new nodes is first shared out by their prices. One that could cost more in another zone than
// its share gets what it needs, as long as the worst launches of all together leave the command worth it. Where they don't, it is kept to
// the zone in which it costs little enough; with checks, the command is left out.
func TestGlobalSharesWhatMayBeSpent(t *testing.T) {
	on := func(name string) podOption {
		return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: name} }
	}
	for name, c := range map[string]struct {
		elsewhere float64 // what the small type costs in the other zone
		commands  int
		oneZone   bool
		checks    int
	}{
		"room for the more expensive zone": {0.15, 1, false, 0}, "all there is": {0.199, 1, false, 0}, "too expensive elsewhere": {0.2, 1, true, 0},
		"too dear with checks": {0.2, 0, false, 8},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			small := instanceType("small", 2, "on-demand=0.1")
			small.Offerings[1].Price = c.elsewhere
			onlyTypes(small, instanceType("large", 8, "on-demand=0.4"), instanceType("old", 16, "on-demand=0.6"))(w)
			w.node("n", "old", holding(pod("a", asks("cpu=1"), on("small")), pod("b", asks("cpu=7"), on("large"))))
			planner := thrifty()
			planner.Checks = c.checks
			plan, err := planner.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Commands) != c.commands {
				t.Fatalf("%q, want %d commands", said(plan), c.commands)
			}
			worst := 0.0
			for _, cmd := range plan.Commands {
				for _, r := range cmd.Replacements {
					zones := r.Node.Requirements.Get(corev1.LabelTopologyZone)
					small := 0.1
					if zones.Has("b") {
						small = c.elsewhere
					}
					if name := r.Node.InstanceTypes[0].Name; name == "small" && zones.Has("b") == c.oneZone {
						t.Errorf("%q: it may be bought in zones %s", said(plan), zones)
					}
					worst += map[string]float64{"small": small, "large": 0.4}[r.Node.InstanceTypes[0].Name]
				}
			}
			if worst >= 0.6 {
				t.Errorf("%q: launches may cost %.3f USD/h, the node costs 0.6", said(plan), worst)
			}
		})
	}
}

// Pods of one application may find their places only in an order that goes back and forth between nodes: such a command is
// not put off, and names its nodes in the order that they take pods in.
func TestGlobalPutsPodsInSomeOrder(t *testing.T) {
	w := newWorld()
	even := func(p *corev1.Pod) {
		app("x")(p)
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}}
	}
	w.node("n", "c4", labelled(corev1.LabelTopologyZone, "b"), holding(pods("p", 2, "1", even)...))
	w.node("room-a", "c2", kept, labelled(corev1.LabelTopologyZone, "a"), holding(pod("first", asks("cpu=500m"), even)))
	w.node("room-b", "c2", kept, labelled(corev1.LabelTopologyZone, "b"), holding(pod("other", asks("cpu=900m"))))
	planner := thrifty()
	fleet := w.fleet(t)
	plan, err := planner.Plan(t.Context(), fleet)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Commands) != 1 || len(plan.Commands[0].Receivers) != 2 || plan.Commands[0].Receivers[0].Name != "room-b" {
		t.Fatalf("%s: %+v", said(plan), plan.Commands)
	}
	cmd := *plan.Commands[0]
	cmd.Receivers = []scheduling.ExistingNode{cmd.Receivers[1], cmd.Receivers[0]}
	good, rejected, err := planner.Restrict(t.Context(), fleet, []*disruption.Command{&cmd})
	if err != nil || len(rejected) > 0 || good[0].Receivers[0].Name != "room-b" || cmd.Receivers[0].Name != "room-a" {
		t.Errorf("%v, rejected %v, error %v", good, rejected, err)
	}
}
