package offerings

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Reasons why an offering is not available, in addition to those of instancetype.Incompatible and package unavailable.
const (
	// ReasonNoSubnet: the class has no subnet in the zone.
	ReasonNoSubnet = "the node class has no subnet in the zone"
	// ReasonShifted: a zonal shift moves the cluster away from the zone.
	ReasonShifted = "the cluster is shifted away from the zone"
	// ReasonNoPrice: no price is known.
	ReasonNoPrice = "no price is known"
	// ReasonReservationFull: there is no room in the reservation.
	ReasonReservationFull = "the reservation is full"
	// ReasonReservationOnHosts: instances of the class run on Dedicated Hosts.
	ReasonReservationOnHosts = "instances on Dedicated Hosts cannot use reservations"
	// ReasonReservationTenancy: the reservation is for instances of another tenancy.
	ReasonReservationTenancy = "the reservation is for instances of another tenancy"
	// ReasonReservationExpiring: the capacity block is about to end.
	ReasonReservationExpiring = "the capacity block is about to end"
)

// reservedPriceDivisor divides the on-demand price to get the price of a reserved instance. The result is almost zero, because the instance
// is prepaid; it still grows with the on-demand price, so that small instances are used first.
const reservedPriceDivisor = 10_000_000

// builder creates the offerings of one View in one Market.
type builder struct {
	market Market
	view   View
	shapes []instancetype.Shape

	zones        []zone            // one entry for each zone of the catalogue, with the same index
	partitions   []int32           // partitions of the placement group; a single 0 if it has no partitions
	zoneIDs      map[string]string // keys are zone names, values the ids in the class's subnets
	reserved     map[string][]awsv1.CapacityReservation
	reservedSets map[string][]requirements.Set // by ID of the reservation; indexes of the slices are those of partitions
	// bases has one shared object for all equal PriceBasis values of on-demand prices.
	bases map[cloudprovider.PriceBasis]*cloudprovider.PriceBasis
	// rates has one shared object for all equal InterruptionRate values.
	rates map[cloudprovider.InterruptionRate]*cloudprovider.InterruptionRate
}

// zone contains the values that all offerings in a zone share.
type zone struct {
	name    string
	local   bool // see isLocal
	subnets []string
	reason  string              // why no offering in the zone is available; empty if offerings may be available
	outpost *outposts.Outpost   // the Outpost in the zone on which the class launches; nil if it launches on no Outpost
	sets    map[string]zoneSets // by tenancy
}

// zoneSets are the requirements of a tenancy's offerings in a zone, by partition.
type zoneSets struct{ onDemand, spot []requirements.Set }

func (b *builder) prepare() {
	b.partitions = []int32{0}
	if g := b.view.Group; g != nil && g.Strategy == placement.StrategyPartition && g.Partitions > 0 {
		b.partitions = b.partitions[:0]
		for n := int32(1); n <= g.Partitions; n++ {
			b.partitions = append(b.partitions, n)
		}
	}
	b.zoneIDs = map[string]string{}
	for _, z := range b.market.Catalog.Zones {
		b.zoneIDs[z.Name] = z.ID
	}
	for _, z := range b.view.Settings.Zones {
		b.zoneIDs[z.Name] = cmp.Or(z.ID, b.zoneIDs[z.Name])
	}
	for _, z := range b.market.Catalog.Zones {
		outpost, sets := b.setsIn(z.Name)
		b.zones = append(b.zones, zone{
			name:    z.Name,
			outpost: outpost,
			local:   isLocal(b.market.Catalog.Region, z.Name),
			subnets: b.view.Subnets[z.Name],
			reason:  b.zoneReason(z.Name),
			sets:    sets,
		})
	}
	b.reserved, b.reservedSets = map[string][]awsv1.CapacityReservation{}, map[string][]requirements.Set{}
	for _, r := range b.view.Reservations {
		if reservations.Ended(r, b.market.Time) {
			continue
		}
		b.reserved[r.InstanceType] = append(b.reserved[r.InstanceType], r)
		hardware := instancetype.OfferingLabels(b.view.Settings.Tenancy, tenancyIn(b.view.Settings.Tenancy, r))
		b.reservedSets[r.ID] = b.sets(r.AvailabilityZone, poolv1.CapacityTypeReserved, append(reservationLabels(r), hardware...)...)
	}
}

// zoneReason returns why a zone has no available offering, or "" if it may have available offerings.
func (b *builder) zoneReason(name string) string {
	inZones := b.view.Settings.Zones == nil || slices.ContainsFunc(b.view.Settings.Zones, func(z catalog.Zone) bool { return z.Name == name })
	switch {
	case !inZones:
		return ReasonNoSubnet
	case b.market.Shifted.Shifted(b.zoneIDs[name]):
		return ReasonShifted
	}
	return ""
}

