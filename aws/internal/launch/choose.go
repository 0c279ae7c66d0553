package launch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

// MaxInstanceTypes is the largest number of types that a launch names, because EC2 limits the length of requests.
const MaxInstanceTypes = 60

// fewSpotTypes is the number of instance types below which advice recommends to allow more types, so that spot capacity is found more
// often.
const fewSpotTypes = 5

// Wish contains the settings of a claim that determine which offerings Choose selects.
type Wish struct {
	// Requirements of the claim.
	Requirements requirements.Set
	// Requests are the resources that the instance must have for pods.
	Requests corev1.ResourceList
	// MinValuesRelaxed accepts fewer values than the requirements' minValues ask for.
	MinValuesRelaxed bool
	// WithoutReserved leaves reserved offerings out, as if the reservations were full.
	WithoutReserved bool
	// Cost contains the expected costs of offerings. Offerings are ordered and chosen by these costs. Nil means that their prices are used.
	// See roughly.
	Cost cloudprovider.LaunchCost
}

// Choice has the offerings for a launch request to EC2.
type Choice struct {
	// CapacityType of all candidates: see the CapacityType constants of api/v1.
	CapacityType string
	// Tenancy of the instance: see the Tenancy constants of aws/api/v1.
	Tenancy string
	// Candidates are the offerings to request. All have capacity. They are ordered by cost and then by key.
	Candidates []cloudprovider.Candidate
	// Cost is Wish.Cost, rounded; nil if Wish.Cost is nil. It is not for concurrent use.
	Cost cloudprovider.LaunchCost
	// Suited are all offerings that meet the requirements and requests of the Wish, with or without capacity, in the order of
	// cloudprovider.LaunchOrderBy.
	Suited []cloudprovider.Candidate
	// Ruled lists, by stage, the instance types that were left out although they are in Suited and have capacity.
	Ruled []Ruling
	// Advice is a sentence for the operator; empty when there is none.
	Advice string
}

// Ruling contains the instance types that a stage of Choose left out.
type Ruling struct {
	// Stage is the reason for leaving them out, as text for people.
	Stage string
	// InstanceTypes that lost all their offerings in this stage, sorted.
	InstanceTypes []string
}

