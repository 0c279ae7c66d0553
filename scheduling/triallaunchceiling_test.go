package scheduling

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// No choice of pods that has room in the resource is worth more than the ceiling says.
func TestCeilingIsAboveWhatFits(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(rt, "classes")
		m, w := &Model{}, &Worth{}
		trial, classes := &Trial{m: m}, []int32(nil)
		for i := range n {
			need := rapid.SampledFrom([]int64{0, 1, 3, 250, 1 << 40}).Draw(rt, "need")
			m.classes = append(m.classes, &class{requests: []int64{need}})
			w.byClass = append(w.byClass, rapid.SampledFrom([]int64{0, 7, 1_000_003, 1 << 45}).Draw(rt, "worth"))
			trial.waiting = append(trial.waiting, int32(rapid.IntRange(0, 4).Draw(rt, "pods")))
			classes = append(classes, int32(i))
		}
		c := newCeiling(0, classes, trial, w)
		room := rapid.SampledFrom([]int64{0, 1, 2, 5, 500, 1 << 41}).Draw(rt, "room")
		var best func(class int, room, worth int64) int64
		best = func(class int, room, worth int64) int64 {
			if class == n {
				return worth
			}
			most := int64(0)
			for k := int64(0); k <= int64(trial.waiting[class]) && k*m.classes[class].requests[0] <= room; k++ {
				most = max(most, best(class+1, room-k*m.classes[class].requests[0], worth+k*max(w.byClass[class], 1)))
			}
			return most
		}
		if most, ceiling := best(0, room, 0), c.of([]int64{room}); most > ceiling {
			rt.Errorf("pods worth %d fit, and the ceiling is %d", most, ceiling)
		}
	})
}
