package provisioning_test

import (
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// The gangs of one parent are launched as one group: none of them is of use without the others. One that the parent is complete without is a group of
// its own.
func TestDecideGroupsGangsOfOneParent(t *testing.T) {
	for _, spare := range []bool{false, true} {
		s := gangSnapshot(build.Pod("a-0", build.CPU("6")), build.Pod("a-1", build.CPU("6")), build.Pod("b-0", build.CPU("6")), build.Pod("b-1", build.CPU("6")))
		s.Gangs = []scheduling.Gang{gangOf("a", "a-0", "a-1"), gangOf("b", "b-0", "b-1")}
		s.Gangs[0].Parent, s.Gangs[1].Parent, s.Gangs[1].Spare = "all", "all", spare
		want := 4
		if spare {
			want = 2
		}
		launches := decide(t, s).Launches
		if len(launches) != 4 {
			t.Fatalf("spare %v: %d launches", spare, len(launches))
		}
		for _, l := range launches {
			if group, ok := v1.LaunchGroupOf(l.Claim); !ok || group.Claims != want {
				t.Errorf("spare %v: a group of %d claims, want %d", spare, group.Claims, want)
			}
		}
	}
}
