package answering

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// writePrices writes to the plan a summary of the origins of the new nodes' prices. It writes nothing if no offering states the origin of
// its price.
func (t *Answering) writePrices(out *planning.Plan) {
	s := priceSum{from: map[planning.PricesFrom]*amounts{}, known: t.M.Standings == nil}
	for i := range out.NewNodes {
		node := &out.NewNodes[i]
		o := &node.InstanceTypes[0]
		c := t.M.Pools[t.M.PoolIndex[node.Pool]].Table.Catalog
		variant, slot := placeOf(c, o)
		if variant < 0 {
			return // the catalogs lack this offering, so the origin of its price is unknown
		}
		s.add(c, variant, slot, market.NanoUSD(o.Price))
	}
	if s.based {
		out.Prices = s.written()
	}
}

// placeOf finds the offering in the catalog. It returns the first variant of the type that has a price in this slot, or the type's first
// variant if no variant has one. variant is -1 if the catalog does not have the offering.
func placeOf(c *market.Catalog, o *planning.InstanceTypeOption) (variant, slot int) {
	slot = slices.IndexFunc(c.Slots, func(s market.Slot) bool {
		return s.Zone == o.Zone && s.CapacityType == o.CapacityType && s.Others == o.Others
	})
	if slot < 0 {
		return -1, -1
	}
	at, found := slices.BinarySearchFunc(c.Variants, o.Name, func(v market.Variant, name string) int {
		return cmp.Compare(c.Types[v.Type].Name, name)
	})
	if !found {
		return -1, -1
	}
	for v := at; v < len(c.Variants) && c.Types[c.Variants[v].Type].Name == o.Name; v++ {
		if c.Price(v, slot) != market.NoPrice {
			return v, slot
		}
	}
	return at, slot
}

// amounts are sums over the nodes that have the same price origin.
type amounts struct {
	nodes int
	cost  int64
}

// priceSum has the sums of the prices of new nodes, in nano-USD per hour.
type priceSum struct {
	from map[planning.PricesFrom]*amounts
	// based means that some offering states the origin of its price. ranged means that the price of some offering has a range. spot means
	// that some node is a spot node.
	based, ranged, spot bool
	// known is false if the sums onDemand, low and high are unknown because of commitments. missing means that the on-demand price of some
	// spot node is missing.
	known, missing bool
	// estimated means that the on-demand price of some spot node is an estimate.
	estimated           bool
	onDemand, low, high int64
}

// add adds one node to the sums. The node is of the variant and is bought in the slot at the given price.
func (s *priceSum) add(c *market.Catalog, variant, slot int, price int64) {
	it := c.Types[c.Variants[variant].Type]
	o := offeringIn(it, c.Slots[slot].Labels.Equal)
	key := planning.PricesFrom{CapacityType: c.Slots[slot].CapacityType}
	low, high := price, price
	if o != nil {
		key.Source, s.based = o.PriceSource, s.based || o.PriceSource != ""
		if b := o.PriceBasis; b != nil {
			s.based = true
			key.Date, key.Region, key.Confidence = b.Date, b.Region, b.Confidence
			if b.Low > 0 && b.High > 0 {
				s.ranged = true
				low, high = c.Repriced(variant, slot, market.NanoUSD(b.Low)), c.Repriced(variant, slot, market.NanoUSD(b.High))
			}
		}
	}
	a := s.from[key]
	if a == nil {
		a = &amounts{}
		s.from[key] = a
	}
	a.nodes++
	a.cost += price
	s.low, s.high = s.low+low, s.high+high
	s.addOnDemand(c, it, variant, slot, price)
}

// addOnDemand adds the on-demand price of the node to the sum onDemand.
func (s *priceSum) addOnDemand(c *market.Catalog, it *cloudprovider.InstanceType, variant, slot int, price int64) {
	if c.Slots[slot].CapacityType != v1.CapacityTypeSpot {
		s.onDemand += price
		return
	}
	s.spot = true
	at := slices.IndexFunc(c.Slots, func(other market.Slot) bool {
		return other.Zone == c.Slots[slot].Zone && other.CapacityType == v1.CapacityTypeOnDemand && other.Others == c.Slots[slot].Others
	})
	if at < 0 {
		s.missing = true
		return
	}
	o := offeringIn(it, c.Slots[at].Labels.Equal)
	if o == nil {
		s.missing = true
		return
	}
	s.estimated = s.estimated || o.PriceBasis != nil && o.PriceBasis.Confidence == cloudprovider.PriceEstimated
	s.onDemand += c.Repriced(variant, at, market.NanoUSD(o.Price))
}

func (s *priceSum) written() *planning.PlanPrices {
	out := &planning.PlanPrices{From: make([]planning.PricesFrom, 0, len(s.from))}
	for from, a := range s.from {
		from.Nodes, from.HourlyCost = a.nodes, float64(a.cost)/market.NanoPerUSD
		out.From = append(out.From, from)
	}
	slices.SortFunc(out.From, func(a, b planning.PricesFrom) int {
		return cmp.Or(cmp.Compare(a.CapacityType, b.CapacityType), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Date, b.Date),
			cmp.Compare(a.Region, b.Region), cmp.Compare(a.Confidence, b.Confidence))
	})
	if s.known && s.spot && !s.missing {
		out.OnDemandCost, out.OnDemandEstimated = float64(s.onDemand)/market.NanoPerUSD, s.estimated
	}
	if s.known && s.ranged {
		out.Low, out.High = float64(s.low)/market.NanoPerUSD, float64(s.high)/market.NanoPerUSD
	}
	return out
}

// offeringIn returns the type's cheapest available offering with the required labels, or nil if it has no such offering.
func offeringIn(it *cloudprovider.InstanceType, labels func(requirements.Set) bool) *cloudprovider.Offering {
	var best *cloudprovider.Offering
	for i := range it.Offerings {
		o := &it.Offerings[i]
		if !labels(o.Requirements) {
			continue
		}
		if best == nil || o.Available && !best.Available || o.Available == best.Available && o.Price < best.Price {
			best = o
		}
	}
	return best
}
