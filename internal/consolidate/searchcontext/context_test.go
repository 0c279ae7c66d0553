package searchcontext_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/fleettest"
)

// Pods that would go with the node don't move; the others do, and each PodDisruptionBudget says how long its share takes at least.
func TestPodMoves(t *testing.T) {
	f := fleettest.New()
	agent := build.Pod("agent", build.CPU("100m"), build.OwnedBy("apps/v1", "DaemonSet", "agent"))
	f.Node("a", "c8", slices.Concat([]*corev1.Pod{agent}, fleettest.Pods("p", 3, "1"), fleettest.Pods("q", 2, "1"), fleettest.Pods("r", 1, "1"))...)
	f.Budget("p", 1)
	f.Budget("q", 2)
	x := f.Context(t)
	c := fleettest.Candidates(t, x, "a")[0]
	if len(c.Moving) != 6 || c.Moves(agent) || !c.Moves(c.Moving[0]) {
		t.Errorf("%d pods move, the agent: %v", len(c.Moving), c.Moves(agent))
	}
	if c.Drain != 3*time.Minute || len(c.Evictions) != 2 || c.Evictions[0].Budget.Name != "p" || c.Evictions[0].Pods != 3 || c.Evictions[1].Pods != 2 {
		t.Errorf("a drain of %v for %+v, want 3 minutes", c.Drain, c.Evictions)
	}
	if e := c.Longest(x.Times); e.Budget.Name != "p" || e.Allowed != 1 {
		t.Errorf("%+v takes longest, want p", e)
	}
	if same := c.PodMoves; !c.Same(&same) {
		t.Error("moves are not the same as themselves")
	}
}

// A node cools down after it came up, and after pods of its owners were moved elsewhere, unless it must go.
func TestCoolDown(t *testing.T) {
	initialized := func(ago time.Duration) func(*fleettest.Fleet) {
		return func(f *fleettest.Fleet) {
			f.Snapshot.Nodes[0].Claim.Conditions().SetTrue(v1.ConditionLaunched, fleettest.Now().Add(-ago))
			for i := range f.Snapshot.Nodes[0].Claim.Status.Conditions {
				f.Snapshot.Nodes[0].Claim.Status.Conditions[i].LastTransitionTime = metav1.NewTime(fleettest.Now().Add(-ago))
			}
		}
	}
	moved := func(owner types.UID, ago time.Duration) func(*fleettest.Fleet) {
		return func(f *fleettest.Fleet) {
			f.Input.History = []decision.Disruption{{Time: fleettest.Now().Add(-ago), Owners: []types.UID{owner}}}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*fleettest.Fleet)
		until  time.Duration // from now; 0 for not at all
	}{
		{"an old node", initialized(time.Hour), 0},
		{"a new one", initialized(4 * time.Minute), 6 * time.Minute},
		{"its pods were moved", moved("uid-p", time.Minute), 9 * time.Minute},
		{"long ago", moved("uid-p", 10*time.Minute), 0},
		{"others were moved", moved("uid-q", time.Minute), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fleettest.New()
			f.Node("a", "c4", fleettest.Pods("p", 1, "1")...)
			c.change(f)
			x := f.ContextWith(t, searchcontext.Settings{Times: fleettest.Times(), CoolDown: 10 * time.Minute})
			why := fleettest.Candidates(t, x, "a")[0].Blocked
			if c.until == 0 && why != nil || c.until > 0 && (why == nil || why.Code != decision.BlockCoolDown || !why.Until.Equal(fleettest.Now().Add(c.until))) {
				t.Errorf("blocked: %v, want for %v", why, c.until)
			}
			x = f.ContextWith(t, searchcontext.Settings{Times: fleettest.Times()})
			if why := fleettest.Candidates(t, x, "a")[0].Blocked; why != nil {
				t.Errorf("without a cool-down: %v", why)
			}
		})
	}
}

