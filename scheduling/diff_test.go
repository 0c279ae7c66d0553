package scheduling_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

func keys(names ...string) []scheduling.PodKey {
	out := make([]scheduling.PodKey, len(names))
	for i, n := range names {
		out[i] = scheduling.PodKey{Namespace: "default", Name: n}
	}
	return out
}

func launched(instanceType, zone string, pods ...string) scheduling.NewNode {
	return scheduling.NewNode{
		Name: "default-" + pods[0], Pool: v1.NewPoolKey("default"), Pods: keys(pods...),
		InstanceTypes: []scheduling.InstanceTypeOption{{Name: instanceType, Zone: zone, CapacityType: "spot", Price: 0.1}, {Name: "other", Zone: "z"}},
	}
}

func refused(names ...string) []scheduling.Unschedulable {
	var out []scheduling.Unschedulable
	for _, key := range keys(names...) {
		out = append(out, scheduling.Unschedulable{Pod: key})
	}
	return out
}

func kind(instanceType, zone string) *scheduling.NodeKind {
	return &scheduling.NodeKind{Pool: v1.NewPoolKey("default"), InstanceType: instanceType, Zone: zone, CapacityType: "spot"}
}

func move(name string, from, to planning.Place) planning.PodMove {
	return planning.PodMove{Pod: keys(name)[0], From: from, To: to}
}

