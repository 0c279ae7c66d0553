package disruption_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// initialized has the node's claim be so for a time.
func (w *world) initialized(name string, ago time.Duration) {
	for i := range w.snapshot.Nodes {
		if claim := w.snapshot.Nodes[i].Claim; w.snapshot.Nodes[i].Name == name {
			claim.Conditions().Clear(v1.ConditionInitialized, now())
			claim.Conditions().SetTrue(v1.ConditionInitialized, now().Add(-ago))
		}
	}
}

func byOwner(uid types.UID) podOption {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: uid}}
	}
}

// What a move has to be worth for Global to make it, each option by itself, and what it says of a node that stays.
func TestGlobalEconomics(t *testing.T) {
	// A node of 0.2 USD/h whose pods one of 0.18 would hold as well.
	tight := func(w *world) {
		onlyTypes(instanceType("b2", 2, "on-demand=0.12"), instanceType("c4", 4, "on-demand=0.2"), instanceType("d4", 4, "on-demand=0.18"))(w)
		w.node("n", "c4", holding(pods("p", 3, "1", app("x"), byOwner("web"))...))
	}
	// One of 0.8 whose pods one of 0.2 would.
	wide := func(w *world) { w.node("n", "c16", holding(pods("p", 3, "1", app("x"), byOwner("web"))...)) }
	// One whose pods cost a quarter of a cent an hour less elsewhere.
	tiny := func(w *world) {
		onlyTypes(instanceType("c4", 4, "on-demand=0.012"), instanceType("d4", 4, "on-demand=0.0095"))(w)
		w.node("n", "c4", holding(pods("p", 3, "1")...))
	}
	full := func(w *world) {
		onlyTypes(instanceType("c4", 4, "on-demand=0.2"))(w)
		n := w.node("n", "c4", holding(pods("p", 4, "1")...))
		n.Claim.Spec.ExpireAfter = v1.NewNillableDuration(24*time.Hour + 30*time.Minute)
	}
	shy := func(w *world) { tight(w); w.pdb("b", "x", 1) }
	tests := []struct {
		name    string
		make    func(*world)
		planner disruption.Global
		goes    string
		code    disruption.BlockCode
		says    string
	}{
		{"the least share of what its node costs", tight, disruption.Global{}, "", disruption.BlockNotCheaper, "cost at least 0.1800 USD/h, and have to cost less than 0.1700"},
		{"a smaller share", tight, disruption.Global{MinSavingShare: ptr(0.05)}, "d4", "", ""},
		{"no share", tight, disruption.Global{MinSavingShare: new(float64)}, "d4", "", ""},
		{"the least amount", tight, disruption.Global{MinSavingShare: new(float64), MinSaving: 0.05}, "", disruption.BlockNotCheaper, "have to cost less than 0.1500"},
		{"also of a node that goes for nothing", func(w *world) { tight(w); w.node("room", "c4", kept) }, disruption.Global{MinSaving: 0.25}, "", disruption.BlockNoGain,
			"would save 0.2000 USD/h, and has to save 0.2500"},
		{"new nodes next to old ones cost more than is earned in time", tight, disruption.Global{MinSavingShare: new(float64), LaunchTime: ptr(time.Hour)},
			"", disruption.BlockPayBack, "saving 0.0200 USD/h would not pay back in time"},
		{"more time to earn it", tight, disruption.Global{MinSavingShare: new(float64), LaunchTime: ptr(time.Hour), PayBack: ptr(12 * time.Hour)}, "d4", "", ""},
		{"no time by which to earn it", tight, disruption.Global{MinSavingShare: new(float64), LaunchTime: ptr(time.Hour), PayBack: new(time.Duration)}, "d4", "", ""},
		{"what disturbing four units is worth", wide, disruption.Global{DisruptionPrice: ptr(0.4)}, "", disruption.BlockPayBack, "next to the old ones: 0.8050 would"},
		{"next to nothing for each pod that moves", tiny, disruption.Global{}, "", disruption.BlockPayBack, "saving 0.0025 USD/h would not pay back in time"},
		{"unless moving them is worth nothing", tiny, disruption.Global{DisruptionPrice: new(float64)}, "d4", "", ""},
		{"is not too much", wide, disruption.Global{DisruptionPrice: ptr(0.2)}, "c4", "", ""},
		{"a new node", func(w *world) { wide(w); w.initialized("n", 5*time.Minute) }, disruption.Global{}, "", disruption.BlockCoolDown, "until 2026-05-04T10:05:00Z"},
		{"new for a shorter time", func(w *world) { wide(w); w.initialized("n", 5*time.Minute) }, disruption.Global{CoolDown: ptr(5 * time.Minute)}, "c4", "", ""},
		{"no longer new", func(w *world) { wide(w); w.initialized("n", 10*time.Minute) }, disruption.Global{}, "c4", "", ""},
		{"pods whose like were moved recently", func(w *world) {
			wide(w)
			w.input.History = []disruption.Disruption{{Node: "x", Time: now().Add(-2 * time.Minute), Owners: []types.UID{"other", "web"}}}
		}, disruption.Global{}, "", disruption.BlockCoolDown, "it is new, or pods of its workloads were moved recently until 2026-05-04T10:08:00Z"},
		{"DIS-148 pods whose like were forced out recently", func(w *world) {
			wide(w)
			w.input.History = []disruption.Disruption{disruption.ForcedDisruption(&v1.NodeClaim{}, "x", disruption.ReasonInterrupted,
				[]*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "web"}}}}}, now().Add(-3*time.Minute))}
		}, disruption.Global{}, "", disruption.BlockCoolDown, "until 2026-05-04T10:07:00Z"},
		{"not so lately", func(w *world) {
			wide(w)
			w.input.History = []disruption.Disruption{{Node: "x", Time: now().Add(-10 * time.Minute), Owners: []types.UID{"web"}}}
		}, disruption.Global{}, "c4", "", ""},
		{"no cool-down", func(w *world) {
			wide(w)
			w.initialized("n", 0)
			w.input.History = []disruption.Disruption{{Node: "x", Time: now(), Owners: []types.UID{"web"}}}
		}, disruption.Global{CoolDown: new(time.Duration)}, "c4", "", ""},
		{"a drain that would take long", shy, disruption.Global{MinSavingShare: new(float64), DrainLimit: ptr(2 * time.Minute)}, "", disruption.BlockDrain,
			"let 1 of its 3 pods go at a time: its drain would take 3m0s"},
		{"pods that are ready sooner", shy, disruption.Global{MinSavingShare: new(float64), DrainLimit: ptr(2 * time.Minute), ReadyTime: ptr(40 * time.Second)}, "d4", "", ""},
		{"while pods go one by one, both nodes are paid for", shy, disruption.Global{MinSavingShare: new(float64), ReadyTime: ptr(time.Hour), DrainLimit: new(time.Duration)}, "", disruption.BlockPayBack, ""},
		{"as long as it may take", shy, disruption.Global{MinSavingShare: new(float64), DrainLimit: ptr(3 * time.Minute)}, "d4", "", ""},
		{"one that expires soon is replaced at any price", full, disruption.Global{ExpireAhead: time.Hour}, "c4", "", ""},
		{"and need not wait until it is no longer new", func(w *world) { full(w); w.initialized("n", 5*time.Minute) }, disruption.Global{ExpireAhead: time.Hour}, "c4", "", ""},
		{"where consolidation may not have it, it stays to the end", func(w *world) { full(w); w.pool("default", policy(v1.ConsolidationPolicyWhenEmpty)) },
			disruption.Global{ExpireAhead: time.Hour}, "", disruption.BlockPolicy, ""},
		{"but not too soon", full, disruption.Global{ExpireAhead: 10 * time.Minute}, "", disruption.BlockFloor, "cost at least 0.2000 USD/h where it costs 0.2000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			tt.make(w)
			plan, err := tt.planner.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			goes := ""
			for _, cmd := range plan.Commands {
				for _, r := range cmd.Replacements {
					goes += r.Node.InstanceTypes[0].Name
				}
			}
			b := why(t, plan, "n", disruption.MethodSingleNode)
			if goes != tt.goes || tt.goes == "" && b.Code != tt.code {
				t.Fatalf("replaced by %q, kept by %q (%s); want %q, %q", goes, b.Code, b, tt.goes, tt.code)
			}
			if tt.goes == "" && !strings.Contains(b.String(), tt.says) {
				t.Errorf("%q does not say %q", b, tt.says)
			}
			if tt.code == disruption.BlockCoolDown && !plan.Again.Equal(b.Until) {
				t.Errorf("again at %s, want when the cool-down ends, %s", plan.Again, b.Until)
			}
		})
	}
}

