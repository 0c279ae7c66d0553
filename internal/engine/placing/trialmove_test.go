package placing_test

import (
	"slices"
	"testing"

	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// Move uses the nodes that Rank names, in its order, and no others.
func TestTrialMoveByRank(t *testing.T) {
	s := parts.Cluster(parts.Node("a", parts.Bound(parts.Pod("p"))), parts.Node("b"), parts.Node("c"), parts.Node("d"))
	trial := trialtest.New(parts.Compile(t, s).Engine())
	if left := trial.Move(scheduling.Query{}); left != 0 {
		t.Errorf("%d pods wait before anything is hidden", left)
	}
	if err := trial.Rank([]string{"c", "b", "a"}); err != nil {
		t.Fatal(err)
	}
	mark := trial.Mark()
	parts.MustHide(t, trial, "a")
	if left := trial.Move(scheduling.Query{}); left != 0 {
		t.Fatalf("%d pods wait", left)
	}
	parts.WantPlace(t, parts.PlanOf(t, trial), "p", "on c")
	if got := trial.Receivers(mark); len(got) != 1 || got[0] != "c" {
		t.Errorf("receivers %v, want c", got)
	}
	parts.MustRollback(t, trial, mark)
	if err := trial.Close("c"); err != nil {
		t.Fatal(err)
	}
	parts.MustHide(t, trial, "a")
	trial.Move(scheduling.Query{})
	parts.WantPlace(t, parts.PlanOf(t, trial), "p", "on b")
	for _, order := range [][]string{{"x"}, {"a", "a"}} {
		if err := trial.Rank(order); err == nil {
			t.Errorf("order %v was taken", order)
		}
	}
}

// Put and PutNew place the snapshot's own waiting pods, too, and so does Scatter; Waiting names them after those of hidden nodes.
func TestTrialPutPodsThatWait(t *testing.T) {
	s := parts.Cluster(parts.NodePool("general"), parts.Node("a", parts.Bound(parts.Pod("p"))), parts.Node("b"), parts.Pod("w", parts.Requests("cpu=1500m", "memory=1Gi")), parts.Pod("x", parts.Requests("cpu=1100m", "memory=1Gi")))
	trial := trialtest.New(parts.Compile(t, s).Engine())
	parts.MustHide(t, trial, "a")
	waiting := func(want string) {
		t.Helper()
		if got := trial.Waiting(10); !slices.Equal(got, parts.KeysOf(want)) {
			t.Errorf("%v wait, want %s", got, want)
		}
	}
	waiting("p x w")
	if got := trial.Waiting(2); len(got) != 2 {
		t.Errorf("%v, want two", got)
	}
	if err := trial.Put("b", parts.KeysOf("w")); err != nil {
		t.Error(err)
	}
	if err := trial.Put("b", parts.KeysOf("w")); err == nil {
		t.Error("a pod was put twice")
	}
	waiting("p x")
	mark := trial.Mark()
	if left, err := trial.Scatter(parts.KeysOf("x p")); err != nil || len(left) > 0 {
		t.Errorf("scattered: %v left, %v", left, err)
	}
	waiting("")
	parts.MustRollback(t, trial, mark)
	waiting("p x")
	parts.MustHide(t, trial, "b")
	waiting("p x w")
}

// Expect makes room for pods and changes nothing else.
func TestTrialExpects(t *testing.T) {
	m := parts.Compile(t, parts.Cluster(parts.Node("a", parts.Bound(parts.Pods("p", 3, parts.Requests("cpu=1"))...)), parts.Node("b", parts.Allocatable("cpu=8", "memory=8Gi", "pods=10"))))
	trial := trialtest.New(m.Engine())
	trial.Expect(3)
	trial.Expect(-1)
	if err := trial.Rank([]string{"b"}); err != nil {
		t.Fatal(err)
	}
	mark := trial.Mark()
	parts.MustHide(t, trial, "a")
	if left := trial.Move(scheduling.Query{}); left != 0 {
		t.Errorf("%d pods wait", left)
	}
	parts.MustRollback(t, trial, mark)
	if got := parts.Text(t, trial.Placed()); got != parts.Text(t, trialtest.New(m.Engine()).Placed()) {
		t.Errorf("rolled back: %s", got)
	}
}
