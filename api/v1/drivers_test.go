package v1

import (
	"slices"
	"strings"
	"testing"
)

// However long the list on a claim is, no more than MaxRequestedDRADrivers are waited for.
func TestRequestedDRADrivers(t *testing.T) {
	claim := &NodeClaim{}
	if RequestedDRADrivers(nil) != nil || RequestedDRADrivers(claim) != nil {
		t.Error("drivers out of nothing")
	}
	claim.Annotations = map[string]string{RequestedDRADriversAnnotationKey: "a.x,b.x"}
	if got := RequestedDRADrivers(claim); !slices.Equal(got, []string{"a.x", "b.x"}) {
		t.Errorf("got %v", got)
	}
	claim.Annotations[RequestedDRADriversAnnotationKey] = strings.Repeat("a.x,", 1000)
	if got := RequestedDRADrivers(claim); len(got) != MaxRequestedDRADrivers {
		t.Errorf("got %d", len(got))
	}
}
