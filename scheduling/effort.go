package scheduling

import (
	"github.com/drawknife/drawknife/internal/engine/packing"
)

// Effort says how hard Solve looks for a cheaper plan. It bounds steps of work, not time: the same query gives the same plan on any
// node. The work grows with the pods that need new nodes; a plan that is proven to be within one part in 500 of the cheapest is not
// improved further at any effort.
type Effort string

const (
	// EffortDefault is the zero value: most of what can be saved, at about a third as much processor time again as EffortFast. On
	// clusters of one instance family plans cost at most about 1 % more than the best known.
	EffortDefault Effort = ""
	// EffortFast is for an answer at once: some plans cost 1 to 2 % more than by default.
	EffortFast Effort = "Fast"
	// EffortThorough is for plans that are made rarely and paid for long: four times the processor time of the default and more, and
	// on ordinary clusters a quarter of a per cent cheaper.
	EffortThorough Effort = "Thorough"
)

// packing is how much work packing so many pods may take.
func (e Effort) packing(pods int) packing.Effort {
	switch e {
	case EffortFast:
		return packing.Effort{Starts: 3, Steps: 200 * min(pods, 5_000)}
	case EffortThorough:
		return packing.Effort{Starts: 24, Steps: 4_000 * min(pods, 20_000), Improve: 12_000 * min(pods, 10_000), Rounds: 128}
	default:
		perPod := 450
		if pods > 5_000 {
			perPod = 800 // a whole cluster at once: rare, and paid for by the hour
		}
		return packing.Effort{
			Starts: 8 + min(40, 10_000/max(pods, 1)), Steps: 10_000 + 800*min(pods, 5_000),
			Improve: 5_000 + perPod*min(pods, 20_000), Rounds: 3 + 12_000/max(pods, 1),
		}
	}
}

// seeding is how much work the first look at a packing may take.
func (e Effort) seeding(pods int) packing.Effort {
	return packing.Effort{Starts: 1, Steps: 100 * min(pods, 5_000)}
}
