package launching_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// New nodes of a trial can be given up again, and filled up; who went where is told by who was hidden with whom.
func TestTrialNewNodes(t *testing.T) {
	s := parts.Cluster(parts.Node("a", parts.Bound(parts.Pod("a-0", parts.Requests("cpu=1")))), parts.Node("b", parts.Bound(parts.Pod("b-0", parts.Requests("cpu=1")))), parts.Node("c", parts.Bound(parts.Pod("c-0", parts.Requests("cpu=1")))))
	model := parts.Compile(t, s)
	trial := trialtest.New(model.Engine())
	worth, err := valuing.FindWorth(t.Context(), model.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	launch := func(name string) {
		t.Helper()
		parts.MustHide(t, trial, name)
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
	parts.MustHide(t, trial, "c")
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
	parts.MustRollback(t, trial, mark)
	if got := said(); got != before {
		t.Errorf("rolled back: %s, want %s", got, before)
	}
}
