package scheduling_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// New nodes of a trial can be given up again, and filled up; who went where is told by who was hidden with whom.
func TestTrialNewNodes(t *testing.T) {
	s := cluster(node("a", bound(pod("a-0", requests("cpu=1")))), node("b", bound(pod("b-0", requests("cpu=1")))), node("c", bound(pod("c-0", requests("cpu=1")))))
	model := compile(t, s)
	trial := trialtest.New(model.Engine())
	worth, err := valuing.FindWorth(t.Context(), model.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	launch := func(name string) {
		t.Helper()
		mustHide(t, trial, name)
		if _, ok := trial.Launch(scheduling.Query{}, 1e6); !ok {
			t.Fatalf("no new node for the pods of %s", name)
		}
	}
	launch("a")
	launch("b")
	if n, filled := trial.NewNodes(), trial.Filled(0); n != 2 || !slices.Equal(filled, []int{0, 1}) {
		t.Fatalf("%d new nodes, %v with pods", n, filled)
	}
	if _, planned := worth.Loads(trial.Trial); len(planned) != 2 || planned[0].Pods != 1 || planned[1].Pods != 1 {
		t.Errorf("loads %+v", planned)
	}
	said := func() string {
		a := trial.Assigned()
		return fmt.Sprint(a.Existing, a.Planned)
	}
	before, mark := said(), trial.Mark()
	if want := "[] [[default/a-0] [default/b-0]]"; before != want {
		t.Errorf("%s, want %s", before, want)
	}
	if pods, err := trial.Drop(0); err != nil || pods != 1 {
		t.Fatalf("%d pods wait, %v", pods, err)
	}
	for _, number := range []int{-1, 0, 2} {
		if _, err := trial.Drop(number); err == nil {
			t.Errorf("new node %d was dropped", number)
		}
	}
	mustHide(t, trial, "c")
	trial.Fill(scheduling.Query{})
	if grown, filled := trial.Grown(mark), trial.Filled(0); !slices.Equal(grown, []int{1}) || !slices.Equal(filled, []int{1}) {
		t.Errorf("%v grew, %v have pods: %s", grown, filled, said())
	}
	a := trial.Assigned()
	if planned := a.Planned; planned[1][0].Name != "b-0" || planned[1][1].Name != "a-0" {
		t.Errorf("%s, want b-0 first and then a-0, which waited longer than c-0", said())
	}
	if from := a.PlannedFrom[1]; !slices.Equal(a.Hidden, []string{"a", "b", "c"}) || !slices.Equal(from, []int32{1, 0}) || a.PlannedFrom[0] != nil {
		t.Errorf("pods from %v of %v", a.PlannedFrom, a.Hidden)
	}
	mustRollback(t, trial, mark)
	if got := said(); got != before {
		t.Errorf("rolled back: %s, want %s", got, before)
	}
}

// RequestedTogether is what pods of several nodes ask for, and Roomiest the nodes with most free of a resource.
func TestModelSumsAndRooms(t *testing.T) {
	m := compile(t, cluster(node("a", allocatable("cpu=4"), bound(pod("p", requests("cpu=1")), pod("q", requests("cpu=500m")))),
		node("b", allocatable("cpu=6"), bound(pod("r", requests("cpu=2")))), node("c", allocatable("cpu=9"), bound(pod("s", requests("cpu=9"))))))
	all := m.Engine().RequestedTogether([]string{"a", "x", "b"}, func(at int, p *corev1.Pod) bool { return at == 2 || p.Name == "q" })
	if cpu, pods := all.Cpu().String(), all.Pods().String(); cpu != "2500m" || pods != "2" {
		t.Errorf("%s cores of %s pods", cpu, pods)
	}
	rooms := m.Engine().Roomiest(corev1.ResourceCPU)
	if rooms[0].Node != "b" || rooms[0].Free.String() != "4" || rooms[1].Node != "a" || rooms[1].Free.String() != "2500m" {
		t.Errorf("most room: %+v", rooms)
	}
	if none := m.Engine().Roomiest("example.com/none"); none[0].Node != "" || none[1].Node != "" {
		t.Errorf("room for what no node has: %+v", none)
	}
}

// Requested is what those pods ask for that are to move.
func TestModelRequested(t *testing.T) {
	m := compile(t, cluster(node("a", bound(pod("p", requests("cpu=1")), pod("q", requests("cpu=500m")))))).Engine()
	all := m.Requested("a", func(p *corev1.Pod) bool { return p.Name == "q" })
	if cpu, pods := all.Cpu().String(), all.Pods().String(); cpu != "500m" || pods != "1" {
		t.Errorf("%s cores of %s pods", cpu, pods)
	}
	if got := m.Requested("x", nil); got != nil {
		t.Errorf("of a node that is not there: %v", got)
	}
}

// What a plan costs at least is that of the pods that have new nodes, not of those whose node was dropped.
func TestTrialDropForgetsWhatPodsWouldCost(t *testing.T) {
	trial := trialtest.New(compile(t, cluster(pods("p", 3, requests("cpu=3")))).Engine())
	mustPlace(t, trial, scheduling.PlaceOptions{})
	planOf(t, trial)
	if _, err := trial.Drop(0); err != nil {
		t.Fatal(err)
	}
	if p := planOf(t, trial); p.LowerBound > p.HourlyCost+1e-9 {
		t.Errorf("nodes for %.4f USD/h are said to cost %.4f at least", p.HourlyCost, p.LowerBound)
	}
}
