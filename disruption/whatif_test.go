package disruption_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// kept has a node stay for its annotation, so that it only takes pods.
func kept(n *scheduling.Node) { annotated(v1.DoNotDisruptAnnotationKey, "true")(n) }

func selecting(key, value string) podOption {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
}

// What removing nodes comes to, case by case.
func TestWhatIf(t *testing.T) {
	const multi, single = disruption.MethodMultiNode, disruption.MethodSingleNode
	spot := bought(v1.CapacityTypeSpot)
	ignore := disruption.Reference{Query: scheduling.Query{Preferences: scheduling.PreferencesIgnore}}
	// wishful has pods that would like to run on demand, which is to be had for less than now, and spot for less than that.
	wishful := func(w *world) {
		onlyTypes(instanceType("c4", 4, "on-demand=0.5"), instanceType("d4", 4, "on-demand=0.15", "spot=0.1"))(w)
		w.node("n", "c4", holding(pods("p", 3, "1", func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 100, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}}}},
			}}}}
		})...))
	}
	tests := []referenceCase{
		{name: "DIS-139 a reservation is no spot: the ordinary rules hold", make: func(w *world) {
			reserved := instanceType("c4", 4, "spot=0.2", "reserved=0.00001")
			for i := range reserved.Offerings {
				reserved.Offerings[i].ReservationCapacity = 1
			}
			onlyTypes(reserved)(w)
			w.node("n", "c4", spot, holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> c4/reserved(1)"},
		{name: "DIS-139 where the pool admits no spot, neither", make: func(w *world) {
			onlyTypes(instanceType("c4", 4, "spot=0.4", "on-demand=0.5"), instanceType("d4", 4, "on-demand=0.3"))(w)
			w.pool("default", func(p *v1.NodePool) {
				p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}}}
			})
			w.node("n", "c4", spot, holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> d4/on-demand(1)"},
		{name: "DIS-139 a batch that is not all spot", make: func(w *world) {
			onlyTypes(instanceType("c4", 4, "spot=0.2", "on-demand=0.5"), instanceType("d4", 4, "spot=0.1"))(w)
			w.node("n", "c4", spot, holding(pods("p", 1, "1300m")...))
			w.node("m", "c4", holding(pods("q", 2, "1300m")...))
		}, want: "MultiNodeConsolidation: m n -> d4/spot(1)"},
		{name: "DIS-149 candidate and replacement may exceed the limit together", make: func(w *world) {
			w.pool("default", func(p *v1.NodePool) { p.Spec.Limits = amounts("cpu=8") })
			w.node("n", "c8", holding(pods("p", 3, "1")...))
		}, want: "SingleNodeConsolidation: n -> c4/on-demand(1)"},
		{name: "DIS-149 the replacement and all others may not", make: func(w *world) {
			w.pool("default", func(p *v1.NodePool) { p.Spec.Limits = amounts("cpu=9") })
			w.node("n", "c8", holding(pods("p", 3, "1")...))
			w.node("m", "c8", kept, holding(pods("q", 7, "1")...))
		}, node: "n", from: single, code: disruption.BlockUnschedulable},
		{name: "DIS-151 to a node that nobody here made", make: func(w *world) {
			w.node("n", "c4", holding(pods("p", 3, "1")...))
			w.node("foreign", "c4").Claim = nil
		}, want: "SingleNodeConsolidation: n"},
		{name: "DIS-151, DIS-314: to one that is initialized and not ready now", make: func(w *world) {
			w.node("n", "c4", holding(pods("p", 3, "1")...))
			w.node("m", "c4", kept, notReady)
		}, want: "SingleNodeConsolidation: n"},
		{name: "DIS-151 not to one that is leaving", make: func(w *world) {
			w.node("n", "c4", holding(pods("p", 3, "1")...))
			w.node("m", "c4", leaving)
		}, node: "n", from: single, code: disruption.BlockNotCheaper},
		{name: "DIS-153, DIS-156: wishes are kept as in provisioning", make: wishful, want: "SingleNodeConsolidation: n -> d4/on-demand(1)"},
		{name: "DIS-153, DIS-156: one that only as dear a node keeps holds its node back", make: func(w *world) {
			wishful(w)
			w.catalog("all", w.snapshot.Catalogs["all"][0], instanceType("d4", 4, "spot=0.1"))
		}, node: "n", from: single, code: disruption.BlockNotCheaper},
		{name: "DIS-153, DIS-156: Ignore plans without", make: wishful, r: ignore, want: "SingleNodeConsolidation: n -> d4/spot(1)"},
		{name: "DIS-162 a volume that is local to the node: a new one will do", make: func(w *world) {
			local := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}}
			local.Spec.Local = &corev1.LocalVolumeSource{Path: "/data"}
			local.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n"}}},
			}}}}
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}}
			claim.Spec.VolumeName, claim.Status.Phase = "pv", corev1.ClaimBound
			claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
			w.snapshot.PersistentVolumes, w.snapshot.PersistentVolumeClaims = []*corev1.PersistentVolume{local}, []*corev1.PersistentVolumeClaim{claim}
			w.snapshot.StorageClasses = []*storagev1.StorageClass{}
			w.node("n", "c4", drifted(time.Hour), holding(pod("p", func(p *corev1.Pod) {
				p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
			})))
			w.node("room", "c4", kept)
		}, want: "Drift: n -> c2/on-demand(4)"},
		{name: "DIS-132 the dear node with few pods goes first, however young it is", make: func(w *world) {
			w.node("old", "c4", holding(pods("p", 2, "1")...)).Claim.CreationTimestamp = metav1.NewTime(now().Add(-700 * time.Hour))
			w.node("young", "c8", holding(pods("q", 2, "1", func(p *corev1.Pod) { var high int32 = 1000; p.Spec.Priority = &high })...))
			w.node("room", "c4", kept, holding(pods("r", 2, "1")...))
			w.pool("default", budgets(v1.Budget{Nodes: "1"}))
		}, want: "SingleNodeConsolidation: young"},
		{name: "DIS-111 one that can't move hides every longer batch", make: func(w *world) {
			w.node("stuck", "c16", labelled("only", "here"), holding(pod("p", selecting("only", "here"))))
			for _, name := range []string{"a", "b"} {
				w.node(name, "c4", holding(pods(name, 1, "1")...))
			}
			w.node("room", "c4", kept)
		}, want: "SingleNodeConsolidation: a", node: "b", from: multi, code: disruption.BlockNoBatch},
		{name: "DIS-069 a node whose waiting time is just over takes pods", make: func(w *world) {
			w.pool("slow", after("1h"))
			w.node("n", "c4", holding(pods("p", 3, "1")...))
			w.node("m", "c4", ofPool("slow"), kept)
			w.nodeState("m", func(m *cluster.NodeState) { m.LastPodEvent = now().Add(-time.Hour) })
		}, want: "SingleNodeConsolidation: n"},
		{name: "DIS-089 nodes that are leaving take from the limit too", make: func(w *world) {
			w.pool("default", replicas(2), func(p *v1.NodePool) { p.Spec.Limits = amounts("nodes=3") })
			w.fill("n", 2, drifted(time.Hour))
			w.node("old", "c4", leaving)
		}, node: "n-00", from: disruption.MethodStaticDrift, code: disruption.BlockLimit},
		{name: "DIS-089 a Node whose NodeClaim is gone takes nothing from it", make: func(w *world) {
			w.pool("default", replicas(2), func(p *v1.NodePool) { p.Spec.Limits = amounts("nodes=3") })
			w.fill("n", 2, drifted(time.Hour))
			w.node("old", "c4").Claim = nil
		}, want: "StaticDrift: n-00 -> one of default", node: "n-01", from: disruption.MethodStaticDrift, code: disruption.BlockLimit},
		{name: "DIS-106 one that its budget keeps is passed over, not the end", make: func(w *world) {
			w.pool("other", budgets(v1.Budget{Nodes: "0"}))
			w.node("dear", "c8", ofPool("other"), holding(pods("d", 1, "500m")...))
			for _, name := range []string{"a", "b"} {
				w.node(name, "c2", holding(pods(name, 1, "500m")...))
			}
			w.node("room", "c16", kept)
		}, want: "MultiNodeConsolidation: a b", node: "dear", from: multi, code: disruption.BlockBudget},
		{name: "DIS-112 a search that ends early has not looked at the rest", make: func(w *world) {
			onlyTypes(instanceType("c4", 4, "on-demand=0.2"))(w)
			for i := range 9 {
				w.node(fmt.Sprintf("n-%d", i), "c4", holding(pods(fmt.Sprintf("p%d", i), 1, "4")...))
			}
		}, r: disruption.Reference{MaxTrials: ptr(1)}, node: "n-8", from: multi, code: disruption.BlockNotReached},
		{name: "DIS-131 where all is equal the name decides, however many there are", make: func(w *world) {
			w.pool("default", budgets(v1.Budget{Nodes: "5"}))
			for i := range 60 {
				w.node(fmt.Sprintf("n-%02d", i), []string{"c4", "c8", "c2"}[i%3])
			}
		}, want: "Emptiness: n-01 n-04 n-07 n-10 n-13"},
		{name: "DIS-144 as many types as minValues ask for", make: func(w *world) {
			spotTypes(20)(w)
			seventeen := 17
			w.pool("default", func(p *v1.NodePool) {
				p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists, MinValues: &seventeen}}
			})
			w.node("n", "c4", spot, holding(pods("p", 3, "1")...))
		}, r: disruption.Reference{SpotToSpot: true}, want: "SingleNodeConsolidation: n -> s00/spot(17)"},
		{name: "DIS-118 single-node: one that fails uses nothing up", make: func(w *world) {
			w.pool("default", budgets(v1.Budget{Nodes: "1"}))
			w.node("stuck", "c16", labelled("only", "here"), holding(pod("p", selecting("only", "here"))))
			w.node("a", "c4", holding(pods("a", 1, "1")...))
			w.node("room", "c4", kept)
		}, want: "SingleNodeConsolidation: a", node: "stuck", from: single, code: disruption.BlockUnschedulable},
		{name: "DIS-109 a batch that only the Balanced pool refuses", make: func(w *world) {
			onlyTypes(instanceType("c4", 4, "on-demand=0.2"), instanceType("d8", 8, "on-demand=0.3"))(w)
			w.pool("default", policy(v1.ConsolidationPolicyBalanced))
			for _, name := range []string{"m", "n"} {
				w.node(name, "c4", holding(pods(name, 4, "1")...))
			}
		}, node: "n", from: multi, code: disruption.BlockScore},
		{name: "DIS-109 a replace that the rule about equal types empties", make: func(w *world) {
			onlyTypes(instanceType("c4", 4, "on-demand=0.2"))(w)
			for _, name := range []string{"l", "m", "n"} {
				w.node(name, "c4", holding(pods(name, 1, "1300m")...))
			}
		}, want: "MultiNodeConsolidation: l m"},
		{name: "PRV-123, DIS-089, DIS-090: static nodes are replaced one for one, within the budget", make: func(w *world) {
			w.pool("default", replicas(4), budgets(v1.Budget{Nodes: "50%"}), func(p *v1.NodePool) { p.Spec.Limits = amounts("nodes=9") })
			w.fill("n", 4, drifted(time.Hour))
		}, want: "StaticDrift: n-00 -> one of default; StaticDrift: n-01 -> one of default", node: "n-02", from: disruption.MethodStaticDrift, code: disruption.BlockBudget},
		{name: "PRV-123, DIS-089: and within the limit on nodes", make: func(w *world) {
			w.pool("default", replicas(4), func(p *v1.NodePool) { p.Spec.Limits = amounts("nodes=5") })
			w.fill("n", 4, drifted(time.Hour))
		}, want: "StaticDrift: n-00 -> one of default", node: "n-01", from: disruption.MethodStaticDrift, code: disruption.BlockLimit},
		{name: "PRV-123, DIS-099: static nodes are never consolidated, not even empty", make: func(w *world) {
			w.pool("default", replicas(2))
			w.node("empty", "c4")
			w.node("n", "c16", holding(pods("p", 1, "1")...))
		}, node: "n", from: single, code: disruption.BlockStatic},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.check)
	}
}

