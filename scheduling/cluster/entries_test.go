package cluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// synced is a state that counts as complete from the start.
func synced(t *testing.T) *cluster.State {
	t.Helper()
	state, err := cluster.New(cluster.Options{Kinds: []cluster.Kind{}})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// PRV-020: of several objects with one provider ID the one that is not being deleted speaks for the node, else the newest, else
// the last by name; in whatever order they came. The others are left out and say for whom.
func TestWhoSpeaksForANode(t *testing.T) {
	made := func(name string, age time.Duration, deleting bool) *v1.NodeClaim {
		claim, _ := claimAndNode("m")
		claim.Name, claim.UID = name, "uid-of-"+claim.UID
		claim.CreationTimestamp = metav1.NewTime(noon.Add(-age))
		if deleting {
			claim.DeletionTimestamp = &metav1.Time{Time: noon}
		}
		return claim
	}
	for name, c := range map[string]struct{ speaks, other *v1.NodeClaim }{
		"the older, as the newer is being deleted": {made("a", time.Hour, false), made("b", 0, true)},
		"the newer":        {made("a", 0, false), made("b", time.Hour, false)},
		"the last by name": {made("b", time.Hour, false), made("a", time.Hour, false)},
	} {
		for _, order := range [][]*v1.NodeClaim{{c.speaks, c.other}, {c.other, c.speaks}} {
			state := synced(t)
			for _, claim := range order {
				apply(t, state, cluster.Upsert(claim))
			}
			view := state.Snapshot(query())
			if len(view.Nodes) != 1 || view.Nodes[0].Claim.Name != c.speaks.Name {
				t.Errorf("%s: nodes %+v, want one of claim %s", name, view.Nodes, c.speaks.Name)
			}
			if len(view.LeftOut) != 1 || view.LeftOut[0].Code != cluster.LeftOutSameProviderID || view.LeftOut[0].Object.Name != c.other.Name {
				t.Errorf("%s: left out %v, want %s", name, view.LeftOut, c.other.Name)
			}
		}
	}
}

// PRV-027: the revision moves when a node is initialised, and stays when nothing of what consolidation asks about has changed.
func TestRevisionMovesWithInitialization(t *testing.T) {
	state := synced(t)
	claim, node := claimAndNode("a")
	young := node.DeepCopy()
	delete(young.Labels, v1.NodeInitializedLabelKey)
	young.Labels[corev1.LabelInstanceTypeStable] = "m"
	apply(t, state, cluster.Upsert(claim), cluster.Upsert(young))
	before := state.Snapshot(query()).Revision
	noted := young.DeepCopy()
	noted.Annotations = map[string]string{"team": "blue"}
	apply(t, state, cluster.Upsert(noted))
	if after := state.Snapshot(query()).Revision; after != before {
		t.Errorf("revision %d after an annotation, want %d as before", after, before)
	}
	ready := noted.DeepCopy()
	ready.Labels[v1.NodeInitializedLabelKey] = "true"
	apply(t, state, cluster.Upsert(ready))
	if after := state.Snapshot(query()).Revision; after == before {
		t.Errorf("revision %d after its initialisation too", after)
	}
}

// PRV-083: pods of DaemonSets come and go with their node: they are no pod events of it.
func TestDaemonPodsAreNoPodEvents(t *testing.T) {
	state := synced(t)
	claim, node := claimAndNode("a")
	apply(t, state, cluster.Upsert(claim), cluster.Upsert(node))
	daemon := build.Pod("agent", build.On("a"))
	daemon.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "agent"}}
	apply(t, state, cluster.Upsert(daemon).At(noon))
	apply(t, state, cluster.Delete(daemon).At(noon.Add(time.Minute)))
	if got := state.Node("a").LastPodEvent; !got.IsZero() {
		t.Errorf("a pod event at %s", got)
	}
	web := build.Pod("web", build.On("a"))
	apply(t, state, cluster.Upsert(web).At(noon.Add(time.Hour)))
	if got := state.Node("a").LastPodEvent; !got.Equal(noon.Add(time.Hour)) {
		t.Errorf("the last pod event at %s, want when the other pod was bound", got)
	}
}

// API-009, API-011, API-220, API-262: a Machine and a NodeClaim of one name, of a Provisioner and a NodePool of one name, are two
// nodes of two pools, each with facts of its own.
func TestTwoGenerationsUnderOneName(t *testing.T) {
	state := synced(t)
	later := build.Claim("web-1", build.UID("later"), build.OfPool("web"))
	first := build.Claim("web-1", build.UID("first"), build.Labels("karpenter.sh/provisioner-name", "web"))
	v1.SetGenerationOf(first, v1.GenerationV1Alpha5)
	pools := []*v1.NodePool{build.Pool("web"), build.Pool("web")}
	v1.SetGenerationOf(pools[1], v1.GenerationV1Alpha5)
	apply(t, state, cluster.Upsert(later), cluster.Upsert(first), cluster.Upsert(pools[0]), cluster.Upsert(pools[1]))
	if !state.Mark(v1.QualifiedName(first)) || !state.NominateNew(v1.QualifiedName(first), time.Minute) {
		t.Fatal("the Machine is not found")
	}
	if m := state.Node("web-1"); m == nil || m.Claim.UID != "later" || m.Marked || m.Pool != v1.NewPoolKey("web") {
		t.Errorf("the NodeClaim's node is %+v", m)
	}
	if m := state.Node("v1alpha5/web-1"); m == nil || m.Claim.UID != "first" || !m.Marked || m.Pool != (v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "web"}) {
		t.Errorf("the Machine's node is %+v", m)
	}
	if n := len(state.NodePools()); n != 2 {
		t.Errorf("%d pools, want 2", n)
	}
	if n := len(state.Snapshot(query()).Snapshot.Nodes); n != 2 {
		t.Errorf("%d nodes in the snapshot, want 2", n)
	}
	apply(t, state, cluster.Delete(first))
	if state.Node("v1alpha5/web-1") != nil || state.Node("web-1") == nil {
		t.Error("not the Machine alone is gone")
	}
}
