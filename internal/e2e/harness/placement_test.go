package harness

import "testing"

// TestMessagesOfNominations reads what a controller says of a pod: of both generations of such messages, node and claim in
// either order.
func TestMessagesOfNominations(t *testing.T) {
	for _, c := range []struct {
		message string
		want    target
	}{
		{"Pod should schedule on: nodeclaim/default-x2x4q", target{claim: "default-x2x4q"}},
		{"Pod should schedule on: node/i-00000001", target{node: "i-00000001"}},
		{"Pod should schedule on: nodeclaim/a, node/ip-10-0-0-1.internal", target{claim: "a", node: "ip-10-0-0-1.internal"}},
		{"something else", target{}},
	} {
		if got := targetOf(c.message); got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.message, got, c.want)
		}
	}
}

// TestRateOfPlacements checks the arithmetic, with nothing known as well.
func TestRateOfPlacements(t *testing.T) {
	for _, c := range []struct {
		placements Placements
		want       float64
	}{
		{Placements{}, 1},
		{Placements{Bound: 8, Told: 4, Met: 3}, 0.75},
	} {
		if got := c.placements.Rate(); got != c.want {
			t.Errorf("%v: got %v, want %v", c.placements, got, c.want)
		}
	}
}
