package spotrisk

import (
	"fmt"
	"math"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// Compare says why the chosen offering is expected to cost less than an offering with a lower price: "m7g.2xlarge at $0.1200/h beats
// c6gd.2xlarge at $0.0900/h: interrupted 4 times less often". It is empty if the chosen offering has the lower price, or the higher
// expected cost.
func (m *Market) Compare(chosen, other cloudprovider.Candidate, loss Loss, at time.Time) string {
	if chosen.Type == nil || other.Type == nil || chosen.Offering == nil || other.Offering == nil {
		return ""
	}
	a, b := m.Cost(chosen.Type, chosen.Offering, loss, at), m.Cost(other.Type, other.Offering, loss, at)
	if a.Price <= b.Price || a.Total >= b.Total {
		return ""
	}
	why := fmt.Sprintf("its price is expected to be $%.4f/h instead of $%.4f/h", b.ExpectedPrice, b.Price)
	if b.Interruptions-a.Interruptions > (b.ExpectedPrice-b.Price)-(a.ExpectedPrice-a.Price) {
		why = fmt.Sprintf("its interruptions cost $%.4f/h instead of $%.4f/h", b.Interruptions, a.Interruptions)
		switch times := b.PerMonth / a.PerMonth; {
		case a.PerMonth == 0:
			why += ", and the other has none"
		case times >= 1.5 && !math.IsInf(times, 0):
			why += fmt.Sprintf(", it is interrupted %.2g times as often", times)
		}
	}
	return fmt.Sprintf("%s at $%.4f/h beats %s at $%.4f/h: %s", named(chosen), a.Price, named(other), b.Price, why)
}

// named returns a text with the instance type and the zone of the candidate. The text includes the capacity type if it is not spot.
func named(c cloudprovider.Candidate) string {
	name := c.Type.Name + " in " + c.Offering.Zone()
	if kind := c.Offering.CapacityType(); kind != "spot" {
		name += " " + kind
	}
	return name
}
