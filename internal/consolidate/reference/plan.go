package reference

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// Plan is what a planner decided: disruption.Plan, field by field, which says what each means.
type Plan struct {
	Time        time.Time
	Commands    []*decision.Command
	Waves       []decision.Wave
	FloorPrices []decision.FloorPrices
	Cost        float64
	Floor       float64
	Verdicts    []decision.Verdict
	Waiting     bool
	Again       time.Time
	Unsettled   []string
	Unreached   []v1.PoolKey
}
