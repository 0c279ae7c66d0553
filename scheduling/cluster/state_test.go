package cluster_test

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, UID: types.UID(name)} }

// PRV-025, OPP-30: State is synced once all that the API had was seen; a claim that has no instance yet does not matter, then
// or later.
func TestBarrier(t *testing.T) {
	state, err := cluster.New(cluster.Options{Kinds: []cluster.Kind{cluster.KindNode, cluster.KindNodeClaim}})
	if err != nil {
		t.Fatal(err)
	}
	state.Expect(cluster.KindNode, types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"})
	state.Expect(cluster.KindNodeClaim)
	apply(t, state, cluster.Upsert(&corev1.Node{ObjectMeta: named("a")}))
	var missing *cluster.BarrierError
	if err := state.Missing(); state.Synced() || !errors.As(err, &missing) || missing.MissingCount != 1 {
		t.Errorf("one node is missing, but: %v", err)
	}
	apply(t, state, cluster.Delete(&corev1.Node{ObjectMeta: named("b")}), cluster.Upsert(&v1.NodeClaim{ObjectMeta: named("unlaunched")}))
	if err := state.Missing(); !state.Synced() || err != nil {
		t.Errorf("all was seen, but: %v", err)
	}
}

// OPP-30: a claim that has no instance yet is room for its pods: the least that any of its instance types has.
func TestInFlightClaimsAreRoom(t *testing.T) {
	state, q := newState(t), query()
	types := q.Catalogs["all"]
	claim := build.Claim("new", build.UID("new"), build.OfPool("true"), build.Requires(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, types[1].Name, types[2].Name))
	pod := build.Pod("web", build.CPU("100m"), build.Unschedulable())
	apply(t, state, cluster.Assume(claim), cluster.Upsert(pod))
	view := state.Snapshot(q)
	model, err := scheduling.Compile(view.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(t.Context(), scheduling.Query{})
	if err != nil || len(plan.NewNodes) != 0 || len(plan.Existing) != 1 || plan.Existing[0].Name != "new" {
		t.Errorf("the pod is planned a second node: %+v %v", plan, err)
	}
	got, least := view.Snapshot.Nodes[0].Claim.Status.Allocatable[corev1.ResourceCPU], types[1].Allocatable()[corev1.ResourceCPU]
	if other := types[2].Allocatable()[corev1.ResourceCPU]; other.Cmp(least) < 0 {
		least = other
	}
	if got.Cmp(least) != 0 {
		t.Errorf("it is counted with %s CPUs, want %s", got.String(), least.String())
	}
	if view.Nodes[0].Claim != claim || len(claim.Status.Allocatable) != 0 || view.Nodes[0].Phase != cluster.PhaseLaunching {
		t.Errorf("the claim itself is not left as it is: %+v", view.Nodes[0])
	}
	// PRV-028: until the watch shows it, it is named.
	if len(view.Unconfirmed) != 1 || view.Unconfirmed[0].Name != "new" {
		t.Errorf("unconfirmed: %v", view.Unconfirmed)
	}
	apply(t, state, cluster.Upsert(claim))
	if view := state.Snapshot(q); len(view.Unconfirmed) != 0 {
		t.Errorf("unconfirmed though the watch has shown it: %v", view.Unconfirmed)
	}
}

// claimAndNode is a registered and initialised node with a claim.
func claimAndNode(name string) (*v1.NodeClaim, *corev1.Node) {
	id, pool := build.ProviderID(name), build.OfPool("p")
	node := build.Node(name, build.UID(name), id, pool, build.Initialized(time.Time{}), build.CPU("4"))
	return build.Claim(name+"-claim", build.UID(name+"-claim"), id, pool), node
}

// Pools that are handed in without keys leave with them.
func TestPoolsWithoutKeys(t *testing.T) {
	state, err := cluster.New(cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := build.Pool("web")
	query := cluster.Query{Time: noon, NodePools: []scheduling.NodePool{{Object: pool}}}
	view := state.Snapshot(query)
	if got := view.Snapshot.NodePools; len(got) != 1 || got[0].Key != v1.NewPoolKey("web") {
		t.Errorf("pools %+v, left out %v", got, view.LeftOut)
	}
	if !query.NodePools[0].Key.IsZero() {
		t.Error("what was handed in was changed")
	}
}

// PRV-020, PRV-021: one node for a Node and its claim, in the phase that their labels say.
func TestPhases(t *testing.T) {
	claim, node := claimAndNode("a")
	for want, change := range map[cluster.Phase]func(*corev1.Node){
		cluster.PhaseInitialized: func(*corev1.Node) {},
		cluster.PhaseRegistered: func(n *corev1.Node) {
			delete(n.Labels, v1.NodeInitializedLabelKey)
			n.Labels[corev1.LabelInstanceTypeStable] = "m"
		},
		cluster.PhaseLaunched: func(n *corev1.Node) {
			delete(n.Labels, v1.NodeRegisteredLabelKey)
			delete(n.Labels, v1.NodeInitializedLabelKey)
		},
	} {
		state, n := newState(t), node.DeepCopy()
		change(n)
		apply(t, state, cluster.Upsert(n), cluster.Upsert(claim))
		if view := state.Snapshot(query()); len(view.Nodes) != 1 || view.Nodes[0].Phase != want {
			t.Errorf("%v: %+v", want, view.Nodes)
		}
	}
}

// PRV-023, PRV-024, PRV-026, PRV-027, PRV-083: what is noted of a node, and what it changes.
func TestNotes(t *testing.T) {
	state, err := cluster.New(cluster.Options{Kinds: []cluster.Kind{}})
	if err != nil {
		t.Fatal(err)
	}
	claim, node := claimAndNode("a")
	apply(t, state, cluster.Upsert(node), cluster.Upsert(claim))
	before := state.Snapshot(query())
	if cpu := before.Usage()[v1.NewPoolKey("p")][corev1.ResourceCPU]; cpu.Value() != 4 {
		t.Errorf("its pool uses %s CPUs, want 4", cpu.String())
	}
	pod := build.Pod("web", build.On("a"))
	apply(t, state, cluster.Upsert(pod).At(noon))
	bound := state.Snapshot(query())
	if bound.Revision == before.Revision || !bound.Nodes[0].LastPodEvent.Equal(noon) {
		t.Errorf("a pod was bound: revision %d, then %d; pod event %v", before.Revision, bound.Revision, bound.Nodes[0].LastPodEvent)
	}
	if !state.Nominate("a-claim", noon.Add(20*time.Second)) || !state.Mark("a") || state.Mark("nobody") {
		t.Error("the node is not found by its names, or one is that is not there")
	}
	marked := state.Snapshot(query())
	m := &marked.Nodes[0]
	if !m.Nominated(noon) || m.Nominated(noon.Add(time.Minute)) || !m.Leaving || marked.Revision == bound.Revision {
		t.Errorf("nominated and marked: %+v", m)
	}
	if len(marked.Snapshot.Pods) != 1 || len(marked.Snapshot.Nodes[0].Pods) != 0 || len(m.Pods) != 1 || len(marked.Usage()) != 0 {
		t.Errorf("its pod does not look for a new place: %+v", marked.Snapshot.Pods)
	}
	// SCH-091, API-244: on a node of the first generation what tolerates the taint of later ones is evicted all the same, which its
	// budget never lets happen.
	never := intstr.FromInt32(0)
	tolerant := pod.DeepCopy()
	tolerant.Spec.Tolerations = []corev1.Toleration{{Key: v1.DisruptedTaintKey, Operator: corev1.TolerationOpExists}}
	apply(t, state, cluster.Upsert(tolerant), cluster.Upsert(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "all"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &never, Selector: &metav1.LabelSelector{}},
	}))
	if view := state.Snapshot(query()); len(view.Snapshot.Pods) != 1 {
		t.Error("what tolerates the taint is not planned for")
	}
	first := node.DeepCopy()
	first.Labels = maps.Clone(first.Labels)
	delete(first.Labels, v1.NodePoolLabelKey)
	first.Labels["karpenter.sh/provisioner-name"] = "p"
	born := claim.DeepCopy()
	born.Labels = first.Labels
	apply(t, state, cluster.Upsert(first), cluster.Upsert(born))
	if view := state.Snapshot(query()); len(view.Snapshot.Pods) != 0 || !view.Nodes[0].Leaving {
		t.Errorf("what stays on a node of the first generation is planned for: %+v", view.Nodes[0])
	}
	state.Unmark("a")
	if view := state.Snapshot(query()); view.Nodes[0].Leaving || len(view.Snapshot.Pods) != 0 {
		t.Error("it is leaving though the mark was taken back")
	}
}

// PRV-026, DIS-005: a node that was ordered for pods is nominated for them once it is initialised, however long that took, and
// for the longest of the windows it was given. Its claim, and the node that joins, are one node in that.
func TestNominationOfANewNode(t *testing.T) {
	state := newState(t)
	claim, node := claimAndNode("a")
	claim.Status.ProviderID = ""
	apply(t, state, cluster.Assume(claim))
	if !state.NominateNew("a-claim", 20*time.Second) || !state.NominateNew("a-claim", time.Second) || state.NominateNew("nobody", time.Second) {
		t.Error("the claim is not found by its name, or one is that is not there")
	}
	if m := state.Node("a-claim"); !m.NominatedUntil.IsZero() {
		t.Errorf("nominated until %v before it is there", m.NominatedUntil)
	}
	launched := claim.DeepCopy()
	launched.Status.ProviderID = "a"
	young := node.DeepCopy()
	delete(young.Labels, v1.NodeInitializedLabelKey)
	apply(t, state, cluster.Upsert(launched), cluster.Upsert(young))
	ready := launched.DeepCopy()
	ready.Conditions().SetTrue(v1.ConditionInitialized, noon)
	apply(t, state, cluster.Upsert(node), cluster.Upsert(ready))
	for after, want := range map[time.Duration]bool{0: true, 19 * time.Second: true, 20 * time.Second: false} {
		if m := state.Node("a"); m.Nominated(noon.Add(after)) != want {
			t.Errorf("%s after its initialisation: nominated %v, want %v", after, !want, want)
		}
	}
	another := ready.DeepCopy()
	another.UID = "another"
	apply(t, state, cluster.Upsert(another))
	if m := state.Node("a"); m.Nominated(noon) {
		t.Error("another claim of the name inherits the nomination")
	}
}

// What no watch could bring is refused whole.
func TestBadEvents(t *testing.T) {
	state := newState(t)
	for name, bad := range map[string]cluster.Event{
		"nil": {}, "nil pod": cluster.Upsert((*corev1.Pod)(nil)), "no name": cluster.Upsert(&corev1.Pod{}), "another kind": cluster.Upsert(&corev1.Secret{ObjectMeta: named("s")}),
	} {
		var fault *cluster.EventError
		if err := state.Apply(cluster.Upsert(&corev1.Node{ObjectMeta: named("n")}), bad); !errors.As(err, &fault) || fault.Index != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if view := state.Snapshot(query()); len(view.Nodes) != 0 {
		t.Error("part of a refused call was taken in")
	}
}

// Events, snapshots and notes may come from anywhere at once; in the end nothing is left behind.
func TestConcurrentUseLeavesNothing(t *testing.T) {
	state := newState(t)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 200 {
				claim, node := claimAndNode(fmt.Sprintf("w%d-%d", worker, i))
				pod := build.Pod(node.Name, build.UID("pod-"+node.Name), build.On(node.Name))
				for _, e := range []cluster.Event{cluster.Upsert(pod), cluster.Upsert(claim), cluster.Upsert(node), cluster.Delete(claim), cluster.Delete(node), cluster.Delete(pod), cluster.Upsert(pod)} {
					if err := state.Apply(e); err != nil {
						t.Error(err)
					}
					if i%20 == worker {
						state.Mark(node.Name)
						state.Snapshot(cluster.Query{Time: noon, Catalogs: map[string][]*cloudprovider.InstanceType{"all": fake.GenericTypes(1)}})
					}
				}
			}
		}()
	}
	group.Wait()
	if view := state.Snapshot(query()); len(view.Nodes)+len(view.LeftOut)+len(view.Snapshot.Pods) != 0 {
		t.Errorf("left behind: %v %v", view.Nodes, view.LeftOut)
	}
}
