package v1

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conditions"
)

// PRV-003, PRV-006, API-191, API-198: what Ready depends on, and what it does not.
func TestWhatReadyDependsOn(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pool, claim, overlay := &NodePool{}, &NodeClaim{}, &NodeOverlay{}
	for _, tc := range []struct {
		kind       string
		conditions conditions.Conditions
		dependents []string
		others     []string
	}{
		{"NodePool", pool.Conditions(), []string{ConditionValidationSucceeded, ConditionNodeClassReady}, []string{ConditionNodeRegistrationHealthy}},
		{"NodeClaim", claim.Conditions(), []string{ConditionLaunched, ConditionRegistered, ConditionInitialized}, []string{
			ConditionConsolidatable, ConditionDrifted, ConditionDrained, ConditionVolumesDetached, ConditionInstanceTerminating,
			ConditionConsistentStateFound, ConditionDisruptionReason,
		}},
		{"NodeOverlay", overlay.Conditions(), []string{ConditionValidationSucceeded}, nil},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			for _, other := range tc.others {
				tc.conditions.SetFalse(other, "No", "", now)
			}
			for _, dependent := range tc.dependents {
				if tc.conditions.Ready().Status != metav1.ConditionUnknown {
					t.Errorf("ready is %v before %s is known", tc.conditions.Ready().Status, dependent)
				}
				tc.conditions.SetTrue(dependent, now)
			}
			if !tc.conditions.IsTrue(ConditionReady) {
				t.Errorf("not ready: %+v", tc.conditions.Ready())
			}
			tc.conditions.SetFalse(tc.dependents[0], "Broken", "", now)
			if got := tc.conditions.Ready(); got.Status != metav1.ConditionFalse || got.Message != tc.dependents[0]+"=False" {
				t.Errorf("after %s turned False: %+v", tc.dependents[0], got)
			}
		})
	}
	if len(claim.Status.Conditions) != 3+7+1 {
		t.Errorf("the view did not write to the claim: %v", claim.Status.Conditions)
	}
}
