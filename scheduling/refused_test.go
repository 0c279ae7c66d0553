package scheduling_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// SCH-156: no pod is refused for which a pool has a node that each check passes, whatever rules its pods and those of
// others state.
func TestRefusedPodsHaveAReason(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		s := randomSnapshot(rt)
		for _, p := range s.Pods {
			if chance(rt, 5) {
				ruleRandomly(rt, s, p)
			}
		}
		m, err := scheduling.Compile(s)
		if err != nil {
			rt.Fatal(err)
		}
		plan, err := m.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			rt.Fatal(err)
		}
		for _, u := range plan.Unschedulable {
			for _, r := range u.Reasons {
				if r.Code == scheduling.ReasonNotPlaced || r.String() == "" {
					rt.Fatalf("pod %s: %s", u.Pod, r)
				}
			}
		}
	})
}

// ruleRandomly gives the pods random labels and the waiting one a random rule.
func ruleRandomly(t *rapid.T, s *scheduling.Snapshot, p *corev1.Pod) {
	for i := range s.Nodes {
		for _, b := range s.Nodes[i].Pods {
			labelled(oneOf(t, "w", "v"))(b)
			if chance(t, 2) {
				awayFrom(oneOf(t, zoneKey, corev1.LabelHostname), oneOf(t, "w", "v"))(b)
			}
		}
	}
	for _, d := range s.DaemonSets {
		if chance(t, 3) {
			onHostPort(80)(&corev1.Pod{Spec: d.Spec.Template.Spec})
		}
	}
	key, app := oneOf(t, zoneKey, zoneKey, capacityKey, corev1.LabelHostname, "team"), oneOf(t, "w", "v")
	labelled(oneOf(t, "w", "v"))(p)
	switch number(t, 0, 6) {
	case 0, 1:
		spreadBy(key, int32(number(t, 1, 2)), app)(p)
	case 2:
		awayFrom(key, app)(p)
	case 3:
		closeTo(key, app)(p)
	case 4:
		onHostPort(80)(p)
	}
}

func copyOf(s *scheduling.Snapshot) *scheduling.Snapshot {
	out := &scheduling.Snapshot{}
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		panic(err)
	}
	return out
}
