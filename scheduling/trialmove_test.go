package scheduling_test

import (
	"errors"
	"testing"

	"github.com/drawknife/drawknife/scheduling"
)

// Put places pods of hidden nodes where it is told to, if they may go there.
func TestTrialPut(t *testing.T) {
	s := cluster(node("a", bound(pod("p"), pod("q", requests("cpu=3")))), node("b"), node("c", bound(pod("r", requests("cpu=3")))))
	trial := compile(t, s).Trial()
	key := func(name string) []scheduling.PodKey { return []scheduling.PodKey{{Namespace: "default", Name: name}} }
	if err := trial.Put("b", key("p")); err == nil {
		t.Error("a pod that does not wait was put")
	}
	mustHide(t, trial, "a")
	if err := trial.Put("c", key("q")); !errors.Is(err, scheduling.ErrNoPlace) {
		t.Errorf("a pod was put where it has no room: %v", err)
	}
	if err := trial.Put("b", key("q")); err != nil {
		t.Error(err)
	}
	if err := trial.Put("c", key("p")); err != nil {
		t.Error(err)
	}
	p := planOf(t, trial)
	wantPlace(t, p, "q", "on b")
	wantPlace(t, p, "p", "on c")
}
