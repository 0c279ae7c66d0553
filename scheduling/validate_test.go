package scheduling_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/scheduling"
)

// checkPlan fails the test for each fault that the independent validator finds.
func checkPlan(t testing.TB, s *scheduling.Snapshot, p *scheduling.Plan) {
	t.Helper()
	for _, fault := range planvalidator.Check(s, p) {
		t.Errorf("the plan is at fault: %v", fault)
	}
}

func faultsOf(s *scheduling.Snapshot, p *scheduling.Plan) []planvalidator.Fault {
	return planvalidator.Check(s, p)
}
