package placing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// A closed node is named if it has room for a pod that waits; a full one, a hidden one and one that is not there are not.
func TestTrialTakersAmong(t *testing.T) {
	full := parts.Node("full", parts.Bound(parts.Pod("f", parts.Requests("cpu=4"))))
	trial := trialtest.New(parts.Compile(t, parts.Cluster(parts.Node("n", parts.Bound(parts.Pod("a"))), parts.Node("closed"), full, parts.Node("hidden"))).Engine())
	all := []string{"full", "closed", "hidden", "x"}
	if got := trial.TakersAmong(scheduling.Query{}, all, 0); len(got) > 0 {
		t.Errorf("%v, and no pod waits", got)
	}
	if err := trial.Close("closed"); err != nil {
		t.Fatal(err)
	}
	parts.MustHide(t, trial, "n")
	if diff := cmp.Diff([]string{"closed", "hidden"}, trial.TakersAmong(scheduling.Query{}, all, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"closed"}, trial.TakersAmong(scheduling.Query{}, all, 1)); diff != "" {
		t.Errorf("at most one (-want +got):\n%s", diff)
	}
	parts.MustHide(t, trial, "hidden")
	if diff := cmp.Diff([]string{"closed"}, trial.TakersAmong(scheduling.Query{}, all, 0)); diff != "" {
		t.Errorf("without the hidden one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"closed"}, trial.RoomyAmong(all)); diff != "" {
		t.Errorf("with room (-want +got):\n%s", diff)
	}
	if out := parts.MustPlace(t, trial, scheduling.PlaceOptions{ExistingOnly: true}); out.Placed != 0 {
		t.Errorf("%+v: asking has opened the node", out)
	}
}
