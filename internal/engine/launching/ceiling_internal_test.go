package launching

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/seeded"
)

// No choice of pods that has room in the resource is worth more than the ceiling says.
func TestCeilingIsAboveWhatFits(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(rt, "classes")
		var loads []waitingLoad
		for i := range n {
			need := rapid.SampledFrom([]int64{0, 1, 3, 250, 1 << 40}).Draw(rt, "need")
			worth := rapid.SampledFrom([]int64{1, 7, 1_000_003, 1 << 45}).Draw(rt, "worth")
			pods := rapid.IntRange(0, 4).Draw(rt, "pods")
			loads = append(loads, waitingLoad{class: &podclass.Class{Requests: []int64{need}}, most: pods, worth: worth, demand: int32(i % 2)})
		}
		among := rapid.Uint64Range(0, 3).Draw(rt, "demands")
		var c ceiling
		c.fill(0, lotsOf(0, loads, nil), 3) // what was there before does not count
		c.fill(0, lotsOf(0, loads, nil), among)
		room := rapid.SampledFrom([]int64{0, 1, 2, 5, 500, 1 << 41}).Draw(rt, "room")
		var best func(class int, room, worth int64) int64
		best = func(class int, room, worth int64) int64 {
			if class == n {
				return worth
			}
			most, l := int64(0), &loads[class]
			if among&(1<<l.demand) == 0 {
				return best(class+1, room, worth)
			}
			for k := int64(0); k <= int64(l.most) && k*l.class.Requests[0] <= room; k++ {
				most = max(most, best(class+1, room-k*l.class.Requests[0], worth+k*l.worth))
			}
			return most
		}
		if most, ceiling := best(0, room, 0), c.of([]int64{room}); most > ceiling {
			rt.Errorf("pods worth %d fit, and the ceiling is %d", most, ceiling)
		}
	})
}