// A wave lasts until its new nodes are ready, and as long as PodDisruptionBudgets let its pods go, or until pods that none counts on
// are ready elsewhere; meanwhile old and new nodes are paid for. Where no pod moves nobody waits.
func TestWaveTimes(t *testing.T) {
	w := newWorld()
	w.node("n", "c16", holding(pods("p", 3, "1", app("x"))...))
	budget := w.pdb("b", "x", 1)
	plan, err := (&disruption.Global{LaunchTime: ptr(10 * time.Minute), ReadyTime: ptr(2 * time.Minute)}).Plan(t.Context(), w.fleet(t))
	if err != nil || len(plan.Waves) != 1 {
		t.Fatal(plan, err)
	}
	wave := plan.Waves[0]
	if wave.Seconds != (16*time.Minute).Seconds() || wave.Pods != 3 {
		t.Errorf("%+v, want ten minutes and three times two", wave)
	}
	if want := 0.2 * 16 / 60; wave.Overlap < want-1e-6 || wave.Overlap > want+1e-6 {
		t.Errorf("old and new nodes cost %g USD together, want %g", wave.Overlap, want)
	}
	budget.Status.DisruptionsAllowed = 2
	plan, err = (&disruption.Global{LaunchTime: ptr(10 * time.Minute), ReadyTime: ptr(2 * time.Minute)}).Plan(t.Context(), w.fleet(t))
	if err != nil || len(plan.Waves) != 1 || plan.Waves[0].Seconds != (14*time.Minute).Seconds() {
		t.Errorf("three pods, two at a time: %+v, %v", plan.Waves, err)
	}
	for name, c := range map[string]struct {
		node nodeOption
		want time.Duration
	}{
		"pods that no budget counts on": {holding(pods("p", 3, "1")...), 12 * time.Minute},
		"an empty node":                 {holding(), 0},
	} {
		w := newWorld()
		w.node("n", "c16", c.node)
		plan, err := (&disruption.Global{LaunchTime: ptr(10 * time.Minute), ReadyTime: ptr(2 * time.Minute)}).Plan(t.Context(), w.fleet(t))
		if err != nil || len(plan.Waves) != 1 || plan.Waves[0].Seconds != c.want.Seconds() {
			t.Errorf("%s: %+v, %v, want %s", name, plan.Waves, err, c.want)
		}
	}
}

