package v1

import "testing"

// What is written is read; what makes no sense is no group.
func TestLaunchGroupOf(t *testing.T) {
	claim := &NodeClaim{}
	if _, ok := LaunchGroupOf(claim); ok {
		t.Error("a claim without the annotation is in a group")
	}
	want := LaunchGroup{Name: "research/train@2026-05-04T12:00:00Z", Claims: 8, Kept: true}
	claim.Annotations = map[string]string{LaunchGroupAnnotationKey: want.String()}
	if got, ok := LaunchGroupOf(claim); !ok || got != want {
		t.Errorf("got %+v, %t", got, ok)
	}
	for _, bad := range []string{"x", "{}", `{"name":"a","claims":1}`, `{"claims":3}`, `[1]`, `{"name":"a","claims":"3"}`} {
		claim.Annotations[LaunchGroupAnnotationKey] = bad
		if got, ok := LaunchGroupOf(claim); ok {
			t.Errorf("%s is read as %+v", bad, got)
		}
	}
}
