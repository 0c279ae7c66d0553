package instancetype_test

import (
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

// AWI-020, AWI-086: shapes are there for every type that nodes can be, whether or not it can be bought or launched.
func TestShapes(t *testing.T) {
	c := embedded(t)
	s := instancetype.Settings{Zones: []catalog.Zone{{Name: "us-east-1a"}}}
	shapes, err := instancetype.Shapes(c, s)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]instancetype.Shape{}
	for _, shape := range shapes {
		if shape.Type.Offerings != nil {
			t.Fatalf("%s has offerings", shape.Type.Name)
		}
		byName[shape.Type.Name] = shape
	}
	if len(shapes) != 1345 {
		t.Errorf("%d types, want all but the Mac ones", len(shapes))
	}
	if byName["a1.medium"].Incompatible == "" || byName["m5.large"].Incompatible != "" {
		t.Error("what can't be launched is not told apart")
	}
	if _, elsewhere := byName["p6-b200.48xlarge"]; !elsewhere {
		t.Error("a type of another zone is missing")
	}
	for name, it := range resolve(t, c, s) {
		shape := byName[name].Type
		if !shape.Requirements.Equal(it.Requirements) || allocatable(&shape) != allocatable(it) {
			t.Errorf("%s is another type when resolved", name)
		}
	}
}
