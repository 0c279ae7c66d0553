package ordering_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/ordering"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/fleettest"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// planner orders commands of the fleet.
func planner(t *testing.T, f *fleettest.Fleet, s ordering.Settings) *ordering.Planner {
	t.Helper()
	x := f.Context(t)
	s.Reference, s.MaxNewNodes = &reference.Options{}, 2
	return &ordering.Planner{
		Context: x, Terms: paying.Terms{PayBack: 2 * time.Hour}, Settings: s, Types: allowedtypes.New(fleettest.Pass(t, x.Fleet, *s.Reference), false),
	}
}

// removal is a command that removes a node and puts its pods on another.
func removal(t *testing.T, x *searchcontext.Context, id, node, receiver string) *decision.Command {
	t.Helper()
	c := fleettest.Candidates(t, x, node)[0]
	e := planning.ExistingNode{Name: receiver}
	for _, pod := range c.Moving {
		e.Pods = append(e.Pods, survey.KeyOf(pod))
	}
	cmd := reference.NewCommand(decision.MethodSingleNode, []*decision.Candidate{c.Candidate}, x.Fleet.Now)
	cmd.ID, cmd.Receivers, cmd.Savings = id, []planning.ExistingNode{e}, c.Price
	return cmd
}

// waves are the IDs of the commands of each wave.
func waves(o *ordering.Order) (out [][]string) {
	for _, w := range o.Waves {
		out = append(out, w.Commands)
	}
	return out
}

// left are the codes of the nodes that are left, by name.
func left(o *ordering.Order) map[string]decision.BlockCode {
	out := map[string]decision.BlockCode{}
	for c, why := range o.Left {
		out[c.Name] = why.Code
	}
	return out
}

func checkOrder(t *testing.T, o *ordering.Order, want [][]string, gone map[string]decision.BlockCode) {
	t.Helper()
	if got := waves(o); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("waves %v, want %v", got, want)
	}
	count := 0
	for _, wave := range want {
		count += len(wave)
	}
	if len(o.Commands) != count {
		t.Errorf("%d commands in waves of %d", len(o.Commands), count)
	}
	got := left(o)
	for name, code := range gone {
		if got[name] != code {
			t.Errorf("%s is left since %q, want %q", name, got[name], code)
		}
	}
	if len(got) != len(gone) {
		t.Errorf("left are %v, want %v", got, gone)
	}
}

// Without rules and checks, commands go in the waves that PodDisruptionBudgets ask for.
func TestOrderInWaves(t *testing.T) {
	f := fleettest.New()
	f.Node("stays", "c16", fleettest.Pods("q", 1, "1")...)
	f.Node("a", "c4", fleettest.Pods("p", 1, "1")...)
	f.Node("b", "c2", build.Pod("p-1", build.CPU("1"), build.Labels("app", "p")))
	f.Budget("p", 1)
	p := planner(t, f, ordering.Settings{})
	found := ordering.Found{Commands: []*decision.Command{removal(t, p.Context, "1", "b", "stays"), removal(t, p.Context, "2", "a", "stays")}}
	got, err := p.Order(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	checkOrder(t, got, [][]string{{"2"}, {"1"}}, nil)
}

// zonal are three nodes in zones of their own, with a pod each of an application spread over the zones, and room in the first zone.
func zonal() *fleettest.Fleet {
	spread := build.Spread(corev1.LabelTopologyZone, 1, "app", "x")
	pod := func(name string) *corev1.Pod {
		return build.Pod(name, build.CPU("1"), build.Labels("app", "x"), spread)
	}
	f := fleettest.New()
	f.Sell(build.InstanceType("a", build.CPU("4"), build.OnDemand("a", 0.2)), build.InstanceType("b", build.CPU("4"), build.OnDemand("b", 0.2)))
	f.Node("a1", "a", pod("p1"))
	f.Node("b1", "b", pod("p2"))
	f.Node("a2", "a", pod("p3"))
	f.Node("b2", "b", pod("p4"))
	return f
}

// Where places depend on what went before, commands go in an order in which each can be carried out. What has no place in any is left.
func TestOrderByRules(t *testing.T) {
	p := planner(t, zonal(), ordering.Settings{})
	across, back, home := removal(t, p.Context, "across", "a1", "b1"), removal(t, p.Context, "back", "b2", "a2"), removal(t, p.Context, "home", "a1", "a2")
	there, dear := removal(t, p.Context, "there", "b2", "b1"), removal(t, p.Context, "dear", "a2", "a1")
	dear.Savings = 9
	for _, c := range []struct {
		name      string
		commands  []*decision.Command
		unrefined []*decision.Command
		want      [][]string
		left      map[string]decision.BlockCode
	}{
		{"within its zone", []*decision.Command{home}, nil, [][]string{{"home"}}, nil},
		{"across zones it skews", []*decision.Command{across}, nil, nil, map[string]decision.BlockCode{"a1": decision.BlockLater}},
		{"what was found before refinement takes its place", []*decision.Command{across}, []*decision.Command{home}, [][]string{{"home"}}, nil},
		{"in addition to what was found", []*decision.Command{home, back}, []*decision.Command{there}, [][]string{{"home", "there"}}, nil},
		{"if all of it is worth more, all that was found gives way", []*decision.Command{home, back}, []*decision.Command{dear, there},
			[][]string{{"dear", "there"}}, map[string]decision.BlockCode{"a1": decision.BlockLater}},
		{"the other way too", []*decision.Command{back}, nil, nil, map[string]decision.BlockCode{"b2": decision.BlockLater}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := p.Order(t.Context(), ordering.Found{Commands: c.commands, Ruled: true, Unrefined: c.unrefined})
			if err != nil {
				t.Fatal(err)
			}
			checkOrder(t, got, c.want, c.left)
		})
	}
	if !p.Types.Waiting {
		t.Error("nothing says that looking again is worth it")
	}
}

