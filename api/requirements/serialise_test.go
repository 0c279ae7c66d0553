package requirements_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/drawknife/drawknife/api/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

func entry(op requirements.Operator, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: op, Values: values}
}

func withMin(e v1.NodeSelectorRequirementWithMinValues, n int) v1.NodeSelectorRequirementWithMinValues {
	e.MinValues = &n
	return e
}

func TestSCH026Serialisation(t *testing.T) {
	tests := []struct {
		name string
		r    requirements.Requirement
		want []v1.NodeSelectorRequirementWithMinValues
	}{
		{"In, values sorted", in("b", "a"), []v1.NodeSelectorRequirementWithMinValues{entry("In", "a", "b")}},
		{"NotIn", notIn("b", "a"), []v1.NodeSelectorRequirementWithMinValues{entry("NotIn", "a", "b")}},
		{"Exists", exists(), []v1.NodeSelectorRequirementWithMinValues{entry("Exists")}},
		{"DoesNotExist", doesNotExist(), []v1.NodeSelectorRequirementWithMinValues{entry("DoesNotExist")}},
		{"one bound", gt(3), []v1.NodeSelectorRequirementWithMinValues{entry("Gte", "4")}},
		{"other bound", lt(3), []v1.NodeSelectorRequirementWithMinValues{entry("Lte", "2")}},
		{"both bounds", all(gt(3), lt(9)), []v1.NodeSelectorRequirementWithMinValues{entry("Gte", "4"), entry("Lte", "8")}},
		{"exclusions under a bound", all(notIn("7"), gt(3)), []v1.NodeSelectorRequirementWithMinValues{entry("Gte", "4"), entry("NotIn", "7")}},
		{"below zero", lt(0), []v1.NodeSelectorRequirementWithMinValues{entry("Lt", "0")}},
		{"minValues on each entry", all(notIn("7"), gt(3), lt(9)).WithMinValues(2), []v1.NodeSelectorRequirementWithMinValues{
			withMin(entry("Gte", "4"), 2), withMin(entry("Lte", "8"), 2), withMin(entry("NotIn", "7"), 2)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.r.NodeSelectorRequirements()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back, err := requirements.ParseSet(got)
			if want := requirements.NewSet(tt.r); err != nil || !back.Equal(want) {
				t.Errorf("reads back as {%s}, %v, want {%s}", back, err, want)
			}
		})
	}
}

func TestSCH026KeysAreSortedInJSON(t *testing.T) {
	s := requirements.NewSet(requirements.Exists("b"), requirements.In("c", "y", "x").WithMinValues(2), requirements.Gt("a", 3))
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"key":"a","operator":"Gte","values":["4"]},{"key":"b","operator":"Exists"},{"key":"c","operator":"In","values":["x","y"],"minValues":2}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, err := json.Marshal(requirements.Set{}); err != nil || string(got) != "[]" {
		t.Errorf("the empty set is %s, %v", got, err)
	}
}

func TestSerialisedEntriesMayBeChanged(t *testing.T) {
	s := requirements.NewSet(in("a", "b"))
	s.NodeSelectorRequirements()[0].Values[0] = "changed"
	if got := s.Get(key); !got.Equal(in("a", "b")) {
		t.Errorf("the set changed with its entries: %s", got)
	}
}

func TestSetFromJSON(t *testing.T) {
	var s requirements.Set
	if err := json.Unmarshal([]byte("null"), &s); err != nil || s.Len() != 0 {
		t.Errorf("null reads as {%s}, %v", s, err)
	}
	tests := []struct{ data, want string }{
		{`[{"key":"a","operator":"In"}]`, `requirements[0]: key "a": operator In needs at least one value`},
		{`[{"key":"a","operator":"Exists"},{"key":"b","operator":"Like"}]`, `requirements[1]: key "b": unknown operator "Like"`},
		{`{}`, "reading requirements"},
	}
	for _, tt := range tests {
		if err := json.Unmarshal([]byte(tt.data), &s); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.data, err, tt.want)
		}
	}
}