// sets returns the requirements of a zone's offerings of one capacity type, by partition. If the id of the zone is known, they also contain
// the id.
func (b *builder) sets(zoneName, capacityType string, more ...requirements.Requirement) []requirements.Set {
	reqs := append([]requirements.Requirement{
		requirements.In(poolv1.CapacityTypeLabelKey, capacityType),
		requirements.In(corev1.LabelTopologyZone, zoneName),
	}, more...)
	if id := b.zoneIDs[zoneName]; id != "" {
		reqs = append(reqs, requirements.In(awsv1.LabelTopologyZoneID, id))
	}
	sets := make([]requirements.Set, len(b.partitions))
	for i, n := range b.partitions {
		if n > 0 {
			sets[i] = requirements.NewSet(append(slices.Clone(reqs), requirements.In(awsv1.LabelPlacementGroupPartition, strconv.Itoa(int(n))))...)
		} else {
			sets[i] = requirements.NewSet(reqs...)
		}
	}
	return sets
}

func reservationLabels(r awsv1.CapacityReservation) []requirements.Requirement {
	var reqs []requirements.Requirement
	for key, value := range reservations.Labels(r) {
		if key != poolv1.CapacityTypeLabelKey {
			reqs = append(reqs, requirements.In(key, value))
		}
	}
	return reqs
}

// typeOf returns the shape's type, with the labels that reservations and Outposts add.
func (b *builder) typeOf(shape *instancetype.Shape) cloudprovider.InstanceType {
	t := shape.Type
	list := b.reserved[t.Name]
	values := map[string][]string{}
	for _, i := range shape.Facts.Zones {
		if o := b.zones[i].outpost; o != nil {
			values[instancetype.LabelOutpostID] = append(values[instancetype.LabelOutpostID], outposts.ID(o.ARN))
		}
	}
	if len(list)+len(values) == 0 {
		return t
	}
	if len(list) > 0 {
		values[poolv1.CapacityTypeLabelKey] = slices.Clone(t.Requirements.Get(poolv1.CapacityTypeLabelKey).Values())
	}
	for _, r := range list {
		for key, value := range reservations.Labels(r) {
			values[key] = append(values[key], value)
		}
	}
	keys := slices.Sorted(maps.Keys(values))
	reqs := make([]requirements.Requirement, len(keys))
	for i, key := range keys {
		reqs[i] = requirements.In(key, values[key]...)
	}
	t.Requirements = t.Requirements.Without(keys...).With(reqs...)
	return t
}

// offer calls the function give for each possible offering of a type, including offerings without a price. The argument reason says why the
// offering is unavailable; it is empty for available offerings.
func (b *builder) offer(shape *instancetype.Shape, give func(o cloudprovider.Offering, reason string)) {
	for _, variant := range shape.Variants() {
		b.offerIn(variant, give)
		for _, r := range b.reserved[shape.Type.Name] {
			if shape.Tenancy() != instancetype.TenancyApart || sameTenancy(variant, r) {
				b.reserve(variant, r, give)
			}
		}
	}
}

// offerIn calls the function give for each offering of a type with one tenancy, except for offerings of reservations.
func (b *builder) offerIn(shape *instancetype.Shape, give func(o cloudprovider.Offering, reason string)) {
	t := shape.Facts
	onDemand, spot := slices.Contains(t.UsageClasses, poolv1.CapacityTypeOnDemand), slices.Contains(t.UsageClasses, poolv1.CapacityTypeSpot)
	spot = spot && !shape.OnHosts()
	standIn := b.view.StandInPrices[t.Name]
	onDemandQuote := b.onDemandIn(shape, &zone{})
	onDemandBasis := b.basisOf(onDemandQuote)
	low, high := b.spotRange(shape)
	rate := b.rateOf(t)
	for _, i := range t.Zones {
		z := &b.zones[i]
		if z.outpost != nil {
			if onDemand {
				b.onOutpost(shape, z, onDemandQuote, give)
			}
			continue
		}
		if onDemand {
			quote, basis := onDemandQuote, onDemandBasis
			if z.local {
				quote = b.onDemandIn(shape, z)
				basis = b.basisOf(quote)
			}
			price, source := orStandIn(quote.USD, quote.Source, standIn)
			b.buy(shape, z, poolv1.CapacityTypeOnDemand, z.sets[shape.Tenancy()].onDemand, priced{price, source, basis, nil, b.hostsFull(shape, z.name)}, give)
		}
		if spot {
			quote, _ := b.market.Prices.Spot(t.Name, z.name)
			quote = inTenancy(shape, quote)
			price, source := orStandIn(quote.USD, quote.Source, standIn)
			b.buy(shape, z, poolv1.CapacityTypeSpot, z.sets[shape.Tenancy()].spot, priced{price, source, b.basisOfRange(quote, low, high), rate, ""}, give)
		}
	}
}

