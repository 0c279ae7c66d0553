package state_test

import (
	"slices"
	"testing"

	"github.com/drawknife/drawknife/internal/engine/state"
)

// A gang's pods wait as its way says; what was placed of them stays placed when it goes another way, and all is undone.
func TestWays(t *testing.T) {
	w, free := world()
	var s state.State
	s.Begin(w, free, nil)
	want := func(when string, ways []int32, waiting ...int32) {
		t.Helper()
		if !slices.Equal(s.Waiting, waiting) || !slices.Equal(s.Ways, ways) {
			t.Errorf("%s: %v wait in ways %v, want %v in %v", when, s.Waiting, s.Ways, waiting, ways)
		}
	}
	want("at first", []int32{0}, 1, 1, 1)
	start := s.Log.Now()
	state.ChoosingOf(&s).Choose(0, 1)
	want("withheld", []int32{1}, 0, 1, 1)
	state.ChoosingOf(&s).Choose(0, 2)
	want("of another class", []int32{2}, 0, 2, 1)
	aside := state.ChoosingOf(&s).SetAside([]int32{0, 2})
	want("alone", []int32{2}, 0, 2, 0)
	state.ChoosingOf(&s).TakeBack(aside)
	before := see(&s)
	mark := s.Log.Now()
	s.Place(state.Binding{Class: 1, Host: 0, Count: 2, Stage: -1})
	state.ChoosingOf(&s).Choose(0, 0)
	if _, _, apart := s.Log.ApartSince(mark, len(s.Planned), len(s.Placed.All)); apart {
		t.Error("a gang goes another way, and that is apart")
	}
	s.Undo(mark)
	if after := see(&s); !equal(before, after) {
		t.Errorf("before %+v, after %+v", before, after)
	}
	s.Undo(start)
	want("undone", []int32{0}, 1, 1, 1)
}
