package match

import (
	"testing"

	"github.com/drawknife/drawknife/api/requirements"
)

// SCH-120: a spread takes notice of a node whose label is not decided yet if each value that it may get will do.
func TestLabelsThatAreSureToMeet(t *testing.T) {
	const key = "team"
	in, notIn := requirements.In(key, "a", "b"), requirements.NotIn(key, "a")
	for _, c := range []struct {
		name string
		have requirements.Set
		want requirements.Requirement
		sure bool
	}{
		{"one of two is there", requirements.NewSet(in), requirements.Exists(key), true},
		{"one of two is among three", requirements.NewSet(in), requirements.In(key, "a", "b", "c"), true},
		{"one of two may be the other", requirements.NewSet(in), requirements.In(key, "a"), false},
		{"one of two may be the one excluded", requirements.NewSet(in), notIn, false},
		{"one of two is not a third", requirements.NewSet(in), requirements.NotIn(key, "c"), true},
		{"one of two is not absent", requirements.NewSet(in), requirements.DoesNotExist(key), false},
		{"any value is there", requirements.NewSet(requirements.Exists(key)), requirements.Exists(key), true},
		{"any value may be another", requirements.NewSet(requirements.Exists(key)), in, false},
		{"any value may be the one excluded", requirements.NewSet(requirements.Exists(key)), notIn, false},
		{"what is excluded may be absent", requirements.NewSet(notIn), requirements.Exists(key), false},
		{"what is excluded is excluded", requirements.NewSet(notIn), notIn, true},
		{"what is excluded may be another", requirements.NewSet(notIn), requirements.NotIn(key, "b"), false},
		{"absent is not there", requirements.Set{}, requirements.Exists(key), false},
		{"absent is none of these", requirements.Set{}, notIn, true},
		{"absent for sure", requirements.NewSet(requirements.DoesNotExist(key)), requirements.DoesNotExist(key), true},
		{"a number above", requirements.NewSet(requirements.In(key, "6", "7")), requirements.Gt(key, 5), true},
		{"a number that may be below", requirements.NewSet(requirements.In(key, "6", "7")), requirements.Gt(key, 6), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Ensures(c.have, c.want); got != c.sure {
				t.Errorf("%v makes sure of %v: %v, want %v", c.have, c.want, got, c.sure)
			}
		})
	}
}