// Of a wave those commands remain whose pods find places wherever kube-scheduler puts them.
func TestOrderWithstandsKubeScheduler(t *testing.T) {
	f := fleettest.New()
	f.Node("large", "c4", fleettest.Pods("large", 1, "2500m")...)
	f.Node("small", "c2", fleettest.Pods("small", 1, "800m")...)
	f.Node("wide", "c4", fleettest.Pods("p", 1, "1")...)
	f.Node("tight", "c2", fleettest.Pods("q", 1, "1")...)
	for robustness, want := range map[int][][]string{0: {{"1", "2"}}, 16: {{"1"}}} {
		p := planner(t, f, ordering.Settings{Robustness: robustness, Seed: 1})
		found := ordering.Found{Commands: []*decision.Command{removal(t, p.Context, "1", "large", "wide"), removal(t, p.Context, "2", "small", "tight")}}
		got, err := p.Order(t.Context(), found)
		if err != nil {
			t.Fatal(err)
		}
		gone := map[string]decision.BlockCode{}
		if robustness > 0 {
			gone["small"] = decision.BlockRobustness
		}
		checkOrder(t, got, want, gone)
		if p.Types.Waiting != (robustness > 0) {
			t.Errorf("robustness %d: looking again is worth it: %v", robustness, p.Types.Waiting)
		}
	}
}

// Provisioning is asked whether it needs further nodes for the pods of a command: they become part of it if it still pays.
func TestOrderAgreesWithProvisioning(t *testing.T) {
	for _, c := range []struct {
		name, goes, receiver string
		pods                 int
		cores                string
		types                []string
		savings              float64
		left                 decision.BlockCode
		unsettled            bool
		checks               int
	}{
		{"there is room", "c16", "room", 2, "1", nil, 0.8, "", false, 9},
		{"there is none: a node is launched, which still pays", "c16", "room", 2, "3", []string{"c8"}, 0.4, "", false, 9},
		{"which pays no more", "c4", "room", 1, "3", nil, 0, decision.BlockNotCheaper, false, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fleettest.New()
			f.Node("room", "c4", fleettest.Pods("q", 1, "2")...)
			f.Node("goes", c.goes, fleettest.Pods("p", c.pods, c.cores)...)
			p := planner(t, f, ordering.Settings{Checks: c.checks})
			got, err := p.Order(t.Context(), ordering.Found{Commands: []*decision.Command{removal(t, p.Context, "1", "goes", c.receiver)}})
			if err != nil {
				t.Fatal(err)
			}
			if c.left != "" {
				checkOrder(t, got, nil, map[string]decision.BlockCode{"goes": c.left})
				return
			}
			checkOrder(t, got, [][]string{{"1"}}, nil)
			var types []string
			for _, r := range got.Commands[0].Replacements {
				types = append(types, r.Node.InstanceTypes[0].Name)
			}
			if !slices.Equal(types, c.types) || got.Commands[0].Savings != c.savings || len(got.Unsettled) > 0 != c.unsettled {
				t.Errorf("launches %v and saves %g, unsettled %v; want %v, %g", types, got.Commands[0].Savings, got.Unsettled, c.types, c.savings)
			}
		})
	}
}

// Once too many questions were asked, commands for which more nodes may be needed are named.
func TestOrderNamesWhatIsUnsettled(t *testing.T) {
	f := fleettest.New()
	f.Node("room", "c8", fleettest.Pods("q", 1, "1")...)
	f.Node("a", "c4", fleettest.Pods("a", 1, "1")...)
	f.Node("b", "c4", build.Pod("a-1", build.CPU("1"), build.Labels("app", "a")))
	f.Budget("a", 1) // so that they go one after another
	p := planner(t, f, ordering.Settings{Checks: 1})
	got, err := p.Order(t.Context(), ordering.Found{Commands: []*decision.Command{removal(t, p.Context, "1", "a", "room"), removal(t, p.Context, "2", "b", "room")}})
	if err != nil {
		t.Fatal(err)
	}
	checkOrder(t, got, [][]string{{"1"}, {"2"}}, nil)
	if !slices.Equal(got.Unsettled, []string{"2"}) {
		t.Errorf("unsettled are %v, want the second", got.Unsettled)
	}
}
