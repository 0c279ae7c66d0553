package disruption_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// drawnWorld has up to eight nodes of three sizes in two zones, on demand or spot, with pods some of which are bound to a
// zone, keep apart, or spread over zones, and perhaps a PodDisruptionBudget, a drifted node and a budget.
func drawnWorld(rt *rapid.T) *world {
	w := newWorld()
	w.catalog("all", instanceType("c2", 2, "on-demand=0.1", "spot=0.04"), instanceType("c4", 4, "on-demand=0.2", "spot=0.07"),
		instanceType("c8", 8, "on-demand=0.4", "spot=0.15"), instanceType("c16", 16, "on-demand=0.75"))
	w.pool("other", policy(rapid.SampledFrom([]v1.ConsolidationPolicy{v1.ConsolidationPolicyWhenEmptyOrUnderutilized, v1.ConsolidationPolicyBalanced}).Draw(rt, "policy")))
	if limit := rapid.IntRange(0, 4).Draw(rt, "budget"); limit > 0 {
		w.pool("default", budgets(v1.Budget{Nodes: fmt.Sprint(limit)}))
	}
	if allowed := rapid.IntRange(0, 3).Draw(rt, "pdb"); allowed > 0 {
		w.pdb("b", "x", int32(allowed))
	}
	for i := range rapid.IntRange(1, 8).Draw(rt, "nodes") {
		name := fmt.Sprintf("n-%d", i)
		cores := rapid.SampledFrom([]int{2, 4, 8}).Draw(rt, "cores")
		zone := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "zone")
		var list []*corev1.Pod
		apart := false
		for free, k := cores*1000, 0; k < rapid.IntRange(0, 5).Draw(rt, "pods"); k++ {
			cpu := rapid.SampledFrom([]int{200, 500, 1000, 1700}).Draw(rt, "cpu")
			if free -= cpu; free < 0 {
				break
			}
			options := []podOption{asks(fmt.Sprintf("cpu=%dm", cpu), "memory=100Mi")}
			switch kind := rapid.IntRange(0, 9).Draw(rt, "kind"); {
			case kind == 0:
				options = append(options, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone} })
			case kind == 1 && !apart:
				apart = true
				options = append(options, app("apart"), keptApart)
			case kind == 2:
				options = append(options, app("wide"), spreadWide)
			case kind < 5:
				options = append(options, app("x"))
			}
			list = append(list, pod(fmt.Sprintf("%s-%d", name, k), options...))
		}
		more := []nodeOption{ofPool(rapid.SampledFrom([]string{"default", "other"}).Draw(rt, "pool")), labelled(corev1.LabelTopologyZone, zone), holding(list...)}
		if rapid.IntRange(0, 2).Draw(rt, "spot") == 0 {
			more = append(more, bought("spot"))
		}
		if rapid.IntRange(0, 9).Draw(rt, "drifted") == 0 {
			more = append(more, drifted(1))
		}
		w.node(name, fmt.Sprintf("c%d", cores), more...)
	}
	return w
}

func keptApart(p *corev1.Pod) {
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}},
	}}
}

func spreadWide(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 4, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
	}}
}

func drawnPlanner(rt *rapid.T) *disruption.Global {
	orders := rapid.SampledFrom([]int{0, 0, 3}).Draw(rt, "orders")
	if rapid.Bool().Draw(rt, "thrifty") {
		p := thrifty()
		p.Robustness = orders
		return p
	}
	return &disruption.Global{Robustness: orders, SpotToSpot: rapid.Bool().Draw(rt, "spotToSpot"), SpotToSpotTypes: ptr(2), CoolDown: new(time.Duration)}
}

func encoded(rt failing, plan *disruption.Plan) string {
	data, err := json.Marshal(plan)
	if err != nil {
		rt.Fatalf("%v", err)
	}
	return string(data)
}

