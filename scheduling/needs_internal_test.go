package scheduling

import (
	"fmt"
	"slices"
	"testing"

	"github.com/drawknife/drawknife/api/requirements"
)

// SCH-120: a spread takes notice of a machine whose label is not decided yet if each value that it may get will do.
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
			if got := ensures(c.have, c.want); got != c.sure {
				t.Errorf("%v makes sure of %v: %v, want %v", c.have, c.want, got, c.sure)
			}
		})
	}
}

// A pod that names thousands of labels is explained by a few of them.
func TestFewLabelsAreLetOff(t *testing.T) {
	var list []requirements.Requirement
	for i := range 1000 {
		list = append(list, requirements.NotIn(fmt.Sprintf("a%03d", i), "x"))
	}
	n := newNeeds(list...)
	p := &pool{template: requirements.NewSet(requirements.In("a900", "y")), table: &table{catalog: &catalog{typeKeys: map[string]bool{"a950": false}, offeringKeys: map[string]bool{"a999": true}}}}
	x := &explainer{explanations: &explanations{}, m: &Model{}}
	got := x.deciding(p, n, n.keys())
	if len(got) != maxMissKeys || !slices.Equal(got[:4], []string{"a950", "a999", "a900", "a000"}) {
		t.Errorf("lets off %d keys, first %v", len(got), got[:min(len(got), 4)])
	}
	p.template = requirements.NewSet(requirements.In("a500", "x"))
	if got := x.deciding(p, n, n.keys()); !slices.Equal(got, []string{"a500"}) {
		t.Errorf("lets off %v, want the one that the pool excludes", got)
	}
	p.template = requirements.NewSet(requirements.In("a500", "x"), requirements.In("a600", "x"))
	if got := x.deciding(p, n, n.keys()); len(got) > 0 {
		t.Errorf("lets off %v, though the pool excludes two", got)
	}
	if got := n.without("a000", "a500", "b"); len(got) != len(n)-2 || len(got.about("a500")) > 0 || len(got.about("a501")) != 1 {
		t.Errorf("leaves %d of %d needs", len(got), len(n))
	}
}
