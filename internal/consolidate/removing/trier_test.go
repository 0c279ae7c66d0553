package removing_test

import (
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/components"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/fleettest"
)

// trier tries groups of the fleet, on a new trial.
func trier(t *testing.T, f *fleettest.Fleet) *removing.Trier {
	t.Helper()
	x := f.Context(t)
	on, err := x.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &removing.Trier{
		Context: x, Limits: removing.Limits{MaxMembers: 4, MaxMerged: 6, MaxNewNodes: 2}, Terms: paying.Terms{PayBack: 2 * time.Hour, Launch: x.Times.Launch},
		Trial: on, Types: allowedtypes.New(fleettest.Pass(t, x.Fleet, reference.Options{}), false), Components: components.New(),
	}
}

func codeOf(why *decision.Block) decision.BlockCode {
	if why == nil {
		return ""
	}
	return why.Code
}

// A group goes if its pods find room, or new nodes that cost less; else a block says what keeps it.
func TestTry(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes func(*fleettest.Fleet)
		where removing.Places
		// types of the new nodes' first choices, and what is saved.
		types  []string
		saving float64
		code   decision.BlockCode
	}{
		{"there is room", func(f *fleettest.Fleet) { f.Node("stays", "c8", fleettest.Pods("q", 1, "4")...) }, removing.OnlyRoom, nil, 0.4, ""},
		{"room is used before a node is launched", func(f *fleettest.Fleet) { f.Node("stays", "c8", fleettest.Pods("q", 1, "4")...) }, removing.UseRoom, nil, 0.4, ""},
		{"unless there must be a new one", func(f *fleettest.Fleet) { f.Node("stays", "c8", fleettest.Pods("q", 1, "4")...) }, removing.OnlyNew, []string{"c4"}, 0.2, ""},
		{"there is too little", func(f *fleettest.Fleet) { f.Node("stays", "c8", fleettest.Pods("q", 1, "5")...) }, removing.OnlyRoom, nil, 0, decision.BlockUnschedulable},
		{"there is some, and a new node for the rest", func(f *fleettest.Fleet) { f.Node("stays", "c8", fleettest.Pods("q", 1, "5")...) }, removing.UseRoom, []string{"c2"}, 0.3, ""},
		{"new nodes as provisioning finds them", func(*fleettest.Fleet) {}, removing.LikeProvisioning, []string{"c4"}, 0.2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fleettest.New()
			f.Node("goes", "c8", fleettest.Pods("p", 3, "1200m")...)
			c.nodes(f)
			tr := trier(t, f)
			mark := tr.Trial.Mark()
			st, why, err := tr.TryWithin(t.Context(), removing.Consolidating(fleettest.Candidates(t, tr.Context, "goes"), c.where), mark)
			if err != nil || codeOf(why) != c.code {
				t.Fatalf("blocked by %v, want %q; %v", why, c.code, err)
			}
			if why != nil {
				return
			}
			var types []string
			for i := range st.NewNodes {
				types = append(types, st.NewNodes[i].InstanceTypes[0].Name)
			}
			if len(types) != len(c.types) || len(types) > 0 && types[0] != c.types[0] || st.Saving != money.NanoUSD(c.saving) || st.Pods != 3 || len(st.Numbers) != len(types) {
				t.Errorf("new nodes %v, saving %g for %d pods; want %v, %g", types, money.USD(st.Saving), st.Pods, c.types, c.saving)
			}
			if waiting := tr.Trial.Waiting(9); len(waiting) > 0 {
				t.Errorf("on the trial, %v wait", waiting)
			}
		})
	}
}

// A node whose pods need one that costs as much stays; how much new nodes would cost at least says so before any is opened.
func TestTryKeepsWhatIsNotCheaper(t *testing.T) {
	f := fleettest.New()
	f.Node("goes", "c4", fleettest.Pods("p", 1, "3")...)
	tr := trier(t, f)
	_, why, err := tr.Try(t.Context(), removing.Consolidating(fleettest.Candidates(t, tr.Context, "goes"), removing.UseRoom), tr.Trial.Mark())
	if err != nil || codeOf(why) != decision.BlockNotCheaper || why.Price != 0.2 || tr.Work != 0 {
		t.Errorf("%v after %d what-ifs, %v", why, tr.Work, err)
	}
}