// DIS-206: commands carried out in the order of the waves are sound one after another; budgets are kept whatever part of them is
// under way; what is saved is what was said; each node has a verdict; and any part of a plan that Restrict lets pass is
// sound.
func TestGlobalPlansAreSound(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		w := drawnWorld(rt)
		planner := drawnPlanner(rt)
		f := w.fleet(t)
		plan, err := planner.Plan(t.Context(), f)
		if err != nil {
			rt.Fatal(err)
		}
		if len(plan.Verdicts) != len(w.snapshot.Nodes) {
			rt.Errorf("%d verdicts for %d nodes", len(plan.Verdicts), len(w.snapshot.Nodes))
		}
		gone, waved := map[string]bool{}, 0
		for _, wave := range plan.Waves {
			waved += len(wave.Commands)
		}
		if waved != len(plan.Commands) {
			rt.Errorf("waves have %d commands of %d", waved, len(plan.Commands))
		}
		tracker, err := disruption.NewBudgetTracker(f)
		if err != nil {
			rt.Fatal(err)
		}
		saved := 0.0
		for _, cmd := range plan.Commands {
			saved += cmd.Savings
			for _, m := range cmd.Members {
				if gone[m.Node] {
					rt.Errorf("%s goes twice", m.Node)
				}
				gone[m.Node] = true
				if why := tracker.Take(f.Candidate(m.Node), cmd.Reason); why != nil {
					rt.Errorf("%s: %v", cmd, why)
				}
			}
		}
		for _, cmd := range plan.Commands {
			for _, r := range cmd.Receivers {
				if gone[r.Name] {
					rt.Errorf("%s: pods go to %s, which goes", cmd, r.Name)
				}
			}
		}
		next := applied(rt, w.snapshot, plan.Commands, true)
		if diff := costOf(t, w.snapshot) - costOf(t, next) - saved; diff > 1e-6 || diff < -1e-6 {
			rt.Errorf("%.4f USD/h more are saved than was said", diff)
		}
		var part []*disruption.Command
		for i, cmd := range plan.Commands {
			if rapid.Bool().Draw(rt, fmt.Sprintf("take %d", i)) {
				part = append(part, cmd)
			}
		}
		good, _, err := planner.Restrict(t.Context(), f, part)
		if err != nil {
			rt.Fatal(err)
		}
		applied(rt, w.snapshot, good, true)
	})
}

// DIS-131: the same fleet gives the same plan, byte for byte: whatever the order of its objects, and however many ways of searching
// are gone side by side.
func TestGlobalIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	seeded.Check(t, func(rt *rapid.T) {
		w := drawnWorld(rt)
		planner := drawnPlanner(rt)
		var want string
		for i, processors := range []int{1, 2, 2} {
			runtime.GOMAXPROCS(processors)
			if i == 2 {
				w.snapshot.Nodes = rapid.Permutation(w.snapshot.Nodes).Draw(rt, "nodes")
				w.snapshot.NodePools = rapid.Permutation(w.snapshot.NodePools).Draw(rt, "pools")
				for j := range w.snapshot.Nodes {
					w.snapshot.Nodes[j].Pods = slices.Clone(w.snapshot.Nodes[j].Pods)
					slices.Reverse(w.snapshot.Nodes[j].Pods)
				}
			}
			plan, err := planner.Plan(t.Context(), w.fleet(t))
			if err != nil {
				rt.Fatal(err)
			}
			if got := encoded(rt, plan); i == 0 {
				want = got
			} else if got != want {
				rt.Fatalf("with %d processors (%d):\n%s\nfirst:\n%s", processors, i, got, want)
			}
		}
	})
}

// Small fleets end no more expensive than by Karpenter's methods, and near to the best that removing any set of nodes at once could
// come to. That holds for the fleets drawn here, and is no promise for all: of 4,000 others one ended dearer, at 0.15 USD/h
// against 0.14. What came to light so is kept in TestGlobalSmallFleets.
func TestGlobalAgainstOthers(t *testing.T) {
	total, optimal, worse := 0, 0, 0
	sum, sumBest := 0.0, 0.0
	seeded.Times(t, seeded.Draws(30, 100), func(rt *rapid.T) {
		w := drawnWorld(rt)
		w.pool("default", budgets([]v1.Budget{}...))
		w.pool("other", policy(v1.ConsolidationPolicyWhenEmptyOrUnderutilized))
		last, _, _ := rounds(t, thrifty(), w.snapshot, 3, false)
		ref, _, _ := rounds(t, referenceOf(), w.snapshot, 50, false)
		got, want, best := costOf(t, last), costOf(t, ref), bestRemoval(rt, w.snapshot)
		total++
		sum, sumBest = sum+got, sumBest+best
		if got <= best+1e-9 {
			optimal++
		}
		if got > want+1e-9 {
			worse++
			rt.Errorf("Global ends at %.4f USD/h, Reference at %.4f, best %.4f", got, want, best)
		}
	})
	t.Logf("%d of %d fleets at most the best removal; cost %.3f of it; %d worse than Reference", optimal, total, sum/max(sumBest, 1e-9), worse)
}

