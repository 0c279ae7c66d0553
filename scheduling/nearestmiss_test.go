package scheduling_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// OPP-17: on random snapshots with one waiting pod each nearest miss is a cure, whatever else the snapshot has.
func TestNearestMissesAreTrue(t *testing.T) {
	seen, pairs := map[scheduling.MissCode]int{}, 0
	seeded.Check(t, func(rt *rapid.T) {
		s := randomSnapshot(rt)
		p := pod("p", randomSpec(rt)...)
		s.Pods = []*corev1.Pod{p}
		ruleRandomly(rt, s, p)
		model, err := scheduling.Compile(s)
		if err != nil {
			rt.Skip("not a snapshot")
		}
		plan, err := model.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			rt.Fatal(err)
		}
		if len(plan.Unschedulable) == 0 {
			return
		}
		for _, r := range plan.Unschedulable[0].Reasons {
			miss := r.NearestMiss
			if r.Code == scheduling.ReasonNotPlaced {
				rt.Fatalf("%s", r)
			}
			lower := func(m *scheduling.NearestMiss) bool { return m != nil && strings.HasPrefix(string(m.Code), "Resource") }
			if miss == nil || (len(p.Spec.InitContainers) > 0 && (lower(miss) || lower(miss.Also))) {
				continue // requests of several containers are more than one number
			}
			seen[miss.Code]++
			if miss.Also != nil {
				pairs++
			}
			values := miss.Values
			if len(values) == 0 {
				values = []string{""}
			}
			for _, value := range values {
				cured := copyOf(s)
				q := cure(rt, cured, r.Pool, miss, value, 0)
				model, err := scheduling.Compile(cured)
				if err != nil {
					rt.Fatalf("%s: %v", miss, err)
				}
				after, err := model.Solve(t.Context(), q)
				if err != nil {
					rt.Fatal(err)
				}
				if len(after.Unschedulable) > 0 {
					rt.Fatalf("%s: %s (value %q), but then %s", r, miss, value, after.Unschedulable[0].Reasons)
				}
			}
		}
	})
	t.Logf("misses seen: %v, %d of them two changes", seen, pairs)
}

// OPP-17: of several changes that would do, the nearest is named, and on what node it would put the pod.
func TestNearestMissOrder(t *testing.T) {
	p := solve(t, cluster(catalogue(), pod("p", requests("cpu=5"), selector(archKey+"=arm64"))))
	want := &scheduling.NearestMiss{
		Code: scheduling.MissLabel, Key: archKey, Values: []string{"amd64"},
		InstanceType: &scheduling.InstanceTypeOption{Name: "large", Zone: "a", CapacityType: "spot", Price: 0.16},
	}
	if diff := cmp.Diff(want, reasonsOf(t, p, "p")[0].NearestMiss); diff != "" {
		t.Errorf("allowing another architecture comes before a smaller request (-want +got):\n%s", diff)
	}
}
