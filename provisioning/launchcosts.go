package provisioning

import (
	"reflect"
	"sync"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// LaunchCosts gives providers the costs that plans count with, so that launches ask for what the plan preferred: interruptions of spot
// instances, fees and discounts count, and not only prices. Commitments do not count: a plan that needs one restricts the NodeClaim to what
// it covers. The zero value is ready to use; until a snapshot with a cost model was observed, offerings cost their prices. It is safe for
// concurrent use.
type LaunchCosts struct {
	mu      sync.Mutex
	of      *scheduling.CostModel
	current *scheduling.OfferingCosts
}

// Observe notes the cost model of a snapshot that plans are made from. A model that Compile refuses counts as none. It does nothing if l or s
// is nil.
func (l *LaunchCosts) Observe(s *scheduling.Snapshot) {
	if l == nil || s == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == s.CostModel || reflect.DeepEqual(l.of, s.CostModel) {
		l.of = s.CostModel
		return
	}
	costs, err := scheduling.NewOfferingCosts(s)
	if err != nil {
		costs = nil
	}
	l.of, l.current = s.CostModel, costs
}

// Of returns what nodes of a NodePool cost, for a provider's option such as aws.Options.LaunchCost, or nil if offerings cost their prices.
// What it returned stays as it is when other snapshots are observed.
func (l *LaunchCosts) Of(pool v1.PoolKey) cloudprovider.LaunchCost {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	costs := l.current
	l.mu.Unlock()
	if costs == nil {
		return nil
	}
	return func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 { return costs.Of(pool, t, o) }
}
