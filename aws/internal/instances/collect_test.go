package instances_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
)

// AWN-310, AWI-208, AWI-209: which instances belong to nobody.
func TestNext(t *testing.T) {
	now := time.Unix(1.8e9, 0)
	old := now.Add(-time.Minute)
	instance := func(id, uid string, launched time.Time, state string) instances.Instance {
		return instances.Instance{ID: id, State: state, LaunchTime: launched, Zone: "a", Tags: map[string]string{launch.TagNodeClaimUID: uid}}
	}
	claims := []instances.ClaimRef{{UID: "u1", ProviderID: "aws:///a/i-1"}, {UID: "u2"}, {UID: "u3", ProviderID: "nonsense"}}
	for name, c := range map[string]struct {
		instance instances.Instance
		orphan   bool
	}{
		"its claim names it":                       {instance("i-1", "u1", old, "running"), false},
		"its claim names another":                  {instance("i-9", "u1", old, "running"), true},
		"its claim names none yet":                 {instance("i-2", "u2", old, "running"), false},
		"its claim is gone":                        {instance("i-3", "u9", old, "running"), true},
		"no claim known by tag":                    {instance("i-4", "", old, "running"), true},
		"too young":                                {instance("i-5", "u9", now.Add(-instances.CollectAfter), "pending"), false},
		"just old enough":                          {instance("i-6", "u9", now.Add(-instances.CollectAfter-1), "pending"), true},
		"ending already":                           {instance("i-7", "u9", old, "shutting-down"), false},
		"its claim names something unintelligible": {instance("i-8", "u3", old, "running"), false},
	} {
		d := instances.Next([]instances.Instance{c.instance}, claims, 0, now)
		if len(d.Terminate) == 1 != c.orphan {
			t.Errorf("%s: to be ended are %v", name, d.Terminate)
		}
	}
}

// AWN-310, AWI-208: the first rounds come soon.
func TestNextRounds(t *testing.T) {
	for rounds, want := range map[int]time.Duration{0: 10 * time.Second, 18: 10 * time.Second, 19: 2 * time.Minute, 1000: 2 * time.Minute} {
		if got := instances.Next(nil, nil, rounds, time.Time{}).RequeueAfter; got != want {
			t.Errorf("after %d rounds: %s, want %s", rounds, got, want)
		}
	}
}

// AWI-208: many at once, merged; what is gone already is fine, what fails is told.
func TestCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		var d instances.Decision
		for i := range 250 {
			id := fmt.Sprintf("i-%03d", i)
			if i != 7 {
				a.add(id, "running")
			}
			d.Terminate = append(d.Terminate, instances.Instance{ID: id, Zone: "a"})
		}
		a.add("i-keep", "running", "protected", "")
		d.Terminate = append(d.Terminate, instances.Instance{ID: "i-keep", Zone: "a"})
		gone, err := client(t, a).Collect(t.Context(), d)
		if err == nil || len(gone) != 250 || slices.Contains(gone, "aws:///a/i-keep") || !slices.Contains(gone, "aws:///a/i-007") {
			t.Errorf("%d are gone, %v", len(gone), err)
		}
		if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != 1 {
			t.Errorf("got %v, want the one failure", errors.Unwrap(err))
		}
	})
}
