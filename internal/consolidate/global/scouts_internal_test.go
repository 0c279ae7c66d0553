package global

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/workload"
)

// refiningSearch is a search that begins to refine what it has found, with scouts.
func refiningSearch(t *testing.T, fleet workload.Fleet) *search {
	t.Helper()
	f, err := survey.Of(survey.Input{View: survey.ViewOf(fleet.Snapshot())})
	if err != nil {
		t.Fatal(err)
	}
	planner := &Options{
		PayBack: 2 * time.Hour, MinSavingShare: 0.15, DisruptionPrice: 0.002, SpotToSpot: true, SpotToSpotTypes: 15, MaxMembers: 16, MaxMerged: 100,
		MaxBins: 32, Work: 60_000, Parallelism: 3, LaunchTime: 3 * time.Minute, ReadyTime: time.Minute, DrainLimit: time.Hour,
	}
	g, err := planner.newContext(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.search(t.Context(), way{theta: 600})
	if err != nil {
		t.Fatal(err)
	}
	s.scouts = s.newScouts()
	s.refining, s.strict, s.way = true, true, way{theta: 1000}
	if err := s.release(); err != nil {
		t.Fatal(err)
	}
	return s
}

// What scouts find in vain the search finds to be in vain, for the same reason and with as much work, before and after steps.
func TestScoutsFindWhatTheSearchWould(t *testing.T) {
	for _, fleet := range []workload.Fleet{{Nodes: 30, Fill: 0.4, Seed: 3}, {Nodes: 30, Fill: 0.5, Mixed: true, Seed: 4}} {
		s := refiningSearch(t, fleet)
		found, steps := 0, len(s.steps)
		for lap := range 3 {
			for _, list := range []series{&rebuilt{list: s.free()}, &singly{s.free(), useRoom}, &drawnGroups{list: s.free()}} {
				look := lookahead{s: s, rest: list, vain: vainAlone}
				for taken := false; ; {
					group, finding, more := look.next(t.Context(), taken)
					if !more {
						break
					}
					before, work := len(s.steps), s.work
					s.withheld = false
					why, err := s.attempt(t.Context(), methodFor(group.group), group.group, group.where)
					if err != nil {
						t.Fatal(err)
					}
					if taken = len(s.steps) > before; finding != nil {
						found++
						if taken || s.work-work != 1+finding.work || s.withheld != finding.withheld || !cmp.Equal(why, finding.why) {
							t.Errorf("%+v: a scout found %v with %d what-ifs, withheld %v; the search %v with %d, %v",
								fleet, finding.why, finding.work, finding.withheld, why, s.work-work-1, s.withheld)
						}
					}
					look.came(taken)
				}
				s.scouts.rest()
			}
			if err := s.release(); err != nil {
				t.Fatal(err)
			}
			s.way.theta = int64(1000 - 300*lap)
		}
		t.Logf("%d groups were found to be in vain by scouts, %d steps", found, len(s.steps)-steps)
		if found < 50 || len(s.steps) == steps {
			t.Errorf("%+v: scouts found %d groups to be in vain, and %d steps were made: the fleet shows nothing", fleet, found, len(s.steps)-steps)
		}
	}
}
