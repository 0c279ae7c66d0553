package disruption

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// result is what a planner decided: disruption.Plan, field by field, which says what each means.
type result struct {
	Time        time.Time
	Commands    []*Command
	Waves       []Wave
	FloorPrices []FloorPrices
	Cost        float64
	Floor       float64
	Verdicts    []Verdict
	Waiting     bool
	Again       time.Time
	Unsettled   []string
	Unreached   []v1.PoolKey
}