// A group whose pods have room, but which saves too little for its disturbance, is undone by the caller: the step says why.
func TestTryWeighs(t *testing.T) {
	f := fleettest.New()
	f.Node("goes", "c2", fleettest.Pods("p", 1, "1")...)
	f.Node("stays", "c8", fleettest.Pods("q", 1, "4")...)
	tr := trier(t, f)
	tr.DisruptionPrice = 1
	st, why, err := tr.Try(t.Context(), removing.Consolidating(fleettest.Candidates(t, tr.Context, "goes"), removing.OnlyRoom), tr.Trial.Mark())
	if err != nil || codeOf(why) != decision.BlockPayBack || st.Value >= 0 {
		t.Errorf("%v, %v", why, err)
	}
}

// More nodes are not launched than a command may launch.
func TestTryLaunchesNoMoreThanAllowed(t *testing.T) {
	f := fleettest.New()
	f.Sell(f.Type("c2"), f.Type("c16"))
	f.Node("goes", "c16", fleettest.Pods("p", 3, "1500m")...)
	for most, want := range map[int]decision.BlockCode{2: decision.BlockManyNodes, 3: ""} {
		tr := trier(t, f)
		tr.MaxNewNodes = most
		st, why, err := tr.Try(t.Context(), removing.Consolidating(fleettest.Candidates(t, tr.Context, "goes"), removing.LikeProvisioning), tr.Trial.Mark())
		if err != nil || codeOf(why) != want || want == "" && len(st.NewNodes) != 3 {
			t.Errorf("at most %d: %v, %v", most, why, err)
		}
	}
}

// Nodes that drain too slowly, and those that a budget protects, are not tried.
func TestAdmissible(t *testing.T) {
	f := fleettest.New()
	f.Node("slow", "c8", fleettest.Pods("p", 5, "1")...)
	f.Node("quick", "c8", fleettest.Pods("q", 5, "1")...)
	f.Budget("p", 1)
	tr := trier(t, f)
	tr.DrainLimit = 4 * time.Minute
	for name, want := range map[string]decision.BlockCode{"slow": decision.BlockDrain, "quick": ""} {
		why := tr.Admissible(removing.Consolidating(fleettest.Candidates(t, tr.Context, name), removing.UseRoom))
		if codeOf(why) != want {
			t.Errorf("%s: %v", name, why)
		}
		if why != nil && (why.Count != 5 || why.Need != 1 || why.Duration != "5m0s" || len(why.Budgets) != 1 || why.Budgets[0].Name != "p") {
			t.Errorf("the block says %+v", why)
		}
	}
	tr.DrainLimit = 0
	if why := tr.Admissible(removing.Consolidating(fleettest.Candidates(t, tr.Context, "slow"), removing.UseRoom)); why != nil {
		t.Errorf("without a limit: %v", why)
	}
	none := decision.Budget{Name: "none", Unit: decision.UnitNodes}
	f.Input.Budgets = []decision.Budget{none}
	tr = trier(t, f)
	if why := tr.Admissible(removing.Consolidating(fleettest.Candidates(t, tr.Context, "quick"), removing.UseRoom)); codeOf(why) != decision.BlockBudget {
		t.Errorf("with a budget of none: %v", why)
	}
}

// Budgets are taken for all members or for none.
func TestTake(t *testing.T) {
	f := fleettest.New()
	for _, name := range []string{"a", "b"} {
		f.Node(name, "c8", fleettest.Pods(name, 1, "1")...)
	}
	f.Input.Budgets = []decision.Budget{{Name: "one", Unit: decision.UnitNodes, Amount: 1}}
	tr := trier(t, f)
	step := func(names ...string) *removing.Step {
		return &removing.Step{Exchange: paying.Exchange{Method: decision.MethodMultiNode, Members: fleettest.Candidates(t, tr.Context, names...)}}
	}
	if why := tr.Take(step("a", "b")); codeOf(why) != decision.BlockBudget {
		t.Errorf("two of one: %v", why)
	}
	if why := tr.Take(step("a")); why != nil {
		t.Errorf("one of one, after two were refused: %v", why)
	}
	if why := tr.Take(step("b")); codeOf(why) != decision.BlockBudget {
		t.Errorf("another one: %v", why)
	}
}