// A node that has drifted, or that expires soon, must go.
func TestDue(t *testing.T) {
	f := fleettest.New()
	for _, name := range []string{"soon", "later", "drifted"} {
		f.Node(name, "c4", fleettest.Pods(name, 1, "1")...)
	}
	expire := func(i int, after time.Duration) {
		d, err := v1.ParseNillableDuration(after.String())
		if err != nil {
			t.Fatal(err)
		}
		f.Snapshot.Nodes[i].Claim.Spec.ExpireAfter = d
	}
	expire(0, 24*time.Hour+5*time.Minute)
	expire(1, 25*time.Hour)
	f.Snapshot.Nodes[2].Claim.Conditions().Set(v1.ConditionDrifted, metav1.ConditionTrue, "x", "x", fleettest.Now().Add(-time.Minute))
	x := f.ContextWith(t, searchcontext.Settings{Times: fleettest.Times(), ExpireAhead: 10 * time.Minute})
	for i, want := range []bool{true, false, true} {
		c := fleettest.Candidates(t, x, []string{"soon", "later", "drifted"}[i])[0]
		if c.Due != want || c.Drifts != (i == 2) {
			t.Errorf("%s must go: %v, drifts: %v", c.Name, c.Due, c.Drifts)
		}
	}
}

// Nodes that stay take pods first, then those whose pods are worth most for their price, and last those that must go.
func TestRank(t *testing.T) {
	f := fleettest.New()
	f.Node("due", "c4", fleettest.Pods("a", 1, "1")...)
	f.Node("poor", "c4", fleettest.Pods("e", 1, "1")...)
	f.Node("full", "c4", fleettest.Pods("b", 3, "1")...)
	f.Node("half", "c4", fleettest.Pods("c", 2, "1")...)
	f.Node("kept", "c4", fleettest.Pods("d", 1, "1")...)
	f.Snapshot.Nodes[0].Claim.Conditions().Set(v1.ConditionDrifted, metav1.ConditionTrue, "x", "x", fleettest.Now().Add(-time.Minute))
	f.Snapshot.Nodes[4].Object.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	x := f.Context(t)
	if got := x.Rank(func(c *searchcontext.Candidate) int64 { return int64(len(c.Moving)) - 1 }); !slices.Equal(got, []string{"kept", "full", "half", "poor", "due"}) {
		t.Errorf("in the order %v", got)
	}
}

// On a trial, pods that wait have the places that there are, and pods without one keep nobody from going.
func TestBegin(t *testing.T) {
	f := fleettest.New()
	f.Node("a", "c4", fleettest.Pods("p", 1, "1")...)
	f.Snapshot.Pods = []*corev1.Pod{build.Pod("fits", build.CPU("2")), build.Pod("waits", build.CPU("3"))}
	on, err := f.Context(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := on.Waiting(9); len(got) != 0 || len(on.S.Placed.All) != 1 {
		t.Errorf("%v wait, and %d kinds of pods have places, want none and one", got, len(on.S.Placed.All))
	}
}

// A group is what its members are together.
func TestGroups(t *testing.T) {
	there := &searchcontext.Candidate{NanoPrice: money.NanoUSD(0.2)}
	planned := &searchcontext.Candidate{NanoPrice: money.NanoUSD(0.1), Planned: true, Due: true}
	both := []*searchcontext.Candidate{planned, there}
	if got := searchcontext.Existing(both); !slices.Equal(got, both[1:]) || both[0] != planned {
		t.Errorf("%d exist", len(got))
	}
	if got := searchcontext.PriceOf(both); got != money.NanoUSD(0.3) {
		t.Errorf("together they cost %g", money.USD(got))
	}
	if !searchcontext.AnyDue(both) || searchcontext.AnyDue(both[1:]) {
		t.Error("which group has to go is not told")
	}
	if searchcontext.MethodFor(both) != decision.MethodMultiNode || searchcontext.MethodFor(both[:1]) != decision.MethodSingleNode {
		t.Error("the methods are mixed up")
	}
}

// Nodes bought alike are alike whatever their names; another zone, price or pool is another likeness.
func TestLikeness(t *testing.T) {
	f := fleettest.New()
	f.Node("a", "c4", fleettest.Pods("p", 1, "1")...)
	f.Node("b", "c4", fleettest.Pods("q", 1, "2")...)
	f.Node("c", "c8", fleettest.Pods("r", 1, "1")...)
	n := f.Node("d", "c4", fleettest.Pods("s", 1, "1")...)
	n.Object.Labels[corev1.LabelTopologyZone] = "b"
	x := f.Context(t)
	of := map[string]uint64{}
	for _, c := range x.Candidates {
		of[c.Name] = c.Likeness
	}
	if of["a"] != of["b"] || of["a"] == of["c"] || of["a"] == of["d"] {
		t.Errorf("likenesses %v", of)
	}
}
