package requirements_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/requirements"
)

func TestSCH023OneRequirementPerKeyAndMissingReadsAsExists(t *testing.T) {
	s := requirements.NewSet(in("a", "b"), requirements.Exists("other"), in("b", "c"))
	if s.Len() != 2 {
		t.Fatalf("Len = %d, want 2: %s", s.Len(), s)
	}
	if got := s.Get(key); !got.Equal(in("b")) {
		t.Errorf("two requirements on one key: %s", got)
	}
	if got := s.With(notIn("b")).Get(key); !got.Equal(doesNotExist()) {
		t.Errorf("With did not intersect: %s", got)
	}
	if s.Has("missing") || !s.Has("other") {
		t.Errorf("Has: %s", s)
	}
	if got := s.Get("missing"); !got.Equal(requirements.Exists("missing")) {
		t.Errorf("a missing key reads as %s", got)
	}
}

func TestSetOperationsLeaveTheirOperandsAlone(t *testing.T) {
	s := requirements.NewSet(in("a", "b"), requirements.Exists("x"))
	before := s.String()
	_ = s.With(in("a"), requirements.Exists("y"))
	_ = s.Merge(requirements.NewSet(in("b")))
	_ = s.Without("x", key)
	if s.String() != before {
		t.Errorf("the set changed from {%s} to {%s}", before, s)
	}
	list := []requirements.Requirement{requirements.Exists("b"), requirements.Exists("a")}
	made := requirements.NewSet(list...)
	list[0], list[1] = requirements.In("c", "x"), requirements.In("d", "x")
	if got, want := made.String(), "a Exists; b Exists"; got != want {
		t.Errorf("changing the argument changed the set: {%s}", got)
	}
}

func TestWithout(t *testing.T) {
	s := requirements.NewSet(requirements.Exists("a"), requirements.Exists("b"), requirements.Exists("c"))
	if got, want := s.Without("b", "unknown").String(), "a Exists; c Exists"; got != want {
		t.Errorf("got {%s}, want {%s}", got, want)
	}
	if got := s.Without("a", "b", "c"); !got.Equal(requirements.Set{}) || got.Len() != 0 {
		t.Errorf("everything removed leaves {%s}", got)
	}
	if got := s.Without(); !got.Equal(s) {
		t.Errorf("nothing removed leaves {%s}", got)
	}
}

func TestKeysAndAllAreSorted(t *testing.T) {
	s := requirements.FromLabels(map[string]string{"c": "3", "a": "1", "b": "2"})
	if diff := cmp.Diff([]string{"a", "b", "c"}, s.Keys()); diff != "" {
		t.Errorf("Keys (-want +got):\n%s", diff)
	}
	var got []string
	for r := range s.All {
		got = append(got, r.String())
		if r.Key() == "b" {
			break
		}
	}
	if want := []string{"a In [1]", "b In [2]"}; !slices.Equal(got, want) {
		t.Errorf("All = %v, want %v", got, want)
	}
	if got := (requirements.Set{}).Keys(); got != nil {
		t.Errorf("Keys of the empty set = %v", got)
	}
}