// OPP-17: what becomes of nodes, pods and wishes from one plan to another.
func TestDiff(t *testing.T) {
	onA, onB := planning.Place{Node: "a"}, planning.Place{Node: "b"}
	small, large := planning.Place{New: kind("small", "a")}, planning.Place{New: kind("large", "a")}
	type plan = scheduling.Plan
	for _, c := range []struct {
		name string
		a, b *plan
		want scheduling.PlanDiff
	}{
		{"nothing", nil, &plan{}, scheduling.PlanDiff{}},
		{"cost and bound", &plan{HourlyCost: 1, LowerBound: 0.5}, &plan{HourlyCost: 2, LowerBound: 1.5},
			scheduling.PlanDiff{HourlyCost: planning.AmountChange{Before: 1, After: 2}, LowerBound: planning.AmountChange{Before: 0.5, After: 1.5}}},
		{"nodes added, removed and more of them",
			&plan{NewNodes: []scheduling.NewNode{launched("small", "a", "p"), launched("small", "b", "q")}},
			&plan{NewNodes: []scheduling.NewNode{launched("small", "b", "q"), launched("small", "b", "r"), launched("large", "a", "p")}},
			scheduling.PlanDiff{
				NewNodes: []planning.NodeChange{
					{NodeKind: *kind("large", "a"), After: 1}, {NodeKind: *kind("small", "a"), Before: 1}, {NodeKind: *kind("small", "b"), Before: 1, After: 2},
				},
				Moved:  []planning.PodMove{move("p", small, large)},
				Placed: []planning.PodMove{move("r", planning.Place{}, planning.Place{New: kind("small", "b")})},
			}},
		{"nodes of one kind are alike",
			&plan{NewNodes: []scheduling.NewNode{launched("small", "a", "p", "q"), launched("small", "a", "r")}},
			&plan{NewNodes: []scheduling.NewNode{launched("small", "a", "r", "q"), launched("small", "a", "p")}}, scheduling.PlanDiff{}},
		{"pods between nodes that are there and new ones",
			&plan{Existing: []scheduling.ExistingNode{{Name: "a", Pods: keys("stays", "p", "q")}}},
			&plan{Existing: []scheduling.ExistingNode{{Name: "a", Pods: keys("stays")}, {Name: "b", Pods: keys("p")}}, NewNodes: []scheduling.NewNode{launched("small", "a", "q")}},
			scheduling.PlanDiff{
				NewNodes: []planning.NodeChange{{NodeKind: *kind("small", "a"), After: 1}},
				Moved:    []planning.PodMove{move("p", onA, onB), move("q", onA, small)},
			}},
		{"pods placed, unplaced, new and gone",
			&plan{Existing: []scheduling.ExistingNode{{Name: "a", Pods: keys("loses", "leaves")}}, Unschedulable: refused("wins", "waits", "given up")},
			&plan{Existing: []scheduling.ExistingNode{{Name: "a", Pods: keys("wins")}}, Unschedulable: refused("waits", "loses", "new")},
			scheduling.PlanDiff{
				Placed:   []planning.PodMove{move("wins", planning.Place{}, onA)},
				Unplaced: []planning.PodMove{move("loses", onA, planning.Place{}), move("new", planning.Place{}, planning.Place{})},
				Gone:     []planning.PodMove{move("given up", planning.Place{}, planning.Place{}), move("leaves", onA, planning.Place{})},
			}},
		{"wishes",
			&plan{Relaxations: []scheduling.Relaxation{{Code: "ScheduleAnyway", Detail: "x", Pods: keys("q", "p")}, {Code: "PreferredPodAffinity", Detail: "y", Pods: keys("p")}}},
			&plan{Relaxations: []scheduling.Relaxation{{Code: "ScheduleAnyway", Detail: "x", Pods: keys("s", "q", "r")}}},
			scheduling.PlanDiff{
				GivenUp: []scheduling.Relaxation{{Code: "ScheduleAnyway", Detail: "x", Pods: keys("r", "s")}},
				Kept:    []scheduling.Relaxation{{Code: "PreferredPodAffinity", Detail: "y", Pods: keys("p")}, {Code: "ScheduleAnyway", Detail: "x", Pods: keys("p")}},
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := scheduling.Diff(c.a, c.b)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if same := cmp.Equal(c.want, scheduling.PlanDiff{}); got.IsZero() != same {
				t.Errorf("IsZero %v, want %v", got.IsZero(), same)
			}
			data, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var read scheduling.PlanDiff
			if err := json.Unmarshal(data, &read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, read); diff != "" {
				t.Errorf("written and read again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffString(t *testing.T) {
	a := &scheduling.Plan{
		HourlyCost: 0.2, LowerBound: 0.1, NewNodes: []scheduling.NewNode{launched("small", "a", "p1", "p2", "p3", "p4"), launched("small", "a", "x")},
		Existing: []scheduling.ExistingNode{{Name: "n", Pods: keys("gone")}}, Unschedulable: refused("waits"),
		Relaxations: []scheduling.Relaxation{{Code: "ScheduleAnyway", Detail: "maxSkew 1 by zone", Pods: keys("x")}},
	}
	b := &scheduling.Plan{
		HourlyCost: 0.4, LowerBound: 0.1, NewNodes: []scheduling.NewNode{launched("large", "a", "p1", "p2", "p3", "p4")},
		Existing: []scheduling.ExistingNode{{Name: "n", Pods: keys("waits")}}, Unschedulable: refused("x"),
		Relaxations: []scheduling.Relaxation{{Code: "PreferNoScheduleTaint", Detail: "a=:PreferNoSchedule", Pods: keys("waits")}},
	}
	want := `                      BEFORE  AFTER   CHANGE
USD per hour          0.2000  0.4000  +0.2000
lower bound           0.1000  0.1000  +0.0000
default large/a/spot  0       1       +1
default small/a/spot  2       0       -2
moved from new default small/a/spot to new default large/a/spot: 4 (default/p1, default/p2, default/p3, and 1 more)
placed on node n: 1 (default/waits)
unplaced from new default small/a/spot: 1 (default/x)
gone from node n: 1 (default/gone)
given up: PreferNoScheduleTaint a=:PreferNoSchedule: 1 (default/waits)
not given up any more: ScheduleAnyway maxSkew 1 by zone: 1 (default/x)
`
	if diff := cmp.Diff(want, scheduling.Diff(a, b).String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := scheduling.Diff(a, a).String(); got != "no difference\n" {
		t.Errorf("a plan and itself: %q", got)
	}
}

// OPP-17: a difference read backwards is that of the plans the other way round, and a plan does not differ from itself;
// each pod is in one list at most.
func TestDiffProperties(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		s := randomSnapshot(rt)
		plan := func(s *scheduling.Snapshot) *scheduling.Plan {
			m, err := scheduling.Compile(s)
			if err != nil {
				rt.Fatal(err)
			}
			p, err := m.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				rt.Fatal(err)
			}
			return p
		}
		a := plan(s)
		other := *s
		other.Pods = s.Pods[:len(s.Pods)/2]
		if len(s.NodePools) > 0 {
			other.NodePools = s.NodePools[1:]
		}
		b := plan(&other)
		if d := scheduling.Diff(a, a); !d.IsZero() {
			rt.Fatalf("a plan differs from itself: %s", d)
		}
		there, back := scheduling.Diff(a, b), scheduling.Diff(b, a)
		if len(there.Moved) != len(back.Moved) || len(there.GivenUp) != len(back.Kept) || len(there.NewNodes) != len(back.NewNodes) {
			rt.Fatalf("there:\n%s\nand back:\n%s", there, back)
		}
		seen := map[scheduling.PodKey]bool{}
		for _, m := range slices.Concat(there.Moved, there.Placed, there.Unplaced, there.Gone) {
			if seen[m.Pod] {
				rt.Fatalf("pod %s twice:\n%s", m.Pod, there)
			}
			seen[m.Pod] = true
		}
		if again := scheduling.Diff(a, b).String(); again != there.String() {
			rt.Fatalf("first:\n%s\nthen:\n%s", there, again)
		}
	})
}

// What would change without the larger nodes is told by two plans.
func ExampleDiff() {
	plan := func(s *scheduling.Snapshot) *scheduling.Plan {
		model, err := scheduling.Compile(s)
		if err != nil {
			log.Fatal(err)
		}
		plan, err := model.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			log.Fatal(err)
		}
		return plan
	}
	now, then := exampleSnapshot(), exampleSnapshot()
	then.Catalogs["all"] = then.Catalogs["all"][:1]
	fmt.Print(scheduling.Diff(plan(now), plan(then)))
	// Output:
	//                                    BEFORE  AFTER   CHANGE
	// USD per hour                       0.1900  0.2000  +0.0100
	// lower bound                        0.1900  0.2000  +0.0100
	// default m.large/zone-a/on-demand   0       2       +2
	// default m.xlarge/zone-a/on-demand  1       0       -1
	// moved from new default m.xlarge/zone-a/on-demand to new default m.large/zone-a/on-demand: 2 (default/web-0, default/web-1)
}

// A refused pod is told what would help: here less of a resource.
func ExampleNearestMiss() {
	model, err := scheduling.Compile(exampleSnapshot())
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	for _, pod := range plan.Unschedulable {
		reason := pod.Reasons[0]
		fmt.Println(reason)
		fmt.Printf("%s %s: on %s\n", pod.Pod, reason.NearestMiss, reason.NearestMiss.InstanceType.Name)
	}
	// Output:
	// incompatible with nodepool "default", no instance type fits: of 3, 3 are too small for cpu 16, memory 8Gi
	// default/batch would fit if it asked for 8 less cpu: on m.2xlarge
}
