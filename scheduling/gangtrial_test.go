package scheduling_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// What a trial did with gangs is undone like all else, and done again the same way.
func TestTrialsWithGangsAreRolledBack(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		s.Gangs = randomGangs(t, s)
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		trial := m.Trial()
		waiting := trial.Waiting(1 << 20)
		mark := trial.Mark()
		var plans []string
		for range 2 {
			out, err := trial.Place(context.Background(), scheduling.PlaceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := trial.Plan(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if out.Unplaced != len(p.Unschedulable) || out.Placed != len(p.Order) {
				t.Errorf("%+v, and the plan places %d and leaves %d", out, len(p.Order), len(p.Unschedulable))
			}
			plans = append(plans, text(t, p))
			if err := trial.Rollback(mark); err != nil {
				t.Fatal(err)
			}
			if got := trial.Waiting(1 << 20); !slices.Equal(got, waiting) {
				t.Errorf("%v wait, and did before %v", got, waiting)
			}
		}
		if diff := cmp.Diff(plans[0], plans[1]); diff != "" {
			t.Errorf("the second time (-first +then):\n%s", diff)
		}
	})
}

// A caller that puts members where a plan has them answers for the gang.
func TestMembersArePut(t *testing.T) {
	list := pods("g", 4, requests("cpu=3", "memory=1Gi"))
	s := withGangs(cluster(list, node("n")), gangOf("g", list, together(zoneKey)))
	p := solve(t, s)
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	trial := m.Trial()
	if got := trial.Waiting(10); len(got) != 4 {
		t.Errorf("%v wait, want all four", got)
	}
	for i := range p.NewNodes {
		if err := trial.PutNew(&p.NewNodes[i]); err != nil {
			t.Error(err)
		}
	}
	for _, n := range p.Existing {
		if err := trial.Put(n.Name, n.Pods); err != nil {
			t.Error(err)
		}
	}
	again, err := trial.Plan(context.Background())
	if err != nil || len(again.Unschedulable) > 0 || again.Gangs[0].Placed != 4 || again.Gangs[0].Reason != nil {
		t.Errorf("%v: %+v", err, again.Gangs)
	}
}

// Each pod is known where members of a gang wait in another class than they have.
func TestMembersAreAssigned(t *testing.T) {
	list, single := pods("g", 2, requests("cpu=3", "memory=1Gi")), pods("s", 1, requests("cpu=3", "memory=1Gi"))
	s := withGangs(cluster(list, single, node("a"), node("b", nodeLabel(zoneKey, "b")), node("c", nodeLabel(zoneKey, "b")), nodePool("p", limit("cpu=0"))), gangOf("g", list, together(zoneKey)))
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(m.Engine())
	if _, err := trial.Place(context.Background(), scheduling.PlaceOptions{}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range trial.Assigned().Existing {
		got[n.Name] = n.Pods[0].Name[:1]
	}
	if diff := cmp.Diff(map[string]string{"a": "s", "b": "g", "c": "g"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// kube-scheduler preempts for pods of no gang only, also where members are like them.
func TestNobodyIsPreemptedForGangs(t *testing.T) {
	high := int32(10)
	urgent := func(p *corev1.Pod) { p.Spec.Priority = &high }
	list, single := pods("g", 2, requests("cpu=4", "memory=1Gi"), urgent), pods("s", 1, requests("cpu=4", "memory=1Gi"), urgent)
	full := node("n", bound(pods("old", 4)...))
	s := withGangs(cluster(list, single, full, nodePool("p", limit("cpu=0"))), gangOf("g", list))
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{Preemption: scheduling.PreemptionExpect})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Preemptions) != 1 || p.Preemptions[0].Pod.Name != "s-0" || len(p.Unschedulable) != 2 {
		t.Errorf("preemptions %v, without a place %+v", p.Preemptions, p.Unschedulable)
	}
}

// A clone knows which members wait, whatever becomes of them in the trial that it was made of.
func TestTrialsWithGangsAreCloned(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		s.Gangs = randomGangs(t, s)
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		place := func(trial *trialtest.Trial) string {
			if _, err := trial.Place(context.Background(), scheduling.PlaceOptions{}); err != nil {
				t.Fatal(err)
			}
			return text(t, planIn(t, trial))
		}
		trial := trialtest.New(m.Engine())
		before := trial.Clone()
		want := place(trial)
		after := trial.Clone()
		if diff := cmp.Diff(want, place(before)); diff != "" {
			t.Errorf("cloned before (-trial +clone):\n%s", diff)
		}
		if diff := cmp.Diff(want, text(t, planIn(t, after))); diff != "" {
			t.Errorf("cloned after (-trial +clone):\n%s", diff)
		}
		if diff := cmp.Diff(trial.Assigned(), after.Assigned()); diff != "" {
			t.Errorf("assigned (-trial +clone):\n%s", diff)
		}
	})
}

// Members that share a claim have a node together, or the gang has no place.
func TestGangsShareClaims(t *testing.T) {
	for cpu, want := range map[string]int{"1": 3, "50": 0} {
		list := pods("p", 3, requests("cpu="+cpu), claimsNamed("c"))
		s := withGangs(gpuCluster(list), gangOf("g", list))
		claimObject(s, "c", gpuRequest("r", 1))
		p := planDevices(t, s)
		if p.Gangs[0].Placed != want || len(p.Order) != want || want > 0 && len(p.NewNodes) != 1 || (p.Gangs[0].Reason == nil) != (want > 0) {
			t.Errorf("cpu %s: %+v on %d nodes, want %d placed", cpu, p.Gangs[0], len(p.NewNodes), want)
		}
	}
}
