package solving

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/state"
)

// prioritiesOf returns the priorities of the classes, highest first.
func (t Improving) prioritiesOf(classes []int32) []int32 {
	var out []int32
	for _, tier := range Of(t.Trial).priorities(classes) {
		out = append(out, t.M.Classes[tier[0]].Priority)
	}
	return out
}

// value counts the pods that the record places, by priority.
func (t Improving) value(w state.Record, priorities []int32) []int {
	out := make([]int, len(priorities))
	for _, b := range w.Bindings {
		out[slices.Index(priorities, t.M.Classes[b.Class].Priority)] += int(b.Count)
	}
	return out
}
