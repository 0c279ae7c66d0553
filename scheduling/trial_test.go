package scheduling_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/scheduling"
)

// Hiding a node makes its pods wait; those of DaemonSets and static pods go with it.
func TestTrialHide(t *testing.T) {
	set := daemonSet("d", []string{"cpu=100m"})
	static := pod("static")
	static.OwnerReferences = ownerNode()
	n := node("n", bound(pod("a"), pod("b", requests("cpu=500m")), pod("d-1", ownedBy(set), requests("cpu=100m")), static))
	trial := compile(t, cluster(set, n, node("m"), pod("w"))).Trial()
	if got := mustHide(t, trial, "n"); got != 2 {
		t.Errorf("%d pods wait, want 2", got)
	}
	out := mustPlace(t, trial, scheduling.PlaceOptions{ExistingOnly: true})
	if want := (scheduling.Outcome{Placed: 3}); out != want {
		t.Errorf("outcome %+v, want %+v", out, want)
	}
	p := planOf(t, trial)
	for _, name := range []string{"a", "b", "w"} {
		wantPlace(t, p, name, "on m")
	}
}

func TestTrialHideRefuses(t *testing.T) {
	trial := compile(t, cluster(node("n", bound(pod("a"))))).Trial()
	before := text(t, planOf(t, trial))
	if _, err := trial.Hide("x"); err == nil {
		t.Error("a node that is not there was hidden")
	}
	if after := text(t, planOf(t, trial)); after != before {
		t.Error("the refusal changed the trial")
	}
	mustHide(t, trial, "n")
	if _, err := trial.Hide("n"); err == nil {
		t.Error("a node was hidden twice")
	}
}

// ExistingOnly adds no nodes; without it what has no room gets new ones, whose cost the outcome says.
func TestTrialPlaceOptions(t *testing.T) {
	trial := compile(t, cluster(node("n"), pods("p", 6))).Trial()
	if out, want := mustPlace(t, trial, scheduling.PlaceOptions{ExistingOnly: true}), (scheduling.Outcome{Placed: 4, Unplaced: 2}); out != want {
		t.Errorf("existing only: %+v, want %+v", out, want)
	}
	out := mustPlace(t, trial, scheduling.PlaceOptions{})
	if want := (scheduling.Outcome{Placed: 2, NewNodes: 1, NewCost: 0.04}); out != want {
		t.Errorf("then: %+v, want %+v", out, want)
	}
	if out, want := mustPlace(t, trial, scheduling.PlaceOptions{}), (scheduling.Outcome{}); out != want {
		t.Errorf("with nothing left to do: %+v, want %+v", out, want)
	}
}

// A node of a limited pool makes room in the limit when it is hidden.
func TestTrialHideFreesLimits(t *testing.T) {
	s := cluster(nodePool("default", limit("nodes=1")), node("n", ofPool("default"), bound(pod("a", requests("cpu=4")))))
	trial := compile(t, s).Trial()
	mark := trial.Mark()
	mustHide(t, trial, "n")
	if out := mustPlace(t, trial, scheduling.PlaceOptions{}); out.NewNodes != 1 || out.Unplaced != 0 {
		t.Errorf("outcome %+v, want one node in the place of the hidden one", out)
	}
	mustRollback(t, trial, mark)
	if diff := cmp.Diff(text(t, planOf(t, compile(t, s).Trial())), text(t, planOf(t, trial))); diff != "" {
		t.Errorf("after rollback (-fresh +rolled back):\n%s", diff)
	}
}

// Pods that the trial itself put on a node can't stay on it once it is hidden.
func TestTrialHideAfterPlace(t *testing.T) {
	s := cluster(node("n"), pod("p"))
	trial := compile(t, s).Trial()
	mustPlace(t, trial, scheduling.PlaceOptions{})
	wantPlace(t, planOf(t, trial), "p", "on n")
	mark := trial.Mark()
	mustHide(t, trial, "n")
	mustPlace(t, trial, scheduling.PlaceOptions{})
	wantPlace(t, planOf(t, trial), "p", "new small/a/spot")
	mustRollback(t, trial, mark)
	wantPlace(t, planOf(t, trial), "p", "on n")
}

// A mark is good until something before it is undone, also if as much is done again; it is of one trial.
func TestTrialStaleMarks(t *testing.T) {
	model := compile(t, cluster(node("a", bound(pod("p-a"))), node("b", bound(pod("p-b"))), node("c", bound(pod("p-c")))))
	trial := model.Trial()
	start := trial.Mark()
	mustHide(t, trial, "a")
	afterA := trial.Mark()
	mustHide(t, trial, "b")
	afterB := trial.Mark()
	mustRollback(t, trial, afterB) // nothing to undo
	mustRollback(t, trial, afterA)
	wantStale(t, trial, afterB)
	mustHide(t, trial, "c")
	afterC := trial.Mark()
	wantStale(t, trial, afterB)
	mustRollback(t, trial, afterC)
	mustRollback(t, trial, afterA)
	mustRollback(t, trial, start)
	for _, m := range []scheduling.Mark{afterA, afterB, afterC, {}, model.Trial().Mark()} {
		wantStale(t, trial, m)
	}
	mustRollback(t, trial, start)
	if out := mustPlace(t, trial, scheduling.PlaceOptions{}); out != (scheduling.Outcome{}) {
		t.Errorf("%+v: some pods were waiting", out)
	}
}

// A clone goes on by itself, and what it finds can be put in the trial that it was made of.
func TestTrialClone(t *testing.T) {
	trial := compile(t, cluster(node("n", bound(pods("p", 3)...)), node("full", bound(pods("q", 3)...)))).Trial()
	mustHide(t, trial, "n")
	clone := trial.Clone()
	mustPlace(t, clone, scheduling.PlaceOptions{})
	if n := len(trial.Waiting(10)); n != 3 {
		t.Fatalf("%d pods wait where nothing was placed, want 3", n)
	}
	found := clone.Placed()
	if len(found.Existing) != 1 || len(found.NewNodes) != 1 {
		t.Fatalf("on %v, new %v: want a node of each", found.Existing, found.NewNodes)
	}
	for _, e := range found.Existing {
		if err := trial.Put(e.Name, e.Pods); err != nil {
			t.Error(err)
		}
	}
	for i := range found.NewNodes {
		if err := trial.PutNew(&found.NewNodes[i]); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(text(t, planOf(t, clone)), text(t, planOf(t, trial))); diff != "" {
		t.Errorf("(-clone +trial):\n%s", diff)
	}
	if err := trial.Rollback(clone.Mark()); !errors.Is(err, scheduling.ErrStaleMark) {
		t.Errorf("a mark of the clone: %v, want ErrStaleMark", err)
	}
}
