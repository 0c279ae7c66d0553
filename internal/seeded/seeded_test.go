package seeded

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The same inputs come each time, and as many as asked for.
func TestSameInputs(t *testing.T) {
	var runs [2][]int
	for i := range runs {
		Times(t, 50, func(r *rapid.T) { runs[i] = append(runs[i], rapid.Int().Draw(r, "n")) })
	}
	if len(runs[0]) == 0 || !slices.Equal(runs[0], runs[1]) {
		t.Errorf("drawn first %v, then %v", runs[0], runs[1])
	}
	var more []int
	Check(t, func(r *rapid.T) { more = append(more, rapid.Int().Draw(r, "n")) })
	if len(more) <= len(runs[0]) || !slices.Equal(more[:len(runs[0])], runs[0]) {
		t.Errorf("with rapid's own number of draws %d of them, %d before", len(more), len(runs[0]))
	}
}
