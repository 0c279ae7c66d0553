package planvalidator_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/workload"
)

// A catalogue of hundreds of types with several offerings each is checked in seconds: what is known of a catalogue is not
// read again for each offering.
func TestLargeCatalog(t *testing.T) {
	s := workload.Named("c", 12)
	p := planned(t, s)
	for _, fault := range planvalidator.Check(s, p) {
		t.Error(fault)
	}
}
