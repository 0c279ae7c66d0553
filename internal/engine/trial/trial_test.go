package trial_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// Commit can't be rolled back, not even by chance: marks from before it are void for good.
func TestTrialCommit(t *testing.T) {
	all := []any{parts.Pod("w")}
	for _, name := range []string{"a", "b", "c", "d"} {
		all = append(all, parts.Node(name, parts.Bound(parts.Pod("p-"+name, parts.Requests("cpu=4")))))
	}
	trial := trialtest.New(parts.Compile(t, parts.Cluster(all...)).Engine())
	parts.MustHide(t, trial, "a")
	void := trial.Mark()
	parts.MustHide(t, trial, "b")
	trial.Commit()
	committed := parts.Text(t, parts.PlanOf(t, trial))
	parts.WantStale(t, trial, void)
	if diff := cmp.Diff(committed, parts.Text(t, parts.PlanOf(t, trial))); diff != "" {
		t.Errorf("a mark from before the commit undid something (-committed +rolled back):\n%s", diff)
	}
	parts.MustHide(t, trial, "c")
	parts.MustHide(t, trial, "d")
	after := parts.Text(t, parts.PlanOf(t, trial))
	parts.WantStale(t, trial, void)
	if diff := cmp.Diff(after, parts.Text(t, parts.PlanOf(t, trial))); diff != "" {
		t.Errorf("a mark from before the commit undid what came after it (-before +after):\n%s", diff)
	}
}

// What is done after a commit can be rolled back to the commit.
func TestTrialRollbackToCommit(t *testing.T) {
	trial := trialtest.New(parts.Compile(t, parts.Cluster(parts.Node("a", parts.Bound(parts.Pod("p-a"))), parts.Node("b", parts.Bound(parts.Pod("p-b"))))).Engine())
	parts.MustHide(t, trial, "a")
	trial.Commit()
	committed := parts.Text(t, parts.PlanOf(t, trial))
	mark := trial.Mark()
	parts.MustHide(t, trial, "b")
	parts.MustPlace(t, trial, scheduling.PlaceOptions{})
	parts.MustRollback(t, trial, mark)
	if diff := cmp.Diff(committed, parts.Text(t, parts.PlanOf(t, trial))); diff != "" {
		t.Errorf("(-committed +rolled back):\n%s", diff)
	}
}
