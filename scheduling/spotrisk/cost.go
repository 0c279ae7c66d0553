package spotrisk

import (
	"math"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Cost is the expected cost of a spot node, in USD per hour, and its parts.
type Cost struct {
	// Price is the present price of the offering.
	Price float64 `json:"price"`
	// Level of earlier prices; it equals Price if no earlier price is known.
	Level float64 `json:"level"`
	// ExpectedPrice is the expected average price while the node lives. It is between Price and Level.
	ExpectedPrice float64 `json:"expectedPrice"`
	// PerMonth is how many times a node would be interrupted in a month of 730 hours.
	PerMonth float64 `json:"perMonth"`
	// Refused is the share of launches for which no spot capacity is expected.
	Refused float64 `json:"refused"`
	// LossUSD is the cost of one interruption, in USD.
	LossUSD float64 `json:"lossUSD"`
	// Interruptions is the expected cost of interruptions, in USD per hour.
	Interruptions float64 `json:"interruptions"`
	// Total is ExpectedPrice plus Interruptions.
	Total float64 `json:"total"`
}

// Cost returns the expected cost of a node that is bought as the offering at the given time; loss says what an interruption costs. The cost
// of an offering that is not spot is its price. The type and the offering must come from a catalog.
func (m *Market) Cost(t *cloudprovider.InstanceType, o *cloudprovider.Offering, loss Loss, at time.Time) Cost {
	if t == nil || o == nil {
		return Cost{}
	}
	c := Cost{Price: o.Price, Level: o.Price, ExpectedPrice: o.Price, Total: o.Price}
	if o.CapacityType() != v1.CapacityTypeSpot {
		return c
	}
	seen := m.seen(Key{t.Name, o.Zone()}, at)
	if isPrice(seen.Level) {
		c.Level = seen.Level
		c.ExpectedPrice = c.Level + (c.Price-c.Level)*averageWeight(loss.NodeLife, m.options.ReturnHalfLife)
	}
	c.PerMonth = m.perMonth(seen, o.InterruptionRate)
	c.Refused = m.refused(seen)
	again := loss.Restart.Hours() + loss.LostWork.Hours()
	c.LossUSD = again*c.ExpectedPrice + loss.PerNode + loss.PerCPU*t.Capacity.Cpu().AsApproximateFloat64() +
		c.Refused*loss.Without.Hours()*max(onDemandPrice(t, o)-c.Price, 0)
	c.Interruptions = c.PerMonth / Month.Hours() * c.LossUSD
	c.Total = c.ExpectedPrice + c.Interruptions
	return c
}

// seen returns the record of the market with the given key, with the weights of the history that apply at the given time.
func (m *Market) seen(key Key, at time.Time) record {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil {
		return record{}
	}
	now := *r
	now.decayTo(at, m.options.HistoryHalfLife)
	if isPrice(now.Price) {
		now.Level = now.levelAt(at, m.options.LevelHalfLife)
	}
	if at.Sub(now.ScoreAt) > scoreLife {
		now.Score = 0
	}
	return now
}

// scoreLife is how long a placement score is used.
const scoreLife = 24 * time.Hour

// perMonth returns how many times a node is interrupted in a month. It corrects the offering's rate by the market's own history. The result
// is the mean of a Gamma distribution. The prior distribution has the offering's rate as its mean and PriorInterruptions as its shape. The
// data are the interruptions and the time that nodes ran.
func (m *Market) perMonth(seen record, rate *cloudprovider.InterruptionRate) float64 {
	share := m.options.UnknownRate
	if rate != nil {
		share = rate.Share()
	}
	perHour := max(-math.Log1p(-share)/Month.Hours(), minPerHour)
	prior := m.options.PriorInterruptions
	return (prior + seen.Interruptions) / (prior/perHour + seen.NodeHours) * Month.Hours()
}

// minPerHour is the lowest interruption rate per hour that is assumed for any offering. It is about one interruption in a thousand years.
// The rate is not 0, because the market's own history could not correct a rate of 0.
const minPerHour = 1e-7

// refused returns the share of launches that find no capacity. The assumed share follows from the placement score. Without a score, it is a
// tenth. The market's own launches correct the assumed share.
func (m *Market) refused(seen record) float64 {
	prior := 0.1
	if seen.Score > 0 {
		prior = float64(10-seen.Score) / 10
	}
	return (prior*m.options.PriorLaunches + seen.Refused) / (m.options.PriorLaunches + seen.Launches)
}

// averageWeight returns the average remaining share of a deviation over a period of the given length, if the deviation halves in each
// half-life.
func averageWeight(during, halfLife time.Duration) float64 {
	x := max(during, 0).Hours() / halfLife.Hours() * math.Ln2
	if x < 1e-9 {
		return 1
	}
	return -math.Expm1(-x) / x
}

// onDemandPrice returns the on-demand price of the type in the offering's zone, or 0 if the type has no on-demand price there.
func onDemandPrice(t *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
	for i := range t.Offerings {
		if other := &t.Offerings[i]; other.CapacityType() == v1.CapacityTypeOnDemand && other.Zone() == o.Zone() {
			return other.Price
		}
	}
	return 0
}
