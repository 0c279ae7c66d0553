package disruption_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

func (w *world) plan(t testing.TB, r *disruption.Reference) *disruption.Plan {
	t.Helper()
	plan, err := r.Plan(context.Background(), w.fleet(t))
	if err != nil {
		t.Fatal("Plan:", err)
	}
	return plan
}

// said is what the plan does: "method: node node -> type/capacity type(number of types)".
func said(p *disruption.Plan) string {
	var out []string
	for _, c := range p.Commands {
		s := fmt.Sprintf("%s: %s", c.Method, strings.Join(c.Nodes(), " "))
		for _, r := range c.Replacements {
			if r.Static {
				s += " -> one of " + r.Pool.Name
				continue
			}
			s += fmt.Sprintf(" -> %s/%s(%d)", r.Node.InstanceTypes[0].Name, r.Node.InstanceTypes[0].CapacityType, len(r.Node.InstanceTypes))
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// why is what keeps a node from a method.
func why(t testing.TB, p *disruption.Plan, node string, m disruption.Method) *disruption.Block {
	t.Helper()
	for _, v := range p.Verdicts {
		if v.Node != node {
			continue
		}
		for _, b := range v.Blocks {
			if b.Method == m || b.Method == "" {
				return b.Block
			}
		}
	}
	return &disruption.Block{}
}

func onlyTypes(list ...*cloudprovider.InstanceType) func(*world) {
	return func(w *world) { w.catalog("all", list...) }
}

// reserved is the type with room for so many nodes in each of its reserved offerings.
func reserved(room int, t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	for i := range t.Offerings {
		if t.Offerings[i].CapacityType() == v1.CapacityTypeReserved {
			t.Offerings[i].ReservationCapacity, t.Offerings[i].Available = room, room > 0
		}
	}
	return t
}

// inZone is the type as that zone alone has it.
func inZone(zone string, t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	t.Offerings = slices.DeleteFunc(t.Offerings, func(o cloudprovider.Offering) bool { return o.Zone() != zone })
	return t
}

// spotTypes are n types of four cores on spot, the dearest the last at 0.2, and c4, on demand too.
func spotTypes(n int) func(*world) {
	var list []*cloudprovider.InstanceType
	for i := range n {
		list = append(list, instanceType(fmt.Sprintf("s%02d", i), 4, fmt.Sprintf("spot=%g", 0.1+0.001*float64(i))))
	}
	return onlyTypes(append(list, instanceType("c4", 4, "spot=0.2", "on-demand=0.5"), instanceType("c16", 16, "spot=0.8", "on-demand=1"))...)
}

// referenceCase is a cluster, what one plan of r makes of it, and what keeps one of its nodes from a method.
type referenceCase struct {
	name string
	make func(*world)
	r    disruption.Reference
	want string
	node string
	from disruption.Method
	code disruption.BlockCode
}

func (c referenceCase) check(t *testing.T) {
	w := newWorld()
	c.make(w)
	p := w.plan(t, &c.r)
	if got := said(p); got != c.want {
		t.Errorf("%q, want %q", got, c.want)
		for _, v := range p.Verdicts {
			t.Log(v)
		}
	}
	if b := why(t, p, c.node, c.from); c.node != "" && b.Code != c.code {
		t.Errorf("%s is kept by %q (%v), want %q", c.node, b.Code, b, c.code)
	}
}

// The scenarios of DIS-319 that one plan decides, and what else the methods do.
func TestReference(t *testing.T) {
	const multi, single = disruption.MethodMultiNode, disruption.MethodSingleNode
	whenEmpty := policy(v1.ConsolidationPolicyWhenEmpty)
	spot := bought(v1.CapacityTypeSpot)
	tests := []referenceCase{
		{name: "DIS-319 scenario 1, DIS-082: empty", make: func(w *world) {
			w.pool("default", whenEmpty)
			w.node("n", "c4")
		}, want: "Emptiness: n"},
		{name: "DIS-319 scenario 1: a StatefulSet's pod that terminates", make: func(w *world) {
			w.pool("default", whenEmpty)
			w.node("n", "c4", holding(pod("s", owned("StatefulSet"), terminating)))
		}, node: "n", from: disruption.MethodEmptiness, code: disruption.BlockNotEmpty},
		{name: "DIS-319 scenario 1: DaemonSet pods alone", make: func(w *world) {
			w.pool("default", whenEmpty)
			w.node("n", "c4", holding(pod("d", owned("DaemonSet"))))
		}, want: "Emptiness: n"},
		{name: "DIS-082 all empty ones in one command, by savings", make: func(w *world) {
			w.pool("default", budgets(v1.Budget{Nodes: "2"}))
			w.node("cheap", "c2")
			w.node("dear", "c16")
			w.node("middle", "c8")
		}, want: "Emptiness: dear middle", node: "cheap", from: disruption.MethodEmptiness, code: disruption.BlockBudget},
		{name: "DIS-319 scenario 2: do-not-disrupt for two hours, a minute left", make: func(w *world) {
			w.node("n", "c4", holding(pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, "2h"), started(119*time.Minute))))
			w.node("m", "c4", holding(pod("q")))
		}, want: "SingleNodeConsolidation: m", node: "n", code: disruption.BlockPod},
		{name: "DIS-319 scenario 3: drift goes ahead with a terminationGracePeriod", make: func(w *world) {
			w.node("n", "c4", drifted(time.Hour), grace(time.Hour), holding(pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, "true"))))
		}, want: "Drift: n", node: "n"},
		{name: "DIS-319 scenario 3: not without", make: func(w *world) {
			w.node("n", "c4", drifted(time.Hour), holding(pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, "true"))))
		}, node: "n", code: disruption.BlockPod},
		{name: "DIS-319 scenario 6, DIS-147: two of the cheapest type, half used", make: func(w *world) {
			w.node("n", "c2", holding(pods("p", 1, "800m")...))
			w.node("m", "c2", holding(pods("q", 1, "800m")...))
		}, want: "SingleNodeConsolidation: m", node: "n", from: multi, code: disruption.BlockNotCheaper},
		{name: "DIS-147: of a type that cannot be had on spot, while another can", make: func(w *world) {
			onlyTypes(instanceType("c2", 2, "on-demand=0.1"), instanceType("d2", 2, "spot=0.15"))(w)
			w.node("n", "c2", holding(pods("p", 1, "800m")...))
			w.node("m", "c2", holding(pods("q", 1, "800m")...))
		}, want: "SingleNodeConsolidation: m", node: "n", from: multi, code: disruption.BlockNotCheaper},
		{name: "DIS-147: one on spot for less than either", make: func(w *world) {
			onlyTypes(instanceType("c2", 2, "on-demand=0.1"), instanceType("d2", 2, "spot=0.05"))(w)
			w.node("n", "c2", holding(pods("p", 1, "800m")...))
			w.node("m", "c2", holding(pods("q", 1, "800m")...))
		}, want: "MultiNodeConsolidation: m n -> d2/spot(1)"},
		{name: "DIS-319 scenario 7, DIS-142: spot is cheaper", make: func(w *world) {
			onlyTypes(instanceType("c4", 4, "on-demand=0.2"), instanceType("d4", 4, "on-demand=0.3", "spot=0.1"))(w)
			w.node("n", "c4", holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> d4/spot(1)"},
		{name: "DIS-319 scenario 8, DIS-144: twenty cheaper spot types", make: func(w *world) {
			spotTypes(20)(w)
			w.node("n", "c4", spot, holding(pods("p", 3, "1")...))
		}, r: disruption.Reference{SpotToSpot: true}, want: "SingleNodeConsolidation: n -> s00/spot(15)"},
		{name: "DIS-319 scenario 8: fourteen", make: func(w *world) {
			spotTypes(14)(w)
			w.node("n", "c4", spot, holding(pods("p", 3, "1")...))
		}, r: disruption.Reference{SpotToSpot: true}, node: "n", from: single, code: disruption.BlockFewTypes},
		{name: "DIS-319 scenario 8, DIS-146: switched off", make: func(w *world) {
			spotTypes(20)(w)
			w.node("n", "c4", spot, holding(pods("p", 3, "1")...))
		}, node: "n", from: single, code: disruption.BlockSpotToSpot},
		{name: "DIS-319 scenario 9: three spot nodes for one", make: func(w *world) {
			onlyTypes(instanceType("c4", 4, "spot=0.2"), instanceType("e4", 4, "spot=0.19"), instanceType("f4", 4, "spot=0.18"))(w)
			for i := range 3 {
				w.node(fmt.Sprintf("n-%d", i), "c4", spot, holding(pods(fmt.Sprintf("p%d", i), 1, "3500m", func(p *corev1.Pod) {
					p.Spec.Containers[0].Resources.Requests = amounts("cpu=1300m")
				})...))
			}
		}, r: disruption.Reference{SpotToSpot: true}, want: "MultiNodeConsolidation: n-0 n-1 n-2 -> f4/spot(2)"},
		{name: "DIS-319 scenario 10, DIS-137: two new ones are too many", make: func(w *world) {
			onlyTypes(instanceType("c8", 8, "on-demand=0.8"), instanceType("c4", 4, "on-demand=0.1"))(w)
			w.snapshot.Catalogs["all"][0].Offerings[0].Available = false
			w.snapshot.Catalogs["all"][0].Offerings[1].Available = false
			w.node("n", "c8", holding(pods("p", 2, "3")...))
		}, node: "n", from: single, code: disruption.BlockManyNodes},
		{name: "DIS-319 scenario 10, DIS-095: drift launches both", make: func(w *world) {
			onlyTypes(instanceType("c8", 8, "on-demand=0.8"), instanceType("c4", 4, "on-demand=0.1"))(w)
			w.snapshot.Catalogs["all"][0].Offerings[0].Available = false
			w.snapshot.Catalogs["all"][0].Offerings[1].Available = false
			w.node("n", "c8", drifted(time.Hour), holding(pods("p", 2, "3")...))
		}, want: "Drift: n -> c4/on-demand(1) -> c4/on-demand(1)"},
		{name: "DIS-319 scenario 11, DIS-158: only a node that is not initialized", make: func(w *world) {
			w.node("n", "c4", holding(pods("p", 2, "1")...))
			w.node("young", "c4", labelled(v1.NodeInitializedLabelKey, ""))
		}, node: "n", from: single, code: disruption.BlockDependsOnUninitialized},
		{name: "DIS-319 scenario 12, DIS-159: a pod that fits nowhere", make: func(w *world) {
			w.node("n", "c4", holding(pods("p", 1, "1")...))
			w.node("m", "c4", holding(pods("q", 3, "1")...))
			w.snapshot.Pods = append(w.snapshot.Pods, pod("huge", asks("cpu=900")))
		}, want: "SingleNodeConsolidation: n"},
		{name: "DIS-137 a pod that waits for a new node does not count", make: func(w *world) {
			w.node("n", "c4", holding(pods("p", 1, "1")...))
			w.node("m", "c4", holding(pods("q", 3, "1")...))
			w.snapshot.Pods = append(w.snapshot.Pods, pod("large", asks("cpu=7")))
		}, want: "SingleNodeConsolidation: n"},
		{name: "DIS-152 pods that wait take their room first", make: func(w *world) {
			w.node("n", "c4", holding(pods("p", 2, "2")...))
			w.node("m", "c4")
			w.pool("default", after("1h"))
			w.snapshot.Pods = append(w.snapshot.Pods, pod("w", asks("cpu=1")))
			w.nodeState("m", func(m *cluster.NodeState) { m.LastPodEvent = now() })
		}, node: "n", from: single, code: disruption.BlockNotCheaper},
		{name: "DIS-128, DIS-130, DIS-136: a node without a price is deleted", make: func(w *world) {
			w.node("n", "c4", bought("spot"), holding(pods("p", 1, "1")...))
			w.node("m", "c4", annotated(v1.DoNotDisruptAnnotationKey, "true"))
		}, want: "SingleNodeConsolidation: n"},
		{name: "DIS-130: and never replaced", make: func(w *world) {
			w.node("n", "c16", bought("reserved"), holding(pods("p", 1, "1")...))
		}, node: "n", from: single, code: disruption.BlockNotCheaper},
		{name: "DIS-148 equal prices justify nothing", make: func(w *world) {
			w.node("n", "c4", holding(pods("p", 3, "1")...))
		}, node: "n", from: single, code: disruption.BlockNotCheaper},
		{name: "DIS-140, PRV-182: the worst launch counts", make: func(w *world) {
			cheap := instanceType("c2", 2, "on-demand=0.1")
			cheap.Offerings[1].Price = 0.25
			onlyTypes(cheap, instanceType("c4", 4, "on-demand=0.2"))(w)
			w.node("n", "c4", holding(pods("p", 1, "1")...))
		}, node: "n", from: single, code: disruption.BlockNotCheaper},
		{name: "DIS-138 smaller", make: func(w *world) {
			w.node("n", "c16", holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> c4/on-demand(2)"},
		{name: "DIS-135 a pod that has no place", make: func(w *world) {
			w.node("n", "c16", holding(pod("p", asks("cpu=1"), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"only": "here"} })), labelled("only", "here"))
		}, node: "n", from: single, code: disruption.BlockUnschedulable},
		{name: "DIS-150 a free reservation of the same type", make: func(w *world) {
			onlyTypes(reserved(1, instanceType("c4", 4, "on-demand=0.2", "reserved=0.00001")))(w)
			w.node("n", "c4", holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> c4/reserved(1)"},
		{name: "DIS-150 of a larger type", make: func(w *world) {
			onlyTypes(instanceType("c4", 4, "on-demand=0.2"), reserved(1, instanceType("c8", 8, "on-demand=0.4", "reserved=0.00002")))(w)
			w.node("n", "c4", holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> c8/reserved(1)"},
		{name: "DIS-139, DIS-150 from spot too, which is then no move from spot to spot", make: func(w *world) {
			onlyTypes(reserved(1, instanceType("c4", 4, "spot=0.1", "reserved=0.00001")))(w)
			w.node("n", "c4", spot, holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> c4/reserved(1)"},
		{name: "DIS-150 from a reservation to a cheaper one", make: func(w *world) {
			onlyTypes(reserved(1, instanceType("c4", 4, "reserved=0.00001")), reserved(1, instanceType("c16", 16, "reserved=0.00004")))(w)
			w.node("n", "c16", bought(v1.CapacityTypeReserved), holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> c4/reserved(1)"},
		{name: "DIS-150 a reservation that is full is planned without", make: func(w *world) {
			onlyTypes(reserved(0, instanceType("c4", 4, "on-demand=0.2", "reserved=0.00001")), instanceType("c16", 16, "on-demand=0.8"))(w)
			w.node("n", "c16", holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> c4/on-demand(1)"},
		{name: "DIS-150 so is what comes after its last node", make: func(w *world) {
			onlyTypes(reserved(1, inZone("a", instanceType("c4", 4, "on-demand=0.2", "reserved=0.00001"))), instanceType("c8", 8, "on-demand=0.9"))(w)
			w.node("n", "c8", drifted(time.Hour), holding(pods("p", 2, "4")...))
		}, want: "Drift: n -> c4/reserved(1) -> c4/on-demand(2)"},
		{name: "DIS-141 minValues", make: func(w *world) {
			two := 2
			w.pool("default", func(p *v1.NodePool) {
				p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists, MinValues: &two}}
			})
			w.node("n", "c8", holding(pods("p", 3, "1")...))
		}, node: "n", from: single, code: disruption.BlockMinValues},
		{name: "DIS-069 a node in its own waiting time takes no pods", make: func(w *world) {
			w.pool("slow", after("1h"))
			w.node("n", "c4", holding(pods("p", 3, "1")...))
			w.node("m", "c4", ofPool("slow"))
			w.nodeState("m", func(m *cluster.NodeState) { m.LastPodEvent = now().Add(-30 * time.Minute) })
		}, node: "n", from: single, code: disruption.BlockNotCheaper},
		{name: "DIS-097 but from drift it does", make: func(w *world) {
			w.pool("slow", after("1h"))
			w.node("n", "c4", drifted(time.Hour), holding(pods("p", 3, "1")...))
			w.node("m", "c4", ofPool("slow"))
			w.nodeState("m", func(m *cluster.NodeState) { m.LastPodEvent = now().Add(-30 * time.Minute) })
		}, want: "Drift: n"},
		{name: "DIS-093 empty ones first, then the longest drifted", make: func(w *world) {
			w.pool("default", after("Never"))
			w.node("long", "c4", drifted(5*time.Hour), holding(pods("p", 3, "1")...))
			w.node("empty", "c4", drifted(time.Hour))
			w.node("older", "c4", drifted(2*time.Hour))
		}, want: "Drift: older"},
		{name: "DIS-094 those that can't go are passed over", make: func(w *world) {
			w.node("stuck", "c4", drifted(5*time.Hour), labelled("only", "here"), holding(pod("p", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"only": "here"} })))
			w.node("next", "c4", drifted(time.Hour), holding(pods("q", 3, "1")...))
		}, want: "Drift: next", node: "stuck", from: disruption.MethodDrift, code: disruption.BlockUnschedulable},
		{name: "DIS-096 protected pods get no place in advance", make: func(w *world) {
			w.node("n", "c4", drifted(time.Hour), grace(time.Hour), holding(pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, "true")), pod("q")))
		}, want: "Drift: n -> c2/on-demand(4)"},
		{name: "DIS-088 to DIS-091: static pools, one for one, within the limit", make: func(w *world) {
			w.pool("default", replicas(3), func(p *v1.NodePool) { p.Spec.Limits = amounts("nodes=5") })
			w.fill("n", 3, drifted(time.Hour))
		}, want: "StaticDrift: n-00 -> one of default; StaticDrift: n-01 -> one of default", node: "n-02", from: disruption.MethodStaticDrift, code: disruption.BlockLimit},
		{name: "DIS-088 scale down first", make: func(w *world) {
			w.pool("default", replicas(2))
			w.fill("n", 3, drifted(time.Hour))
		}, node: "n-00", from: disruption.MethodStaticDrift, code: disruption.BlockScalingDown},
		{name: "DIS-089 budget", make: func(w *world) {
			w.pool("default", replicas(3), budgets(v1.Budget{Nodes: "1"}))
			w.fill("n", 3, drifted(time.Hour))
		}, want: "StaticDrift: n-00 -> one of default", node: "n-02", from: disruption.MethodStaticDrift, code: disruption.BlockBudget},
		{name: "DIS-106 several for nothing", make: func(w *world) {
			for i := range 4 {
				w.node(fmt.Sprintf("n-%d", i), "c2", holding(pods(fmt.Sprintf("p%d", i), 1, "500m")...))
			}
			w.node("large", "c16", annotated(v1.DoNotDisruptAnnotationKey, "true"))
		}, want: "MultiNodeConsolidation: n-0 n-1 n-2 n-3"},
		{name: "DIS-106 within budgets", make: func(w *world) {
			w.pool("default", budgets(v1.Budget{Nodes: "3"}))
			for i := range 4 {
				w.node(fmt.Sprintf("n-%d", i), "c2", holding(pods(fmt.Sprintf("p%d", i), 1, "500m")...))
			}
			w.node("large", "c16", annotated(v1.DoNotDisruptAnnotationKey, "true"))
		}, want: "MultiNodeConsolidation: n-0 n-1 n-2", node: "n-3", from: multi, code: disruption.BlockBudget},
		{name: "DIS-107, DIS-108: no more than a batch holds", make: func(w *world) {
			for i := range 4 {
				w.node(fmt.Sprintf("n-%d", i), "c2", holding(pods(fmt.Sprintf("p%d", i), 1, "500m")...))
			}
			w.node("large", "c16", annotated(v1.DoNotDisruptAnnotationKey, "true"))
		}, r: disruption.Reference{MaxBatch: ptr(2)}, want: "MultiNodeConsolidation: n-0 n-1"},
		{name: "DIS-154, DIS-318: with no pool to launch from nodes are still removed", make: func(w *world) {
			w.snapshot.NodePools[0].NotReady = "its node class is not"
			w.node("n", "c4", holding(pods("p", 1, "1")...))
			w.node("m", "c4", holding(pods("q", 3, "1")...))
		}, want: "SingleNodeConsolidation: n"},
		{name: "DIS-134 the batch mixes pools", make: func(w *world) {
			w.pool("other")
			w.node("n", "c2", holding(pods("p", 1, "500m")...))
			w.node("m", "c2", ofPool("other"), holding(pods("q", 1, "500m")...))
			w.node("large", "c16", annotated(v1.DoNotDisruptAnnotationKey, "true"))
		}, want: "MultiNodeConsolidation: m n"},
		{name: "DIS-074 drift before consolidation", make: func(w *world) {
			w.node("n", "c4", drifted(time.Hour), holding(pods("p", 1, "1")...))
			w.node("m", "c4", holding(pods("q", 1, "1")...))
		}, want: "Drift: n", node: "m", from: single, code: disruption.BlockNotReached},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.check)
	}
}

// Balanced pools weigh what is saved against what is disturbed (DIS-163 to DIS-172).
func TestReferenceBalanced(t *testing.T) {
	// The example of DIS-172: a pool of 40 USD/h with a disruption of 200, and a node of 4 with so many pods that 2.5 would
	// do for.
	example := func(n int) *world {
		w := newWorld()
		onlyTypes(instanceType("a16", 16, "on-demand=4"), instanceType("b16", 16, "on-demand=2.5"))(w)
		w.pool("default", policy(v1.ConsolidationPolicyBalanced))
		w.node("n", "a16", holding(pods("p", n, "900m")...))
		rest := 187
		for i := range 9 {
			count := rest / (9 - i)
			rest -= count
			name := fmt.Sprintf("x-%d", i)
			w.node(name, "a16", annotated(v1.DoNotDisruptAnnotationKey, "true"),
				holding(append(pods(name, count-2, "1m"), pod(name+"-full", asks("cpu=15")))...))
		}
		return w
	}
	p := example(12).plan(t, &disruption.Reference{})
	if got, want := said(p), "SingleNodeConsolidation: n -> b16/on-demand(1)"; got != want {
		t.Errorf("12 pods: %q, want %q: %v", got, want, why(t, p, "n", disruption.MethodSingleNode))
	}
	p = example(16).plan(t, &disruption.Reference{})
	b := why(t, p, "n", disruption.MethodSingleNode)
	if said(p) != "" || b.Code != disruption.BlockScore || fmt.Sprintf("%.2f", b.Score) != "0.45" || b.Threshold != 0.5 {
		t.Errorf("16 pods: %q, %v, score %g", said(p), b, b.Score)
	}
}

// DIS-170: single-node consolidation passes over a node of a Balanced pool that is not worth its disturbance even if nothing came in
// its place, without asking where its pods would go; a batch is judged as a whole.
func TestReferenceBalancedHopeless(t *testing.T) {
	const single = disruption.MethodSingleNode
	stuck := func(n int) nodeOption {
		return holding(pods("p", n, "1m", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"only": "here"} })...)
	}
	with := func(other string, options ...nodeOption) func(*world) {
		return func(w *world) {
			w.pool("default", policy(v1.ConsolidationPolicyBalanced))
			w.node("n", "c2", append(options, labelled("only", "here"))...)
			w.node("m", other, holding(pods("q", 1, "1")...), annotated(v1.DoNotDisruptAnnotationKey, "true"))
		}
	}
	for _, tt := range []referenceCase{
		{name: "a third of the cost for five sevenths of the disruption", make: with("c4", stuck(4)), node: "n", from: single, code: disruption.BlockScore},
		{name: "and for two thirds, which the removal would be worth", make: with("c4", stuck(3)), node: "n", from: single, code: disruption.BlockUnschedulable},
		{name: "under another policy", make: func(w *world) {
			with("c16", stuck(8))(w)
			w.pool("default", policy(v1.ConsolidationPolicyWhenEmptyOrUnderutilized))
		}, node: "n", from: single, code: disruption.BlockUnschedulable},
		{name: "in a batch", make: func(w *world) {
			w.pool("default", policy(v1.ConsolidationPolicyBalanced))
			w.pool("other")
			w.node("n", "c2", holding(pods("p", 8, "1m")...))
			w.node("m", "c16", holding(pods("q", 1, "1")...))
			w.node("room", "c16", ofPool("other"), annotated(v1.DoNotDisruptAnnotationKey, "true"))
		}, want: "MultiNodeConsolidation: m n", node: "n", from: single},
	} {
		t.Run(tt.name, tt.check)
	}
}

// DIS-171, DIS-319 scenario 20: in a pool of equal nodes a replacement must halve the price, and a removal scores 1.
func TestReferenceBalancedUniform(t *testing.T) {
	for _, tt := range []struct {
		price string
		want  string
	}{{"0.1", "SingleNodeConsolidation: n -> d4/on-demand(1)"}, {"0.11", ""}} {
		w := newWorld()
		onlyTypes(instanceType("c4", 4, "on-demand=0.2"), instanceType("d4", 4, "on-demand="+tt.price))(w)
		w.pool("default", policy(v1.ConsolidationPolicyBalanced))
		w.node("n", "c4", holding(pods("p", 3, "1")...))
		if got := said(w.plan(t, &disruption.Reference{})); got != tt.want {
			t.Errorf("replacing 0.2 by %s: %q, want %q", tt.price, got, tt.want)
		}
	}
	w := newWorld()
	w.pool("default", policy(v1.ConsolidationPolicyBalanced))
	w.pool("other")
	w.node("n", "c2", holding(pods("p", 1, "1")...))
	w.node("room", "c4", ofPool("other"), annotated(v1.DoNotDisruptAnnotationKey, "true"))
	if got, want := said(w.plan(t, &disruption.Reference{})), "SingleNodeConsolidation: n"; got != want {
		t.Errorf("removing the only node of a pool: %q, want %q", got, want)
	}
}

// DIS-116: pools take turns, those not reached before first, and the search ends after as many what-ifs as it may do (DIS-121).
func TestReferenceTurns(t *testing.T) {
	make := func() *world {
		w := newWorld()
		w.pool("other")
		for _, n := range []string{"a", "b"} {
			w.node(n, "c4", holding(pods(n, 4, "1")...))
		}
		w.node("o", "c4", ofPool("other"), holding(pods("o", 4, "1")...))
		return w
	}
	p := make().plan(t, &disruption.Reference{MaxTrials: ptr(1)})
	if got := why(t, p, "a", disruption.MethodSingleNode).Code; got != disruption.BlockNotCheaper {
		t.Errorf("a is kept by %q", got)
	}
	if got := why(t, p, "o", disruption.MethodSingleNode).Code; got != disruption.BlockNotReached || !p.Waiting {
		t.Errorf("o is kept by %q, waiting %v", got, p.Waiting)
	}
	if !slices.Equal(p.Unreached, []v1.PoolKey{v1.NewPoolKey("other")}) {
		t.Errorf("pools not reached: %v", p.Unreached)
	}
	w := make()
	w.input.Unreached = p.Unreached
	p = w.plan(t, &disruption.Reference{MaxTrials: ptr(1)})
	if got := why(t, p, "o", disruption.MethodSingleNode).Code; got != disruption.BlockNotCheaper {
		t.Errorf("the next time o is kept by %q", got)
	}
}

// DIS-083, DIS-176: what is left out for lack of budget, or until a time, is worth another look.
func TestReferenceWaiting(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(scheduled(v1.Budget{Nodes: "0"}, "0 8 * * *", 9*time.Hour)))
	w.node("n", "c4")
	if p := w.plan(t, &disruption.Reference{}); !p.Waiting || !p.Again.Equal(now().Add(7*time.Hour)) {
		t.Errorf("waiting %v, again %s", p.Waiting, p.Again)
	}
	w = newWorld()
	w.pool("default", after("36h"))
	w.node("n", "c4")
	if p := w.plan(t, &disruption.Reference{}); p.Waiting || !p.Again.Equal(now().Add(12*time.Hour)) {
		t.Errorf("waiting %v, again %s", p.Waiting, p.Again)
	}
}

// DIS-231: a pool whose replacements failed is passed over.
func TestReferenceBackOff(t *testing.T) {
	w := newWorld()
	w.pool("other")
	w.node("n", "c4", drifted(5*time.Hour), holding(pods("p", 1, "1")...))
	w.node("o", "c4", drifted(time.Hour), ofPool("other"), holding(pods("q", 1, "1")...))
	w.input.BackOff = disruption.NewBackOff(0)
	w.input.BackOff.Failed(v1.NewPoolKey("default"), now())
	p := w.plan(t, &disruption.Reference{})
	if b := why(t, p, "n", disruption.MethodDrift); said(p) != "Drift: o" || b.Code != disruption.BlockBackOff {
		t.Errorf("%q, n kept by %v", said(p), b)
	}
}

// The same fleet gives the same plan, whatever the order in which things are listed (DIS-131).
func TestReferenceDeterministic(t *testing.T) {
	make := func(turn bool) *world {
		w := newWorld()
		for i := range 12 {
			w.node(fmt.Sprintf("n-%02d", i), "c4", holding(pods(fmt.Sprintf("p%02d", i), 1+i%2, "900m")...))
		}
		if turn {
			slices.Reverse(w.snapshot.Nodes)
		}
		return w
	}
	text := func(turn bool) string {
		data, err := json.MarshalIndent(make(turn).plan(t, &disruption.Reference{}), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := text(false)
	for range 3 {
		if diff := cmp.Diff(first, text(true)); diff != "" {
			t.Fatalf("(-first +another):\n%s", diff)
		}
	}
}

func TestReferenceCancelled(t *testing.T) {
	w := newWorld()
	w.node("n", "c4", holding(pods("p", 1, "1")...))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if p, err := (&disruption.Reference{}).Plan(ctx, w.fleet(t)); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("%v, %v; want no plan and context.Canceled", p, err)
	}
}

// What happens between decision and start (DIS-178 to DIS-183, DIS-084); DIS-319 scenario 13.
func TestValidate(t *testing.T) {
	two := func() *world {
		w := newWorld()
		w.node("n", "c4", holding(pods("p", 1, "1")...))
		w.node("m", "c4", holding(pods("q", 3, "1")...))
		return w
	}
	replaced := func() *world {
		w := newWorld()
		w.node("n", "c16", holding(pods("p", 3, "1")...))
		return w
	}
	empty := func() *world {
		w := newWorld()
		w.fill("n", 2)
		return w
	}
	tests := []struct {
		name     string
		make     func() *world
		change   func(*world)
		category disruption.RejectionCategory
		members  int
	}{
		{"nothing", two, func(*world) {}, "", 1},
		{"nothing, replaced", replaced, func(*world) {}, "", 1},
		{"DIS-319 scenario 13: a pod that a budget holds", two, func(w *world) {
			w.pdb("b", "x", 0)
			n := &w.snapshot.Nodes[0]
			holding(pod("late", app("x")))(n)
		}, disruption.RejectedChurn, 0},
		{"DIS-180 nominated", two, func(w *world) {
			w.nodeState("n", func(m *cluster.NodeState) { m.NominatedUntil = now().Add(time.Minute) })
		}, disruption.RejectedBudget, 0},
		{"DIS-180 budget", two, func(w *world) { w.pool("default", budgets(v1.Budget{Nodes: "0"})) }, disruption.RejectedBudget, 0},
		{"DIS-180 consolidateAfter begins again", two, func(w *world) {
			w.pool("default", after("1m"))
			w.nodeState("n", func(m *cluster.NodeState) { m.LastPodEvent = now() })
		}, disruption.RejectedChurn, 0},
		{"DIS-181 places are gone", two, func(w *world) { holding(pods("r", 1, "1")...)(&w.snapshot.Nodes[1]) }, disruption.RejectedScheduling, 0},
		{"DIS-181 types are gone", replaced, func(w *world) { w.catalog("all", w.snapshot.Catalogs["all"][2:]...) }, disruption.RejectedScheduling, 0},
		{"DIS-181 no new node is needed any more", replaced, func(w *world) { w.node("room", "c8", annotated(v1.DoNotDisruptAnnotationKey, "true")) }, disruption.RejectedScheduling, 0},
		{"another claim of the same node", two, func(w *world) { w.snapshot.Nodes[0].Claim.UID = "other" }, disruption.RejectedChurn, 0},
		{"DIS-182 gone", two, func(w *world) { w.snapshot.Nodes = w.snapshot.Nodes[1:] }, disruption.RejectedChurn, 0},
		{"DIS-084 emptiness goes on with the rest", empty, func(w *world) { holding(pod("p"))(&w.snapshot.Nodes[0]) }, "", 1},
		{"DIS-084 unless none is left", empty, func(w *world) {
			holding(pod("p"))(&w.snapshot.Nodes[0])
			holding(pod("q"))(&w.snapshot.Nodes[1])
		}, disruption.RejectedChurn, 0},
		{"DIS-084 within the budget", empty, func(w *world) { w.pool("default", budgets(v1.Budget{Nodes: "1"})) }, "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := tt.make()
			r := &disruption.Reference{}
			plan := w.plan(t, r)
			if len(plan.Commands) != 1 {
				t.Fatalf("%q, want one command", said(plan))
			}
			cmd := plan.Commands[0]
			if !cmd.NotBefore.Equal(now().Add(15 * time.Second)) {
				t.Errorf("may start at %s, want 15 s later", cmd.NotBefore)
			}
			tt.change(w)
			got, err := r.Validate(context.Background(), w.fleet(t), cmd)
			var rejected *disruption.RejectedError
			switch {
			case tt.category == "" && (err != nil || len(got.Members) != tt.members):
				t.Errorf("%v, %v; want %d members", got, err, tt.members)
			case tt.category != "" && (!errors.As(err, &rejected) || rejected.Category != tt.category):
				t.Errorf("error %v, want category %s", err, tt.category)
			}
		})
	}
}

// DIS-007, DIS-178: what commands say. Drift does not wait.
func TestCommand(t *testing.T) {
	w := newWorld()
	w.node("n", "c16", drifted(time.Hour), holding(pods("p", 3, "1300m")...))
	cmd := w.plan(t, &disruption.Reference{}).Commands[0]
	if cmd.Decision() != disruption.DecisionReplace || cmd.Pods() != 3 || !cmd.NotBefore.Equal(cmd.Planned) || cmd.Reason != disruption.ReasonDrifted {
		t.Errorf("%+v", cmd)
	}
	if got, want := cmd.String(), "replace n (Drifted), launch c4/a/on-demand of default, moving 3 pods, saving 0.6000 USD/h"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	m := cmd.Members[0]
	if m.Claim != "claim-n" || m.UID != "uid-n" || m.ProviderID != "cloud://n" || m.Price != 0.8 || m.Cost != 4 {
		t.Errorf("member %+v", m)
	}
	again := w.plan(t, &disruption.Reference{}).Commands[0]
	if again.ID != cmd.ID {
		t.Error("the same command has another ID")
	}
	w.snapshot.Time = w.snapshot.Time.Add(time.Minute)
	if later := w.plan(t, &disruption.Reference{}).Commands[0]; later.ID == cmd.ID {
		t.Error("a later command has the same ID")
	}
}

// DIS-167: what a move saves is shared out among the pools by the prices of their nodes.
func TestReferenceBalancedShares(t *testing.T) {
	w := newWorld()
	onlyTypes(instanceType("c4", 4, "on-demand=0.2"), instanceType("d8", 8, "on-demand=0.3"))(w)
	w.pool("default", policy(v1.ConsolidationPolicyBalanced))
	w.pool("other", policy(v1.ConsolidationPolicyBalanced))
	w.node("n", "c4", holding(pods("p", 4, "1")...))
	w.node("m", "c4", ofPool("other"), holding(pods("q", 4, "1")...))
	p := w.plan(t, &disruption.Reference{})
	b := why(t, p, "n", disruption.MethodMultiNode)
	if said(p) != "" || b.Code != disruption.BlockScore || fmt.Sprintf("%.2f", b.Score) != "0.25" {
		t.Errorf("%q, %v; want a score of 0.25", said(p), b)
	}
	w.pool("default", policy(""))
	w.pool("other", policy(""))
	if got, want := said(w.plan(t, &disruption.Reference{})), "MultiNodeConsolidation: m n -> d8/on-demand(1)"; got != want {
		t.Errorf("under another policy %q, want %q", got, want)
	}
}
