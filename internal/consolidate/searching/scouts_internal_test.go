package searching

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/consolidate/waves"
	"github.com/drawknife/drawknife/internal/workload"
)

// refiningSearch is a search that begins to refine what it has found, with scouts.
func refiningSearch(t *testing.T, fleet workload.Fleet) *Search {
	t.Helper()
	f, err := survey.Of(survey.Input{View: survey.ViewOf(fleet.Snapshot())})
	if err != nil {
		t.Fatal(err)
	}
	times := waves.Times{Launch: 3 * time.Minute, Ready: time.Minute}
	start, err := searchcontext.New(t.Context(), searchcontext.Settings{Times: times}, f, searchcontext.Known{})
	if err != nil {
		t.Fatal(err)
	}
	planner := &Planner{start, Settings{
		Limits:    removing.Limits{MaxMembers: 16, MaxMerged: 100, MaxNewNodes: 32, DrainLimit: time.Hour},
		Terms:     paying.Terms{PayBack: 2 * time.Hour, MinSavingShare: 0.15, DisruptionPrice: 0.002, Launch: times.Launch},
		Reference: &reference.Options{SpotToSpot: true, SpotToSpotTypes: 15}, Work: 60_000, Parallelism: 3,
	}}
	s, err := planner.search(t.Context(), strategy{roomWeight: 600})
	if err != nil {
		t.Fatal(err)
	}
	s.scouts = newScouts(s)
	s.Refining, s.Strict = true, true
	s.follow(usual())
	if err := s.release(); err != nil {
		t.Fatal(err)
	}
	return s
}

// What scouts find to come to nothing comes to nothing in the search, for the same reason and with as much work, before and after steps.
func TestScoutsFindWhatTheSearchWould(t *testing.T) {
	for _, fleet := range []workload.Fleet{{Nodes: 30, Fill: 0.4, Seed: 3}, {Nodes: 30, Fill: 0.5, Mixed: true, Seed: 4}} {
		s := refiningSearch(t, fleet)
		found, steps := 0, len(s.steps)
		for round := range 3 {
			for _, list := range []series{&rebuilt{list: s.free()}, &singly{s.free(), removing.UseRoom}, &drawnGroups{list: s.free()}} {
				look := lookahead{s: s, rest: list, failed: failuresAlone}
				for taken := false; ; {
					group, finding, more := look.next(t.Context(), taken)
					if !more {
						break
					}
					before, work := len(s.steps), s.Work
					s.Withheld = false
					why, err := s.attempt(t.Context(), removing.Consolidating(group.group, group.where))
					if err != nil {
						t.Fatal(err)
					}
					if taken = len(s.steps) > before; finding != nil {
						found++
						if taken || s.Work-work != 1+finding.Work || s.Withheld != finding.Withheld || !cmp.Equal(why, finding.why) {
							t.Errorf("%+v: a scout found %v with %d what-ifs, withheld %v; the search %v with %d, %v",
								fleet, finding.why, finding.Work, finding.Withheld, why, s.Work-work-1, s.Withheld)
						}
					}
					look.came(taken)
				}
				s.scouts.rest()
			}
			if err := s.release(); err != nil {
				t.Fatal(err)
			}
			s.strategy.roomWeight = int64(1000 - 300*round)
		}
		t.Logf("%d groups were found to come to nothing by scouts, %d steps", found, len(s.steps)-steps)
		if found < 50 || len(s.steps) == steps {
			t.Errorf("%+v: scouts found %d groups to come to nothing, and %d steps were made: the fleet shows nothing", fleet, found, len(s.steps)-steps)
		}
	}
}