// orStandIn returns price, or standIn if price is not known.
func orStandIn(price float64, source string, standIn float64) (float64, string) {
	if price > 0 || !(standIn > 0) || math.IsInf(standIn, 0) {
		return price, source
	}
	return standIn, sourceOverlay
}

// sourceOverlay is the source of prices that a NodeOverlay sets: they are used unchanged.
const sourceOverlay = "NodeOverlay"

// priced is a price with its basis.
type priced struct {
	usd    float64
	source string
	basis  *cloudprovider.PriceBasis
	rate   *cloudprovider.InterruptionRate
	// reason says why the offering has no capacity; empty if it may have capacity.
	reason string
}

// buy calls the function give for the offerings of a zone and capacity type, one for each partition.
func (b *builder) buy(shape *instancetype.Shape, z *zone, capacityType string, sets []requirements.Set, p priced, give func(cloudprovider.Offering, string)) {
	reason := cmp.Or(shape.Incompatible, z.reason, p.reason)
	if reason == "" && !shape.OnHosts() && b.market.Unavailable.QuotaClosed(capacityType, shape.Type.Name, shape.Facts.VCPUs) {
		reason = unavailable.ReasonQuota
	}
	switch {
	case p.usd <= 0:
		reason = cmp.Or(reason, ReasonNoPrice)
		p.basis = nil
	case p.source == sourceOverlay:
		p.basis = b.shared(cloudprovider.PriceBasis{Region: b.market.Catalog.Region, Confidence: cloudprovider.PriceGiven})
	default:
		p.usd, p.source = shape.WithLicence(p.usd, p.source)
		p.basis = shape.BasisWithLicence(p.basis)
	}
	for i, partition := range b.partitions {
		why := reason
		if why == "" {
			why = b.closed(shape, z.name, capacityType, partition, z.subnets)
		}
		give(cloudprovider.Offering{Requirements: sets[i], Price: p.usd, PriceSource: p.source, PriceBasis: p.basis, InterruptionRate: p.rate, Available: why == ""}, why)
	}
}

// closed returns why an offering has no capacity, or "" if it may have capacity.
func (b *builder) closed(shape *instancetype.Shape, zoneName, capacityType string, partition int32, subnets []string) string {
	key := unavailable.Key{CapacityType: capacityType, InstanceType: shape.Type.Name, Zone: zoneName}
	key.Hardware = b.hardware(shape, zoneName)
	if b.view.Group != nil {
		key.GroupID, key.Partition = b.view.Group.ID, partition
	}
	reason, closed := b.market.Unavailable.Closed(key, subnets)
	if !closed && b.market.Unavailable.VolumesClosed(zoneName, b.view.Volumes) {
		return unavailable.ReasonVolumes
	}
	return reason
}

// reserve calls the function give for the offerings of a reservation, one for each partition.
func (b *builder) reserve(shape *instancetype.Shape, r awsv1.CapacityReservation, give func(cloudprovider.Offering, string)) {
	room := b.market.Rooms.Room(r.ID)
	reason := cmp.Or(shape.Incompatible, b.zoneReason(r.AvailabilityZone))
	if reason == "" && shape.OnHosts() {
		reason = ReasonReservationOnHosts
	}
	if reason == "" && !sameTenancy(shape, r) {
		reason = ReasonReservationTenancy
	}
	if _, on := b.view.Outposts[r.AvailabilityZone]; on && reason == "" {
		reason = ReasonReservationOnOutpost
	}
	if reason == "" && !b.offeredIn(shape, r.AvailabilityZone) {
		reason = ReasonNoSubnet
	}
	switch {
	case reason != "":
	case reservations.StateAt(r, b.market.Time) == awsv1.CapacityReservationStateExpiring:
		reason = ReasonReservationExpiring
	case room == 0:
		reason = ReasonReservationFull
	}
	onDemand := b.onDemandIn(shape, &zone{})
	for i, partition := range b.partitions {
		why := reason
		if why == "" {
			why = b.closed(shape, r.AvailabilityZone, poolv1.CapacityTypeReserved, partition, b.view.Subnets[r.AvailabilityZone])
		}
		give(cloudprovider.Offering{
			Requirements:        b.reservedSets[r.ID][i],
			Price:               onDemand.USD / reservedPriceDivisor,
			PriceSource:         "reserved: paid for by the reservation",
			Available:           why == "",
			ReservationCapacity: room,
			ReservationEnds:     reservations.TakenBackAt(r),
		}, why)
	}
}

// offeredIn reports whether EC2 offers the type in a zone.
func (b *builder) offeredIn(shape *instancetype.Shape, zoneName string) bool {
	return slices.ContainsFunc(shape.Facts.Zones, func(i int) bool { return b.zones[i].name == zoneName })
}

func equalResources(a, b corev1.ResourceList) bool {
	if reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() {
		return true
	}
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

func equalLimits(a, b map[string]int32) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() || maps.Equal(a, b)
}
