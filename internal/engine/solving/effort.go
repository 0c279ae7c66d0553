package solving

import (
	"github.com/drawknife/drawknife/internal/engine/packing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// packingEffort returns the effort for packing the given number of pods.
func packingEffort(e planning.Effort, pods int) packing.Effort {
	switch e {
	case planning.EffortFast:
		return packing.Effort{Starts: 3, Steps: 200 * min(pods, 5_000)}
	case planning.EffortThorough:
		return packing.Effort{Starts: 24, Steps: 4_000 * min(pods, 20_000), Improve: 12_000 * min(pods, 10_000), Rounds: 128}
	default:
		perPod := 450
		if pods > 5_000 {
			perPod = 800 // more effort for each pod: so many pods are pending only in the rare case that a whole cluster is planned at once
		}
		return packing.Effort{
			Starts: 8 + min(40, 10_000/max(pods, 1)), Steps: 10_000 + 800*min(pods, 5_000),
			Improve: 5_000 + perPod*min(pods, 20_000), Rounds: 3 + 12_000/max(pods, 1),
		}
	}
}

// fewKinds is the largest number of kinds of nodes for which the method lighter reduces the effort. A kind is an instance type in one zone
// and capacity type. Kinds that other kinds can replace don't count.
const fewKinds = 256

// lighter returns an effort with fewer steps than e. It is used for pods with rules about other pods if only few kinds of nodes can be
// bought. In this case, the first tenth of the repacking steps brings nearly all of the saving. Without the other steps, the plans of
// ordinary clusters cost about 0.1 % more on average, and at most 1.1 % more. If there are at most maxPodsTwice pods, lighter returns the
// effort e unchanged. A packing that is not close to its lower bound gets more steps: see packing.Effort.
func lighter(e packing.Effort, pods int) packing.Effort {
	if pods <= maxPodsTwice {
		return e
	}
	e.Starts, e.FairRounds = min(e.Starts, 6), 5
	e.Enough, e.HandOver = 60_000+20*pods, 12_000
	return e
}

// seedingEffort returns the effort for the first attempt at a packing.
func seedingEffort(pods int) packing.Effort {
	return packing.Effort{Starts: 1, Steps: 100 * min(pods, 5_000)}
}
