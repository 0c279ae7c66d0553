package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Prices describes the origin of the prices of a run, and the possible range of its cost.
type Prices struct {
	// From says where the prices come from, sorted by capacity type and then by source.
	From []PricesFrom `json:"from"`
	// OnDemandCost is the cost of all nodes over the whole time in USD if the spot nodes were on-demand nodes; 0 if there are no spot
	// nodes, or if such a price is not known.
	OnDemandCost float64 `json:"onDemandCost,omitempty"`
	// Low and High are the costs at the lowest and highest prices of the types in the region on the day of the prices; 0 if no price has a
	// range.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
}

// PricesFrom is one origin of prices.
type PricesFrom struct {
	CapacityType string                        `json:"capacityType"`
	Source       string                        `json:"source"`
	Date         string                        `json:"date,omitempty"`
	Region       string                        `json:"region,omitempty"`
	Confidence   cloudprovider.PriceConfidence `json:"confidence,omitempty"`
	// Launches is the number of launches at prices of this origin. Cost is the cost of these nodes over the whole time, in USD.
	Launches int     `json:"launches"`
	Cost     float64 `json:"cost"`
}

// Words returns sentences for people: the sources of the prices, and the possible range of the cost.
func (p Prices) Words() []string {
	var lines []string
	for _, from := range p.From {
		text, standing := cmp.Or(from.Source, "no source is given"), ""
		for _, word := range []string{from.Region, string(from.Confidence)} {
			if word != "" && standing != "" {
				standing += ", "
			}
			standing += word
		}
		if standing != "" {
			text += " (" + standing + ")"
		}
		noun := "nodes"
		if from.Launches == 1 {
			noun = "node"
		}
		lines = append(lines, fmt.Sprintf("%d %s %s, $%.4f: %s", from.Launches, from.CapacityType, noun, from.Cost, text))
	}
	if p.High > 0 {
		lines = append(lines, fmt.Sprintf("In the range of these prices the nodes cost $%.4f to $%.4f.", p.Low, p.High))
	}
	if p.OnDemandCost > 0 {
		lines = append(lines, fmt.Sprintf("With all of them on demand they cost $%.4f.", p.OnDemandCost))
	}
	return lines
}

// terms are the price of an instance and its possible range, in nano-USD per hour.
type terms struct {
	from                       PricesFrom
	price, onDemand, low, high int64
	ranged, unknown            bool
}

// termsOf returns the price terms of a claim's node, from the offering of the node.
func termsOf(s *scheduling.Snapshot, claim *v1.NodeClaim, price float64) terms {
	labels := claim.Labels
	capacityType, zone := labels[v1.CapacityTypeLabelKey], labels[corev1.LabelTopologyZone]
	nano := int64(math.Round(price * 1e9))
	t := terms{from: PricesFrom{CapacityType: capacityType}, price: nano, onDemand: nano, low: nano, high: nano}
	it := typeOf(s, scheduling.PoolOf(labels), labels[corev1.LabelInstanceTypeStable])
	bought, onDemand := offeringOf(it, zone, capacityType), offeringOf(it, zone, v1.CapacityTypeOnDemand)
	if bought != nil {
		t.from.Source = bought.PriceSource
		if b := bought.PriceBasis; b != nil {
			t.from.Date, t.from.Region, t.from.Confidence = b.Date, b.Region, b.Confidence
			if b.Low > 0 && b.High > 0 {
				t.ranged, t.low, t.high = true, int64(math.Round(b.Low*1e9)), int64(math.Round(b.High*1e9))
			}
		}
	}
	if capacityType == v1.CapacityTypeSpot {
		if t.unknown = onDemand == nil; onDemand != nil {
			t.onDemand = int64(math.Round(onDemand.Price * 1e9))
		}
	}
	return t
}

func typeOf(s *scheduling.Snapshot, pool v1.PoolKey, name string) *cloudprovider.InstanceType {
	for i := range s.NodePools {
		if s.NodePools[i].Identity() != pool {
			continue
		}
		types := s.Catalogs[s.NodePools[i].Catalog]
		if at := slices.IndexFunc(types, func(it *cloudprovider.InstanceType) bool { return it.Name == name }); at >= 0 {
			return types[at]
		}
	}
	return nil
}

func offeringOf(it *cloudprovider.InstanceType, zone, capacityType string) *cloudprovider.Offering {
	if it == nil {
		return nil
	}
	for i := range it.Offerings {
		if o := &it.Offerings[i]; o.Zone() == zone && o.CapacityType() == capacityType {
			return o
		}
	}
	return nil
}

// priceRecord adds up costs by the origin of the prices.
type priceRecord struct {
	from                  map[PricesFrom]*PricesFrom // a key has Launches and Cost 0; its other fields identify the origin
	onDemand, low, high   float64
	spot, ranged, unknown bool
}

func (r *priceRecord) launched(t *terms) {
	if r.from == nil {
		r.from = map[PricesFrom]*PricesFrom{}
	}
	if r.from[t.from] == nil {
		from := t.from
		r.from[t.from] = &from
	}
	r.from[t.from].Launches++
	r.spot = r.spot || t.from.CapacityType == v1.CapacityTypeSpot
	r.ranged, r.unknown = r.ranged || t.ranged, r.unknown || t.unknown
}

// pass adds the cost of the instances for a number of hours. Costs per hour are added up as whole numbers of nano-USD, so that the order of
// the additions does not matter.
func (r *priceRecord) pass(instances map[string]*instance, hours float64) {
	var onDemand, low, high int64
	costs := map[PricesFrom]int64{}
	for _, m := range instances {
		onDemand, low, high = onDemand+m.terms.onDemand, low+m.terms.low, high+m.terms.high
		costs[m.terms.from] += m.terms.price
	}
	for from, cost := range costs {
		r.from[from].Cost += float64(cost) / 1e9 * hours
	}
	r.onDemand, r.low, r.high = r.onDemand+float64(onDemand)/1e9*hours, r.low+float64(low)/1e9*hours, r.high+float64(high)/1e9*hours
}

func (r *priceRecord) result() Prices {
	out := Prices{From: make([]PricesFrom, 0, len(r.from))}
	for _, from := range r.from {
		from.Cost = rounded(from.Cost)
		out.From = append(out.From, *from)
	}
	slices.SortFunc(out.From, func(a, b PricesFrom) int {
		return cmp.Or(cmp.Compare(a.CapacityType, b.CapacityType), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Date, b.Date),
			cmp.Compare(a.Region, b.Region), cmp.Compare(a.Confidence, b.Confidence))
	})
	if r.spot && !r.unknown {
		out.OnDemandCost = rounded(r.onDemand)
	}
	if r.ranged {
		out.Low, out.High = rounded(r.low), rounded(r.high)
	}
	return out
}

func rounded(usd float64) float64 { return math.Round(usd*1e6) / 1e6 }
