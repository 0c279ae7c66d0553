package instancetype_test

import (
	"slices"
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

// A type of which nobody knows how many branch interfaces it has says so, unless no CNI serves any.
func TestBranchInterfacesThatAreNotKnown(t *testing.T) {
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	found, ok := facts.Lookup("m5.large")
	if !ok {
		t.Fatal("there is no m5.large")
	}
	known, unknown := *found, *found
	unknown.Name, unknown.BranchENIs = "m99.large", nil
	c, err := catalog.New(catalog.Catalog{Region: facts.Region, Zones: facts.Zones, Sources: facts.Sources, Types: []catalog.Type{known, unknown}})
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range []bool{false, true} {
		types, err := instancetype.ResolveSettings(c, instancetype.Settings{WithoutPodENI: without})
		if err != nil || len(types) != 2 {
			t.Fatalf("%d types, %v", len(types), err)
		}
		for _, it := range types {
			if got, want := slices.Contains(it.NotKnown, instancetype.ResourcePodENI), it.Name == unknown.Name && !without; got != want {
				t.Errorf("%s, without branch interfaces %t: %v", it.Name, without, it.NotKnown)
			}
		}
	}
}