// A command may exchange so many nodes for so many, or remove more if it launches one at most.
func TestLimits(t *testing.T) {
	f := fleettest.New()
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		f.Node(name, "c2", fleettest.Pods(name, 1, "1")...)
	}
	for _, c := range []struct {
		members, opened int
		drift, fits     bool
	}{{4, 2, false, true}, {4, 3, false, false}, {5, 1, false, true}, {5, 2, false, false}, {6, 1, false, true}, {7, 1, false, false}, {7, 0, false, false}, {1, 3, true, true}} {
		tr := trier(t, f)
		st := &removing.Step{Exchange: paying.Exchange{Method: decision.MethodMultiNode, Members: tr.Candidates[:c.members]}, Numbers: make([]int, c.opened)}
		if c.drift {
			st.Method = decision.MethodDrift
		}
		if got := tr.Fits(st); got != c.fits {
			t.Errorf("%d nodes for %d, drift %v: fits %v, want %v", c.members, c.opened, c.drift, got, c.fits)
		}
	}
	for most, want := range map[int]int{3: 3, 100: 8} {
		if got := (&removing.Limits{MaxMembers: most}).Exchanged(); got != want {
			t.Errorf("of %d nodes, %d are exchanged at once, want %d", most, got, want)
		}
	}
}

// Steps that launch for each other become one component, as large as both.
func TestAcceptJoins(t *testing.T) {
	f := fleettest.New()
	for _, name := range []string{"a", "b", "c"} {
		f.Node(name, "c2", fleettest.Pods(name, 1, "1")...)
	}
	tr := trier(t, f)
	all := fleettest.Candidates(t, tr.Context, "a", "b", "c")
	first := &removing.Step{Exchange: paying.Exchange{Members: all[:1]}, Numbers: []int{0}}
	tr.Accept(first, nil)
	second := &removing.Step{Exchange: paying.Exchange{Members: all[1:2]}, Grown: []int{0}}
	tr.Accept(second, nil)
	third := &removing.Step{Exchange: paying.Exchange{Members: all[2:]}}
	tr.Accept(third, nil)
	if got, want := tr.Together(all[:1]), (components.Size{Members: 2, NewNodes: 1}); got != want {
		t.Errorf("the first two come to %+v, want %+v", got, want)
	}
	if got, want := tr.Together(all[2:]), (components.Size{Members: 1}); got != want {
		t.Errorf("the third comes to %+v, want %+v", got, want)
	}
}

// While it refines, a step that would make a command too large is tried once more without the new nodes of others.
func TestTryAvoidsNewNodesOfOthers(t *testing.T) {
	f := fleettest.New()
	for _, name := range []string{"a", "b"} {
		f.Node(name, "c8", fleettest.Pods(name, 1, "1")...)
	}
	tr := trier(t, f)
	tr.Refining, tr.MaxMembers, tr.MaxMerged = true, 1, 1
	group := func(name string) []*searchcontext.Candidate { return fleettest.Candidates(t, tr.Context, name) }
	mark := tr.Trial.Mark()
	first, why, err := tr.TryWithin(t.Context(), removing.Consolidating(group("a"), removing.OnlyNew), mark)
	if err != nil || why != nil {
		t.Fatal(why, err)
	}
	tr.Accept(first, nil)
	mark = tr.Trial.Mark()
	second, why, err := tr.TryWithin(t.Context(), removing.Consolidating(group("b"), removing.UseRoom), mark)
	if err != nil || why != nil || len(second.Grown) != 0 || len(second.NewNodes) != 1 || !second.Ungrown || tr.Ungrown {
		t.Errorf("%+v, %v, %v", second, why, err)
	}
}
