package trial

import (
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
)

// Proof is a problem and the values that prove its lower bound.
type Proof struct {
	P *offers.Choice
	V *pricing.Values
}
