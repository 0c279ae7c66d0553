package sighting_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/consolidate/sighting"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/fleettest"
)

// fleet has two nodes and a pod that waits. Each call makes objects of its own.
func fleet() *fleettest.Fleet {
	f := fleettest.New()
	f.Node("a", "c4", fleettest.Pods("p", 2, "1")...)
	f.Node("b", "c4", fleettest.Pods("q", 2, "1")...)
	f.Snapshot.Pods = []*corev1.Pod{build.Pod("waits", build.CPU("1"))}
	return f
}

// What a plan depends on makes another fleet, and whether it is the world, or which nodes changed, is told; what every write changes does
// not.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		name        string
		change      func(*fleettest.Fleet)
		same, world bool
		changed     []string
	}{
		{"nothing", func(*fleettest.Fleet) {}, true, true, nil},
		{"resource versions", func(f *fleettest.Fleet) {
			for i := range f.Snapshot.Nodes {
				n := &f.Snapshot.Nodes[i]
				n.Object.ResourceVersion, n.Claim.ResourceVersion, n.Pods[0].ResourceVersion, f.Pool.ResourceVersion = "7", "7", "7", "7"
				n.Object.ManagedFields, n.Object.Generation = []metav1.ManagedFieldsEntry{{Manager: "x"}}, 3
			}
		}, true, true, nil},
		{"a heartbeat", func(f *fleettest.Fleet) {
			f.Snapshot.Nodes[0].Object.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(fleettest.Now())
		}, true, true, nil},
		{"images", func(f *fleettest.Fleet) {
			f.Snapshot.Nodes[0].Object.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}}
		}, true, true, nil},
		{"the time", func(f *fleettest.Fleet) { f.Snapshot.Time = f.Snapshot.Time.Add(time.Second) }, true, true, nil},
		{"a label of a node", func(f *fleettest.Fleet) { f.Snapshot.Nodes[1].Object.Labels["x"] = "y" }, false, true, []string{"b"}},
		{"a taint", func(f *fleettest.Fleet) { f.Snapshot.Nodes[0].Object.Spec.Taints = []corev1.Taint{build.Taint("x")} }, false, true, []string{"a"}},
		{"a node that is not ready", func(f *fleettest.Fleet) {
			f.Snapshot.Nodes[0].Object.Status.Conditions[0].Status = corev1.ConditionFalse
		}, false, true, []string{"a"}},
		{"a pod's requests", func(f *fleettest.Fleet) {
			f.Snapshot.Nodes[1].Pods[0].Spec.Containers[0].Resources.Requests = build.Amounts("cpu", "2")
		}, false, true, []string{"b"}},
		{"a pod more", func(f *fleettest.Fleet) {
			n := &f.Snapshot.Nodes[1]
			n.Pods = append(n.Pods, build.Pod("more", build.On("b")))
		}, false, true, []string{"b"}},
		{"a node that leaves", func(f *fleettest.Fleet) { f.Snapshot.Nodes[0].Leaving = true }, false, true, []string{"a"}},
		{"a node more", func(f *fleettest.Fleet) { f.Node("c", "c4") }, false, true, []string{"c"}},
		{"a pod that waits", func(f *fleettest.Fleet) { f.Snapshot.Pods = append(f.Snapshot.Pods, build.Pod("too")) }, false, true, nil},
		{"a PodDisruptionBudget", func(f *fleettest.Fleet) { f.Budget("p", 1) }, false, true, nil},
		{"a budget", func(f *fleettest.Fleet) {
			f.Input.Budgets = []decision.Budget{{Name: "x", Unit: decision.UnitNodes, Amount: 1}}
		}, false, true, nil},
		{"a command", func(f *fleettest.Fleet) { f.Input.Executing = map[string]string{"a": "command"} }, false, true, nil},
		{"a refusal", func(f *fleettest.Fleet) {
			f.Input.Refusals = &survey.Refusals{}
			f.Input.Refusals.ClosePool(fleettest.Default(), "x", fleettest.Now().Add(time.Hour))
		}, false, true, nil},
		{"a pool's policy", func(f *fleettest.Fleet) {
			f.Pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
		}, false, false, nil},
		{"a price", func(f *fleettest.Fleet) { f.Type("c4").Offerings[0].Price = 0.3 }, false, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fleet()
			after := fleet()
			after.Snapshot.Vocabulary = before.Snapshot.Vocabulary
			c.change(after)
			a, b := sighting.See(before.Survey(t)), sighting.See(after.Survey(t))
			if got := a.Same(&b); got != c.same {
				t.Errorf("the same fleet: %v, want %v", got, c.same)
			}
			if got := a.SameWorld(&b); got != c.world {
				t.Errorf("the same world: %v, want %v", got, c.world)
			}
			changed := a.Changed(&b)
			for _, name := range []string{"a", "b", "c"} {
				if changed[name] != slices.Contains(c.changed, name) {
					t.Errorf("%s has changed: %v, want %v", name, changed[name], c.changed)
				}
			}
		})
	}
}

// A pod that waited and is gone has given up, unless it is on a node that changed.
func TestGaveUp(t *testing.T) {
	before := fleet()
	a := sighting.See(before.Survey(t))
	for _, c := range []struct {
		name   string
		change func(*fleettest.Fleet)
		want   int
	}{
		{"it waits", func(*fleettest.Fleet) {}, 0},
		{"it is gone", func(f *fleettest.Fleet) { f.Snapshot.Pods = nil }, 1},
		{"it is a placeholder", func(f *fleettest.Fleet) { f.Snapshot.Placeholders, f.Snapshot.Pods = f.Snapshot.Pods, nil }, 0},
		{"it was bound", func(f *fleettest.Fleet) {
			n := &f.Snapshot.Nodes[0]
			n.Pods, f.Snapshot.Pods = append(n.Pods, build.Pod("waits", build.CPU("1"), build.On("a"))), nil
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := fleet()
			c.change(after)
			b := sighting.See(after.Survey(t))
			if got := a.GaveUp(&b, a.Changed(&b)); got != c.want {
				t.Errorf("%d gave up, want %d", got, c.want)
			}
		})
	}
}
