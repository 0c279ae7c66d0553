package catalog_test

import (
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
)

// The limits of branch interfaces are those of the VPC resource controller: of types of the last months, of types that us-east-1 lacks, and
// of types that can't be trunks.
func TestBranchLimits(t *testing.T) {
	limits := catalog.BranchLimits()
	for name, want := range map[string]int64{"c8ib.large": 8, "c8ib.4xlarge": 54, "m9g.large": 9, "p5e.48xlarge": 120, "m5.large": 9, "t3.medium": 0} {
		if got, known := limits[name]; !known || got != want {
			t.Errorf("%s: %d (known %t), want %d", name, got, known, want)
		}
	}
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	unknown := 0
	for _, kind := range c.Types {
		switch want, known := limits[kind.Name]; {
		case !known && kind.BranchENIs == nil:
			unknown++
		case known && (kind.BranchENIs == nil || *kind.BranchENIs != want):
			t.Errorf("%s: the catalogue has %v, the table %d", kind.Name, kind.BranchENIs, want)
		}
	}
	if unknown > 20 {
		t.Errorf("of %d types it is not known how many branch interfaces they can have", unknown)
	}
	t.Logf("%d of %d types are not known", unknown, len(c.Types))
}
