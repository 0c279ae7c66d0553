package disruption

import (
	"math"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// nanoPerUSD is the unit in which planners reckon with money: sums of it are exact, whatever the order.
const nanoPerUSD = 1e9

// nanoUSD is a price as planners reckon with it. What is no number counts as nothing; what is beyond all prices as more
// than any.
func nanoUSD(price float64) int64 {
	switch {
	case math.IsNaN(price):
		return 0
	case price >= math.MaxInt64/nanoPerUSD:
		return math.MaxInt64
	}
	return int64(math.Round(price * nanoPerUSD))
}

func usd(nano int64) float64 { return float64(nano) / nanoPerUSD }

// legacyCost is Candidate.LegacyCost.
func legacyCost(m *cluster.Machine, now time.Time) float64 {
	sum := 0.0
	for _, pod := range m.Pods {
		sum += pods.EvictionCost(pod)
	}
	if m.Claim == nil {
		return sum
	}
	life, expires := lifetime(m.Claim)
	if !expires {
		return sum
	}
	return sum * pods.RemainingLifetime(m.Claim.CreationTimestamp.Time, now, &life)
}

// lifetime is how long the claim's node may live; false when it may for ever. Left out, it is the API's default.
func lifetime(claim *v1.NodeClaim) (time.Duration, bool) {
	if claim.Spec.ExpireAfter.IsZero() {
		return v1.DefaultExpireAfter, true
	}
	return claim.Spec.ExpireAfter.Duration()
}