// String returns the stage with up to five type names.
func (r Ruling) String() string {
	names := r.InstanceTypes
	if len(names) <= 5 {
		return r.Stage + ": " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s: %s and %d more", r.Stage, strings.Join(names[:5], ", "), len(names)-5)
}

// InstanceTypes returns the candidates' types by name, each with only its candidates as offerings. The types are copies; what they point to
// is shared.
func (c *Choice) InstanceTypes() []*cloudprovider.InstanceType {
	byName := map[string]*cloudprovider.InstanceType{}
	var types []*cloudprovider.InstanceType
	for _, candidate := range c.Candidates {
		if candidate.Type == nil || candidate.Offering == nil {
			continue
		}
		t := byName[candidate.Type.Name]
		if t == nil {
			narrowed := *candidate.Type
			narrowed.Offerings = nil
			t = &narrowed
			byName[t.Name] = t
			types = append(types, t)
		}
		t.Offerings = append(t.Offerings, *candidate.Offering)
	}
	slices.SortFunc(types, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return types
}

// Choose selects the instance types for the request to EC2. It is pure: the same types and requirements give the same result,
// independent of the order of the types. If no offering is left, the error has kind InsufficientCapacity and names the compatible offerings
// without capacity.
func Choose(types []*cloudprovider.InstanceType, wish Wish) (Choice, error) {
	wish.Cost = roughly(wish.Cost)
	s := &selection{wish: wish}
	c := Choice{
		Suited: cloudprovider.LaunchOrderBy(types, wish.Requirements, wish.Requests, wish.Cost),
		Cost:   wish.Cost,
	}
	for _, candidate := range c.Suited {
		if candidate.Offering.HasRoom() && !(wish.WithoutReserved && candidate.Offering.Reserved()) {
			s.left = append(s.left, candidate)
		}
	}
	if len(s.left) == 0 {
		return c, s.nothing(c.Suited)
	}
	for _, stage := range [...]func(){s.oneTenancy, s.reservationKind, s.oneBlock, s.oneReservation, s.exotic, s.expensiveSpot} {
		stage()
	}
	if err := s.truncate(); err != nil {
		return c, err
	}
	c.CapacityType = s.left[0].Offering.CapacityType()
	c.Tenancy = tenancyOf(wish.Requirements, s.left[0])
	for _, candidate := range s.left {
		if candidate.Offering.CapacityType() == c.CapacityType {
			c.Candidates = append(c.Candidates, candidate)
		}
	}
	c.Ruled = s.ruled
	c.Advice = s.advice(c.CapacityType)
	return c, nil
}

// tenancyOf returns the tenancy of an instance of the candidate: the tenancy that its offering states, or else the first tenancy that the
// requirements want and the type allow.
func tenancyOf(want requirements.Set, c cloudprovider.Candidate) string {
	return cmp.Or(c.Offering.Value(awsv1.LabelInstanceTenancy), tenancy(want, c.Type.Requirements))
}

// oneTenancy keeps the candidates with the tenancy of the first candidate, because a launch template has one tenancy. Other tenancies cost
// more, and are launched once there is no capacity in the first tenancy.
func (s *selection) oneTenancy() {
	first := s.left[0].Offering.Value(awsv1.LabelInstanceTenancy)
	s.keep("of another tenancy", func(c cloudprovider.Candidate) bool { return c.Offering.Value(awsv1.LabelInstanceTenancy) == first })
}

// tenancy returns the first tenancy that both want and offered allow, or shared hardware if they have no tenancy in common. The order is:
// shared hardware, dedicated hardware, hosts.
func tenancy(want, offered requirements.Set) string {
	for _, tenancy := range []string{awsv1.TenancyDefault, awsv1.TenancyDedicated, awsv1.TenancyHost} {
		if allows(want, tenancy) && allows(offered, tenancy) {
			return tenancy
		}
	}
	return awsv1.TenancyDefault
}

// allows reports whether a set allows the tenancy or does not mention tenancy.
func allows(set requirements.Set, tenancy string) bool {
	return !set.Has(awsv1.LabelInstanceTenancy) || set.Get(awsv1.LabelInstanceTenancy).Has(tenancy)
}

// selection has the remaining candidates, always in launch order: by capacity type, cost and key.
type selection struct {
	wish  Wish
	left  []cloudprovider.Candidate
	ruled []Ruling
}

// nothing returns the error that Choose returns if no candidate is left. It names the suitable offerings, which are all unavailable.
func (s *selection) nothing(suited []cloudprovider.Candidate) error {
	if len(suited) == 0 {
		return cloudprovider.NewInsufficientCapacityError(fmt.Errorf("no offering meets the requirements %q", s.wish.Requirements.String()))
	}
	return cloudprovider.NewInsufficientCapacityError(nil, keysOf(suited)...)
}

func keysOf(candidates []cloudprovider.Candidate) []cloudprovider.OfferingKey {
	keys := make([]cloudprovider.OfferingKey, len(candidates))
	for i, c := range candidates {
		keys[i] = c.Key()
	}
	return keys
}

// keep removes the candidates for which the function returns false, and records in the field ruled which types were left out.
func (s *selection) keep(stage string, keep func(cloudprovider.Candidate) bool) {
	kept := make([]cloudprovider.Candidate, 0, len(s.left))
	remaining := map[string]bool{}
	for _, c := range s.left {
		if keep(c) {
			kept = append(kept, c)
			remaining[c.Type.Name] = true
		}
	}
	var lost []string
	for _, c := range s.left {
		if !remaining[c.Type.Name] {
			lost = append(lost, c.Type.Name)
		}
	}
	if slices.Sort(lost); len(lost) > 0 {
		s.ruled = append(s.ruled, Ruling{Stage: stage, InstanceTypes: slices.Compact(lost)})
	}
	s.left = kept
}

// The kinds of reservations; one launch can't use several of them. Of kinds with equal prices, the first in this order is used.
const (
	notReserved = iota
	kindDefault
	kindBlock
	kindInterruptible
)

func reservationKind(c cloudprovider.Candidate) int {
	switch o := c.Offering; {
	case !o.Reserved():
		return notReserved
	case o.Value(awsv1.LabelCapacityReservationType) == string(awsv1.CapacityReservationTypeCapacityBlock):
		return kindBlock
	case o.Value(awsv1.LabelCapacityReservationInterruptible) == "true":
		return kindInterruptible
	}
	return kindDefault
}

// If there are offerings in reservations, reservationKind keeps only those of the cheapest kind of reservation.
func (s *selection) reservationKind() {
	best, least := notReserved, math.Inf(1)
	for _, c := range s.left {
		kind := reservationKind(c)
		if kind == notReserved {
			continue
		}
		if cost := s.wish.Cost.Of(c); cost < least || cost == least && kind < best {
			best, least = kind, cost
		}
	}
	if best != notReserved {
		s.keep("of another kind of reservation, or not reserved", func(c cloudprovider.Candidate) bool { return reservationKind(c) == best })
	}
}

// oneBlock keeps only the cheapest capacity block, because a fleet takes only one.
func (s *selection) oneBlock() {
	if reservationKind(s.left[0]) == kindBlock {
		cheapest := s.left[0].Offering
		s.keep("not the cheapest capacity block", func(c cloudprovider.Candidate) bool { return c.Offering == cheapest })
	}
}

// place is the combination of an instance type and a zone. A fleet request may contain each combination only once.
type place struct{ instanceType, zone string }

func placeOf(c cloudprovider.Candidate) place { return place{c.Type.Name, c.Offering.Zone()} }

// oneReservation keeps one offering for each type and zone: of several reservations, the one with the most free instances; of several
// partitions of a placement group, the first in text order, which launch templates name.
func (s *selection) oneReservation() {
	best := map[place]cloudprovider.Candidate{}
	key := func(c cloudprovider.Candidate) (p place, partition string) {
		p = placeOf(c)
		p.zone += "/" + c.Offering.CapacityType()
		return p, c.Offering.Value(awsv1.LabelPlacementGroupPartition)
	}
	for _, c := range s.left {
		at, partition := key(c)
		other, taken := best[at]
		if !taken {
			best[at] = c
			continue
		}
		_, otherPartition := key(other)
		larger := c.Offering.Reserved() && c.Offering.ReservationCapacity > other.Offering.ReservationCapacity
		if partition < otherPartition || partition == otherPartition && larger {
			best[at] = c
		}
	}
	s.keep("not the largest reservation of its type and zone", func(c cloudprovider.Candidate) bool {
		at, _ := key(c)
		return best[at].Offering == c.Offering
	})
}

// exotic drops bare metal types and types with accelerators if the selection also has other types and the claim has no minValues.
func (s *selection) exotic() {
	plain := func(c cloudprovider.Candidate) bool { return !isExotic(c.Type) }
	if !s.hasMinValues() && slices.ContainsFunc(s.left, plain) {
		s.keep("bare metal or accelerated", plain)
	}
}

func isExotic(t *cloudprovider.InstanceType) bool {
	if _, size, _ := strings.Cut(t.Name, "."); strings.Contains(size, "metal") {
		return true
	}
	for _, accelerator := range [...]corev1.ResourceName{
		instancetype.ResourceNVIDIAGPU, instancetype.ResourceAMDGPU, instancetype.ResourceHabanaGaudi,
		instancetype.ResourceNeuron, instancetype.ResourceNeuronCore,
	} {
		if quantity, ok := t.Capacity[accelerator]; ok && quantity.Sign() > 0 {
			return true
		}
	}
	// If DRA drivers serve the accelerators, they are in t.Devices, not in t.Capacity. EFA devices are no accelerators.
	return slices.ContainsFunc(t.Devices, func(p cloudprovider.DevicePool) bool { return len(p.Devices) > instancetype.EFAs(&p) })
}

// expensiveSpot drops spot offerings that cost more than the cheapest on-demand offering, unless the claim has minValues.
func (s *selection) expensiveSpot() {
	if s.hasMinValues() {
		return
	}
	limit := math.Inf(1)
	for _, c := range s.left {
		if c.Offering.CapacityType() == v1.CapacityTypeOnDemand {
			limit = min(limit, s.wish.Cost.Of(c))
		}
	}
	s.keep("more expensive as spot than the cheapest on-demand", func(c cloudprovider.Candidate) bool {
		return c.Offering.CapacityType() != v1.CapacityTypeSpot || s.wish.Cost.Of(c) <= limit
	})
}

// advice returns advice for a launch that is on-demand although spot is allowed, if there are few types to choose from; otherwise "".
func (s *selection) advice(capacityType string) string {
	want := s.wish.Requirements.Get(v1.CapacityTypeLabelKey)
	spot := !s.wish.Requirements.Has(v1.CapacityTypeLabelKey) || want.Has(v1.CapacityTypeSpot)
	if n := len(s.byCost()); capacityType == v1.CapacityTypeOnDemand && spot && n < fewSpotTypes {
		return fmt.Sprintf("launching on-demand with %d instance types to choose from: allow at least %d to find spot capacity more often",
			n, fewSpotTypes)
	}
	return ""
}
