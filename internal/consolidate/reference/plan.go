package reference

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// Plan is a planner's result. It has the fields of disruption.Plan, which explains them.
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