// What one command removes and launches, and how much a plan looks at, has bounds that are options; what is beyond is said to be
// left for later.
func TestGlobalBounds(t *testing.T) {
	w := newWorld()
	onlyTypes(instanceType("c4", 4, "on-demand=0.2"), instanceType("e16", 16, "on-demand=0.4"))(w)
	for i := range 8 {
		w.node(fmt.Sprintf("n-%d", i), "c4", holding(pods(fmt.Sprintf("p%d", i), 3, "1")...))
	}
	f := w.fleet(t)
	members := func(planner *disruption.Global) (most, all int, plan *disruption.Plan) {
		plan, err := planner.Plan(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, cmd := range plan.Commands {
			most, all = max(most, len(cmd.Members)), all+len(cmd.Members)
			if planner.MaxBins != nil && len(cmd.Replacements) > *planner.MaxBins {
				t.Errorf("%s launches more than %d", cmd, *planner.MaxBins)
			}
		}
		return most, all, plan
	}
	if most, all, _ := members(&disruption.Global{}); most < 4 || all < 6 {
		t.Errorf("%d of the eight nodes go, %d in one command", all, most)
	}
	for _, n := range []int{1, 2, 3, 5} {
		if most, _, _ := members(&disruption.Global{MaxMembers: ptr(n)}); most > n {
			t.Errorf("a command has %d members of %d", most, n)
		}
	}
	members(&disruption.Global{MaxBins: ptr(1)})
	w = newWorld()
	for i := range 20 {
		w.node(fmt.Sprintf("n-%02d", i), "c16", holding(pods(fmt.Sprintf("p%d", i), 3, "1")...))
	}
	f = w.fleet(t)
	_, all, plan := members(&disruption.Global{Work: ptr(2), MaxMembers: ptr(1)})
	unreached := 0
	for _, v := range plan.Verdicts {
		if n := len(v.Blocks); n > 0 && v.Blocks[n-1].Block.Code == disruption.BlockNotReached {
			unreached++
		}
	}
	if all > 2 || unreached == 0 || !plan.Waiting {
		t.Errorf("after two what-ifs %d nodes go, %d were not reached, waiting %v", all, unreached, plan.Waiting)
	}
}
