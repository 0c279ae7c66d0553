package disruption_test

import (
	"testing"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/surface"
)

// No function panics on nil or zero values.
func TestSurface(t *testing.T) {
	surface.Survive(t, disruption.Survey, disruption.ViewOf, disruption.CleanUp, disruption.Recover, disruption.RecordOf, disruption.HistoryOf, disruption.Execute, (&disruption.Queue{}).Add, (&disruption.Queue{}).Adopt,
		(&disruption.Global{}).Plan, (&disruption.Global{}).PlanAgain)
}