// DIS-145: whichever of the fifteen types comes, the next run finds fewer than fifteen cheaper ones and leaves the node alone.
func TestSpotToSpotEnds(t *testing.T) {
	w := newWorld()
	spotTypes(30)(w)
	w.node("n", "c4", bought(v1.CapacityTypeSpot), holding(pods("p", 3, "1")...))
	r := &disruption.Reference{SpotToSpot: true}
	options := w.plan(t, r).Commands[0].Replacements[0].Node.InstanceTypes
	if len(options) != 15 {
		t.Fatalf("%d types may come", len(options))
	}
	for _, o := range options {
		next := newWorld()
		spotTypes(30)(next)
		next.node("n", o.Name, bought(v1.CapacityTypeSpot), holding(pods("p", 3, "1")...))
		if p := next.plan(t, r); len(p.Commands) != 0 {
			t.Errorf("%s came, and is replaced again: %s", o.Name, said(p))
		}
	}
}

// DIS-157: the claim of a replacement keeps its 600 cheapest types.
func TestManyTypes(t *testing.T) {
	w := newWorld()
	w.catalog("all")
	for i := range 700 {
		w.snapshot.Catalogs["all"] = append(w.snapshot.Catalogs["all"], instanceType(fmt.Sprintf("t%03d", i), 4, fmt.Sprintf("on-demand=%g", 0.1+0.0001*float64(i))))
	}
	w.snapshot.Catalogs["all"] = append(w.snapshot.Catalogs["all"], instanceType("dear", 4, "on-demand=9"))
	w.node("n", "dear", holding(pods("p", 3, "1")...))
	planned := w.plan(t, &disruption.Reference{}).Commands[0].Replacements[0].Node
	claim, err := nodeclaims.New(planned, &w.snapshot.NodePools[0], nodeclaims.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, r := range claim.Spec.Requirements {
		found = found || r.Key == corev1.LabelInstanceTypeStable
		if r.Key == corev1.LabelInstanceTypeStable && (len(r.Values) != 600 || r.Values[0] != "t000" || r.Values[599] != "t599") {
			t.Errorf("%d types, %s to %s", len(r.Values), r.Values[0], r.Values[len(r.Values)-1])
		}
	}
	if !found {
		t.Error("the claim names no types")
	}
}

// DIS-133: a member that is leaving when the command is to be started makes it void.
func TestMemberLeaves(t *testing.T) {
	w := newWorld()
	w.node("n", "c4", holding(pods("p", 1, "1")...))
	w.node("m", "c4", holding(pods("q", 3, "1")...))
	cmd := w.plan(t, &disruption.Reference{}).Commands[0]
	w.nodeState("n", func(m *cluster.NodeState) { m.Marked = true })
	var rejected *disruption.RejectedError
	if _, err := (&disruption.Reference{}).Validate(context.Background(), w.fleet(t), cmd); !errors.As(err, &rejected) || rejected.Block.Code != disruption.BlockLeaving {
		t.Errorf("error %v", err)
	}
}

// DIS-153: the rule about destinations holds when a command is validated, as when it was planned.
func TestDestinationClosesBeforeTheStart(t *testing.T) {
	w := newWorld()
	w.pool("slow", after("1h"))
	w.node("n", "c4", holding(pods("p", 3, "1")...))
	w.node("m", "c4", ofPool("slow"), kept)
	cmd := w.plan(t, &disruption.Reference{}).Commands[0]
	w.nodeState("m", func(m *cluster.NodeState) { m.LastPodEvent = now() })
	var rejected *disruption.RejectedError
	if _, err := (&disruption.Reference{}).Validate(context.Background(), w.fleet(t), cmd); !errors.As(err, &rejected) || rejected.Category != disruption.RejectedScheduling {
		t.Errorf("error %v", err)
	}
}

// API-405, DIS-025, DIS-274: as soon as a node is being removed, whatever for, a provisioning pass finds new places for its pods, while it
// still drains: not for those that protect themselves, and those that a budget never lets go.
func TestPodsOfLeavingNodesArePlanned(t *testing.T) {
	w := newWorld()
	n := w.node("n", "c4", holding(pod("p"), pod("q", podAnnotated(v1.DoNotDisruptAnnotationKey, "true")), pod("r", app("never"))))
	n.Claim.DeletionTimestamp, n.Claim.Finalizers = &metav1.Time{Time: now()}, []string{v1.TerminationFinalizer}
	none := intstr.FromInt32(0)
	budget := w.pdb("never", "never", 0)
	budget.Spec.MaxUnavailable = &none
	state, err := cluster.New(cluster.Options{Kinds: []cluster.Kind{}})
	if err != nil {
		t.Fatal(err)
	}
	events := []cluster.Event{cluster.Upsert(n.Object), cluster.Upsert(n.Claim), cluster.Upsert(budget)}
	for _, p := range n.Pods {
		events = append(events, cluster.Upsert(p))
	}
	if err := state.Apply(events...); err != nil {
		t.Fatal(err)
	}
	view := state.Snapshot(cluster.Query{Time: now(), NodePools: w.snapshot.NodePools, Catalogs: w.snapshot.Catalogs})
	model, err := scheduling.Compile(view.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var placed []string
	for i := range plan.NewNodes {
		for _, key := range plan.NewNodes[i].Pods {
			placed = append(placed, key.Name)
		}
	}
	if slices.Sort(placed); strings.Join(placed, " ") != "p" {
		t.Errorf("new places for %q, want p alone", placed)
	}
}