// bestRemoval is what the fleet costs after the best removal of any set of its nodes, by trying all.
func bestRemoval(rt *rapid.T, s *scheduling.Snapshot) float64 {
	m, err := scheduling.Compile(s)
	if err != nil {
		rt.Fatal(err)
	}
	best := 1e9
	for set := range 1 << len(s.Nodes) {
		trial, cost := m.Trial(), 0.0
		for i := range s.Nodes {
			if set&(1<<i) == 0 {
				p, _ := m.NodePrice(s.Nodes[i].Name)
				cost += p.Price
			} else if _, err := trial.Hide(s.Nodes[i].Name); err != nil {
				rt.Fatal(err)
			}
		}
		out, err := trial.Place(rt.Context(), scheduling.PlaceOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		if out.Unplaced == 0 {
			best = min(best, cost+out.NewCost)
		}
	}
	return best
}

// Each proof holds by arithmetic alone: its pods ask for more than any other node has free, no node of the catalogs costs
// less than what it offers is worth at the plan's prices, and what the pods are worth leaves less to save than required.
func TestGlobalProofs(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		w := drawnWorld(rt)
		if rapid.Bool().Draw(rt, "full") {
			w.node("full", "c2", bought("spot"), holding(pod("large", asks("cpu=1800m", "memory=100Mi"))))
		}
		plan, err := drawnPlanner(rt).Plan(t.Context(), w.fleet(t))
		if err != nil {
			rt.Fatal(err)
		}
		for _, y := range plan.FloorPrices {
			for _, it := range w.snapshot.Catalogs["all"] {
				for i := range it.Offerings {
					if worth := y.Worth(it.AllocatableOf(&it.Offerings[i])); worth > it.Offerings[i].Price {
						rt.Errorf("%s costs %.6f and is worth %.6f", it.Name, it.Offerings[i].Price, worth)
					}
				}
			}
		}
		for _, v := range plan.Verdicts {
			for _, b := range v.Blocks {
				if b.Block.Proof == nil {
					continue
				}
				recheck(rt, w, plan, v, b.Block)
			}
		}
	})
}

// A node whose pod fits nowhere else, and for which nothing cheaper is to be had, comes with a proof.
func TestGlobalProvesFloor(t *testing.T) {
	w := newWorld()
	w.node("full", "c2", holding(pod("large", asks("cpu=1800m", "memory=100Mi"))))
	w.node("other", "c4", holding(pods("p", 3, "1")...))
	plan, err := thrifty().Plan(t.Context(), w.fleet(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range plan.Verdicts {
		if v.Node != "full" {
			continue
		}
		b := v.Blocks[len(v.Blocks)-1].Block
		if b.Code != disruption.BlockFloor || b.Proof == nil || len(b.Proof.Homeless) != 1 || b.Floor != 0.1 {
			t.Errorf("%s (%+v), want a proof that its pod costs 0.1 USD/h anywhere", v, b.Proof)
		}
		if want := "1 of its pods have no room elsewhere, and new nodes for them cost at least 0.1000 USD/h where it costs 0.1000"; b.String() != want {
			t.Errorf("%q, want %q", b, want)
		}
	}
}

func recheck(rt *rapid.T, w *world, plan *disruption.Plan, v disruption.Verdict, b *disruption.Block) {
	demand, single := 0.0, 0.0
	for _, h := range b.Proof.Homeless {
		cheapest, need := 0.0, resource.MustParse(h.Need)
		for _, it := range w.snapshot.Catalogs["all"] {
			for _, o := range it.Offerings {
				if it.Capacity.Cpu().Cmp(need) >= 0 && (cheapest == 0 || o.Price < cheapest) {
					cheapest = o.Price
				}
			}
		}
		if h.Cheapest != cheapest {
			rt.Errorf("%s: a node for it costs %g, not %g", h.Pod, cheapest, h.Cheapest)
		}
		single = max(single, cheapest)
		if h.Resource != corev1.ResourceCPU {
			rt.Errorf("%s: %s is scarce in %s", v.Node, h.Pod, h.Resource)
		}
		for i := range w.snapshot.Nodes {
			n := &w.snapshot.Nodes[i]
			free := n.Object.Status.Allocatable.Cpu().MilliValue()
			for _, p := range n.Pods {
				cpu := p.Spec.Containers[0].Resources.Requests.Cpu()
				free -= cpu.MilliValue()
				if n.Name == v.Node && p.Name == h.Pod.Name {
					demand += cpu.AsApproximateFloat64()
					if cpu.String() != h.Need {
						rt.Errorf("%s asks for %s, not %s", p.Name, cpu, h.Need)
					}
				}
			}
			if most := resource.MustParse(h.Most); n.Name != v.Node && free > most.MilliValue() {
				rt.Errorf("%s has %dm free, and none was to have more than %s", n.Name, free, h.Most)
			}
		}
	}
	if got := b.Proof.Demand.Cpu().AsApproximateFloat64(); got < demand-1e-9 || got > demand+1e-9 {
		rt.Errorf("%s: the demand is %g cores, not %g", v.Node, demand, got)
	}
	if worth := plan.FloorPrices[b.Proof.Prices].Worth(b.Proof.Demand); max(worth, single) < b.Floor-1e-9 || v.Price-max(worth, single) > max(b.Required, 1e-9) {
		rt.Errorf("%s: costs %.4f, its pods are worth %.4f, said to be %.4f; %.4f must be saved", v.Node, v.Price, worth, b.Floor, b.Required)
	}
}
