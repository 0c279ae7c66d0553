package conversion_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/conversion"
)

// What was stored with a quantity that would take minutes to read is not read.
func TestRestoreBoundsQuantities(t *testing.T) {
	stored := conversion.Provenance{Residue: []conversion.Residual{
		{Path: "spec.limits", Value: []byte(`{"cpu": "1e-999999999"}`)}, {Path: "spec.other", Value: []byte(`{"cpu": "4"}`)},
	}}
	var limits corev1.ResourceList
	if stored.Restore("spec.limits", &limits) {
		t.Errorf("restored %v", limits)
	}
	if !stored.Restore("spec.other", &limits) || limits.Cpu().Value() != 4 {
		t.Errorf("not restored: %v", limits)
	}
}
