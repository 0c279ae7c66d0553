package gangs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// kin are gangs of the groups left and right of "all", which is complete without the group right; left is complete without its last gang. The last
// gang of all has no parent.
func kin() []*planning.Gang {
	in := func(parent string, spare, spareGroup bool) *planning.Gang {
		return &planning.Gang{Parent: parent, Shared: 2, Spare: spare, Ancestors: []planning.GangAncestor{{Name: "all", Shared: 1, Spare: spareGroup}}}
	}
	return []*planning.Gang{
		in("right", false, true), in("left", false, false), in("left", true, false), in("left", false, false), in("right", false, true),
		{Parent: "all", Shared: 1}, {},
	}
}

// Families are what is placed all or none; each comes after the one that is complete without it.
func TestFamilies(t *testing.T) {
	families, of := gangs.Families(kin(), []int32{0, 1, 2, 3, 4, 5, 6})
	want := []gangs.Family{
		{Needed: []int32{1, 3, 5}, Within: -1, Spare: []int32{1, 2}}, {Needed: []int32{0, 4}, Within: 0}, {Needed: []int32{2}, Within: 0},
	}
	if diff := cmp.Diff(want, families); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{1, 0, 2, 0, 1, 0, -1}, of); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Groups begin with the outermost; each gang is in those of its parent and ancestors.
func TestGroups(t *testing.T) {
	groups, of := gangs.Groups(kin())
	want := []gangs.Group{
		{Name: "all", Shared: 1, Members: []int{0, 1, 2, 3, 4, 5}}, {Name: "right", Shared: 2, Members: []int{0, 4}}, {Name: "left", Shared: 2, Members: []int{1, 2, 3}},
	}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]int{{0, 1}, {0, 2}, {0, 2}, {0, 2}, {0, 1}, {0}, nil}, of); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Gangs of one group follow each other, the largest group first, and in it the largest gang.
func TestLargestFirst(t *testing.T) {
	if diff := cmp.Diff([]int{3, 1, 2, 0, 4, 5, 6}, gangs.LargestFirst(kin(), []int{2, 1, 1, 3, 2, 3, 1})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
