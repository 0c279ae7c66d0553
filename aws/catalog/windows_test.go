package catalog_test

import (
	"math"
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
)

// Windows is charged by the vCPU, but for burstable types and old generations: prices of Windows less those of Linux in AWS's price list
// of us-east-1.
func TestWindowsLicence(t *testing.T) {
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	exceptions := catalog.WindowsLicences()
	for name, want := range map[string]float64{
		"c6a.large": 0.092, "m5.large": 0.092, "m5.24xlarge": 4.416, "m7i-flex.large": 0.0874,
		"t3.medium": 0.0184, "t3.xlarge": 0.0736, "t2.2xlarge": 0.062, "c3.large": 0.083,
	} {
		kind, ok := c.Lookup(name)
		if !ok {
			t.Errorf("%s: not in the catalogue", name)
			continue
		}
		if got := catalog.WindowsLicence(kind, exceptions); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: a licence costs %v, want %v", name, got, want)
		}
	}
	if got := catalog.WindowsLicence(nil, exceptions); got != 0 {
		t.Errorf("no type: %v", got)
	}
	if len(exceptions) < 50 {
		t.Errorf("only %d types are not charged by the vCPU alone", len(exceptions))
	}
}
