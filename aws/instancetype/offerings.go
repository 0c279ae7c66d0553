package instancetype

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// market writes the offerings of all types into one slice. The requirements of an offering depend only on tenancy, zone and capacity type,
// so offerings with the same tenancy, zone and capacity type share one requirement set.
type market struct {
	catalog   *catalog.Catalog
	plan      *plan
	sets      map[string]zoneSets // by tenancy
	offerings []cloudprovider.Offering
	// bases has the PriceBasis of on-demand prices for each distinct PriceFacts.
	bases map[catalog.PriceFacts]*cloudprovider.PriceBasis
	// rates has the InterruptionRate for each band of interruption frequency.
	rates map[string]*cloudprovider.InterruptionRate
}

// zoneSets are the requirements of a tenancy's offerings, by the index of the zone.
type zoneSets struct{ onDemand, spot []requirements.Set }

func newMarket(c *catalog.Catalog, p *plan) *market {
	m := &market{catalog: c, plan: p, bases: map[catalog.PriceFacts]*cloudprovider.PriceBasis{}, rates: map[string]*cloudprovider.InterruptionRate{}}
	capacity := 0
	for i := range c.Types {
		capacity += 2 * len(c.Types[i].Zones)
	}
	m.offerings = make([]cloudprovider.Offering, 0, capacity)
	m.sets = map[string]zoneSets{}
	for _, variant := range (&Shape{tenancy: p.Tenancy}).Variants() {
		var sets zoneSets
		hardware := OfferingLabels(p.Tenancy, variant.tenancy)
		for _, zone := range p.zones {
			sets.onDemand = append(sets.onDemand, offeringRequirements(zone, poolv1.CapacityTypeOnDemand, hardware...))
			sets.spot = append(sets.spot, offeringRequirements(zone, poolv1.CapacityTypeSpot, hardware...))
		}
		m.sets[variant.tenancy] = sets
	}
	return m
}

func offeringRequirements(zone zoneUse, capacityType string, more ...requirements.Requirement) requirements.Set {
	reqs := append([]requirements.Requirement{
		requirements.In(poolv1.CapacityTypeLabelKey, capacityType),
		requirements.In(corev1.LabelTopologyZone, zone.name),
	}, more...)
	if zone.id != "" {
		reqs = append(reqs, requirements.In(awsv1.LabelTopologyZoneID, zone.id))
	}
	return requirements.NewSet(reqs...)
}

// of returns the offerings of a type in the usable zones, by zone in the catalogue's order, on-demand before spot. A zone without a price
// has no offering.
func (m *market) of(shape *Shape) []cloudprovider.Offering {
	start := len(m.offerings)
	for _, variant := range shape.Variants() {
		m.add(variant)
	}
	// The slice's capacity is limited, so that appending to the offerings of one type can't overwrite those of the next type.
	return slices.Clip(m.offerings[start:])
}

// add writes the offerings of a type with one tenancy.
func (m *market) add(shape *Shape) {
	t, sets := shape.Facts, m.sets[shape.tenancy]
	available := shape.Incompatible == ""
	sold := func(class string) bool { return slices.Contains(t.UsageClasses, class) }
	onDemand, spot := sold(poolv1.CapacityTypeOnDemand), sold(poolv1.CapacityTypeSpot)
	spot = spot && !shape.OnHosts()
	onDemandPrice, onDemandSource, onDemandBasis := t.OnDemandUSD, m.catalog.OnDemandSource(t), m.onDemandBasis(t)
	if t.OnDemandTenancy == "" { // if OnDemandTenancy is set, the price is already a price of dedicated hardware
		onDemandPrice, onDemandSource, onDemandBasis = shape.WithTenancy(onDemandPrice, onDemandSource, onDemandBasis)
	}
	onDemandPrice, onDemandSource = shape.WithLicence(onDemandPrice, onDemandSource)
	spotSource := m.catalog.SpotSource(t)
	spotBasis, rate := m.spotBasis(shape), m.rate(t)
	for i, zone := range t.Zones {
		if !m.plan.zones[zone].usable {
			continue
		}
		if onDemand && onDemandPrice > 0 {
			m.offerings = append(m.offerings, cloudprovider.Offering{
				Requirements: sets.onDemand[zone], Price: onDemandPrice, PriceSource: onDemandSource, PriceBasis: onDemandBasis, Available: available,
			})
		}
		if price := t.SpotPrice(i); spot && price > 0 {
			price, source, basis := shape.WithTenancy(price, spotSource, spotBasis)
			price, source = shape.WithLicence(price, source)
			m.offerings = append(m.offerings, cloudprovider.Offering{
				Requirements: sets.spot[zone], Price: price, PriceSource: source, PriceBasis: basis, InterruptionRate: rate, Available: available,
			})
		}
	}
}

// onDemandBasis returns the basis of the on-demand price. All types whose prices have the same source share one basis.
func (m *market) onDemandBasis(t *catalog.Type) *cloudprovider.PriceBasis {
	facts := m.catalog.OnDemandFacts(t)
	if m.bases[facts] == nil {
		m.bases[facts] = m.basisOf(facts)
	}
	return m.bases[facts]
}

// spotBasis returns the basis of the spot prices. The basis is unique to the type, because it contains the range of the type's prices.
func (m *market) spotBasis(shape *Shape) *cloudprovider.PriceBasis {
	if len(shape.Facts.SpotUSD) == 0 {
		return nil
	}
	basis := m.basisOf(m.catalog.SpotFacts(shape.Facts))
	basis.Low, basis.High = shape.Facts.SpotRange()
	return shape.BasisWithLicence(basis)
}

func (m *market) basisOf(facts catalog.PriceFacts) *cloudprovider.PriceBasis {
	return &cloudprovider.PriceBasis{Date: facts.Day, Region: m.catalog.Region, Confidence: cloudprovider.PriceConfidence(facts.Kind)}
}

// rate returns the interruption rate that all types of a band share, or nil if the type's band is unknown.
func (m *market) rate(t *catalog.Type) *cloudprovider.InterruptionRate {
	low, high, source := m.catalog.Interruptions(t)
	if high > 0 && m.rates[t.SpotInterruption] == nil {
		m.rates[t.SpotInterruption] = &cloudprovider.InterruptionRate{Low: low, High: high, Source: source}
	}
	return m.rates[t.SpotInterruption]
}
