package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
)

// OfferingCosts computes the cost of offerings with a CostModel. It is for decisions outside of plans, such as the order in which a
// provider asks for offerings. It is immutable and safe for concurrent use; nil means list prices. Make one with NewOfferingCosts.
type OfferingCosts struct{ costs *market.Costs }

// NewOfferingCosts reads the snapshot's cost model. It returns nil if the cost model has no terms. The error is a *SnapshotError.
func NewOfferingCosts(s *Snapshot) (*OfferingCosts, error) {
	if s == nil || s.CostModel == nil {
		return nil, nil
	}
	vocabulary := s.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	costs, err := model.ReadCosts(s.CostModel, vocabulary.Compile())
	if costs == nil || err != nil {
		return nil, err
	}
	return &OfferingCosts{costs}, nil
}

// Of returns the cost of a node of the pool that is bought as the offering, in USD per hour. Plans use the same price before they apply
// commitments, which reduce it only while a part of them is unused. If no term applies, it is exactly the offering's price. It is 0 if the
// type or the offering is nil.
func (c *OfferingCosts) Of(pool v1.PoolKey, t *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
	switch {
	case t == nil || o == nil:
		return 0
	case c == nil || c.costs == nil:
		return o.Price
	}
	states := func(key string) bool {
		return slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return o.Requirements.Has(key) })
	}
	priced := market.Priced{
		Key: cloudprovider.KeyOf(t, o), List: market.NanoUSD(o.Price), Capacity: t.CapacityOf(o),
		Applies: c.costs.AppliesTo(states, t, o, pool),
	}
	price, _ := c.costs.Walk(&priced, market.NoTerm, nil)
	if price == priced.List {
		return o.Price
	}
	return float64(price) / market.NanoPerUSD
}
