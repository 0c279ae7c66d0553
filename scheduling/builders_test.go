package scheduling_test

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

func startupTaints(texts ...string) poolOption {
	return func(np *scheduling.NodePool) { np.Object.Spec.Template.Spec.StartupTaints = taints(texts...) }
}

func catalogOf(name string) poolOption {
	return func(np *scheduling.NodePool) { np.Catalog = name }
}

func bornIn(g v1.Generation) poolOption {
	return func(np *scheduling.NodePool) { np.Key.Generation = g }
}

func leaving(n *scheduling.Node) { n.Leaving = true }

// solve plans the snapshot; a fault in the plan that the independent validator finds fails the test.
func solve(t testing.TB, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	checkPlan(t, s, p)
	return p
}

// newNodeOf is the new node that holds the pod.
func newNodeOf(t testing.TB, p *scheduling.Plan, name string) *scheduling.NewNode {
	t.Helper()
	for i := range p.NewNodes {
		if slices.Contains(p.NewNodes[i].Pods, scheduling.PodKey{Namespace: "default", Name: name}) {
			return &p.NewNodes[i]
		}
	}
	t.Fatalf("pod %s is not on a new node, but %s", name, place(p, name))
	return nil
}

// reasonsOf are the sentences about a pod that was not placed.
func reasonsOf(t testing.TB, p *scheduling.Plan, name string) []scheduling.Reason {
	t.Helper()
	for _, u := range p.Unschedulable {
		if u.Pod.Name == name {
			return u.Reasons
		}
	}
	t.Fatalf("pod %s is not unschedulable, but %s", name, place(p, name))
	return nil
}

// wantReason fails the test unless the pod was refused for the single reason of that text, the one about existing nodes
// aside.
func wantReason(t testing.TB, p *scheduling.Plan, name, want string) {
	t.Helper()
	got := slices.Clone(reasonsOf(t, p, name))
	if last := len(got) - 1; last > 0 && got[last].Code == scheduling.ReasonExistingNodes {
		got = got[:last]
	}
	if len(got) != 1 || got[0].String() != want {
		t.Errorf("pod %s: %q, want %q", name, got, want)
	}
}

// ownerNode makes a pod a static one.
func ownerNode() []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "node-n", Controller: &yes}}
}
