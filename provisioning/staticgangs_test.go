package provisioning_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// A static pool with fewer replicas gives back nodes without gangs first, then those of whole gangs, and breaks as few as it can.
func TestStaticPoolsKeepGangs(t *testing.T) {
	list := []provisioning.StaticClaim{}
	add := func(name string, pods ...*corev1.Pod) {
		list = append(list, provisioning.StaticClaim{Claim: staticClaim(name, launchedAt(start)), Pods: pods})
	}
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	add("a-0", drainPod("a-0"))
	add("a-1", drainPod("a-1"))
	add("a-2", drainPod("a-2"))
	add("b-0", drainPod("b-0"), drainPod("other"))
	add("b-1", drainPod("b-1"))
	add("c-0", drainPod("c-0"), drainPod("d-0"))
	add("c-1", drainPod("c-1"))
	add("d-1", drainPod("d-1", doNotDisrupt("true")))
	add("dear", drainPod("p"), drainPod("q"), drainPod("r"))
	add("done", drainPod("e-0", ended), drainPod("s"))
	add("protected", drainPod("t", doNotDisrupt("true")))
	gang := func(name string, members ...string) scheduling.Gang {
		g := scheduling.Gang{Namespace: "default", Name: name}
		for _, m := range members {
			g.Members = append(g.Members, scheduling.PodKey{Namespace: "default", Name: m})
		}
		return g
	}
	gangs := []scheduling.Gang{
		gang("a", "a-0", "a-1", "a-2", "not-there"), gang("b", "b-0", "b-1"), gang("c", "c-0", "c-1"), gang("d", "d-0", "d-1"), gang("e", "e-0", "e-1"),
	}
	single := slices.Clone(gangs)
	for i := range single {
		single[i].DisruptionMode = planning.GangDisruptedSingly
	}
	for _, c := range []struct {
		name  string
		gangs []scheduling.Gang
		n     int64
		want  []string
	}{
		{"nodes without gangs, also where a member has ended", gangs, 2, []string{"done", "dear"}},
		{"a gang in part, the cheapest", gangs, 3, []string{"done", "dear", "a-0"}},
		{"the gang that goes whole", gangs, 4, []string{"done", "dear", "b-1", "b-0"}},
		{"the larger one of those that go whole", gangs, 5, []string{"done", "dear", "a-0", "a-1", "a-2"}},
		{"all gangs that nothing protects", gangs, 7, []string{"done", "dear", "a-0", "a-1", "a-2", "b-1", "b-0"}},
		{"a gang that shares a node with a protected one comes last", gangs, 10, []string{"done", "dear", "a-0", "a-1", "a-2", "b-1", "b-0", "protected", "c-1", "c-0"}},
		{"members that are moved one by one", single, 3, []string{"a-0", "a-1", "a-2"}},
		{"no gangs are known", nil, 3, []string{"a-0", "a-1", "a-2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := provisioning.StaticState{Pool: staticPool(int64(len(list)) - c.n), Claims: list, Gangs: c.gangs}
			step, err := provisioning.ScaleStatic(s, nodeclaims.Options{}, at(60))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range step.Deletions {
				got = append(got, d.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			slices.Reverse(s.Claims)
			again, err := provisioning.ScaleStatic(s, nodeclaims.Options{}, at(60))
			if diff := cmp.Diff(step.Deletions, again.Deletions); diff != "" || err != nil {
				t.Errorf("in another order, %v:\n%s", err, diff)
			}
		})
	}
}
