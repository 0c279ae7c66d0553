package conformance

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func spotClauses() []clause {
	return []clause{
		{"CP-SPOT-01", Spot, "spot is bought before on-demand, while there is any", (*lab).spotFirst},
		{"CP-SPOT-02", Spot, "a stock-out of spot closes no on-demand offering", (*lab).spotStockOut},
		{"CP-SPOT-03", Spot, "an instance that was taken back ends as a deleted one does", (*lab).spotReclaimed},
	}
}

func reservedClauses() []clause {
	return []clause{
		{"CP-RESERVED-01", Reserved, "reserved capacity is used first, while there is room", (*lab).reservedFirst},
		{"CP-RESERVED-02", Reserved, "the room left is counted", (*lab).reservedCounted},
		{"CP-RESERVED-03", Reserved, "a full reservation gets no more instances", (*lab).reservedFull},
	}
}

// sold returns the offerings of a capacity type that have room. It skips the clause if no offering has room.
func (l *lab) sold(capacityType string) []cloudprovider.Candidate {
	found := slices.DeleteFunc(l.order(l.claim()), func(c cloudprovider.Candidate) bool {
		return c.Offering.CapacityType() != capacityType || !c.Offering.HasRoom()
	})
	if len(found) == 0 {
		l.Skipf("the catalogue has no %s offering with room", capacityType)
	}
	return found
}

func capacityTypeOf(c *v1.NodeClaim) string { return c.Labels[v1.CapacityTypeLabelKey] }

func (l *lab) spotFirst() {
	l.sold(v1.CapacityTypeSpot)
	either := in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand, v1.CapacityTypeSpot)
	if created := l.create(l.claim(either)); capacityTypeOf(created) != v1.CapacityTypeSpot {
		l.Errorf("bought %q, though spot has room", capacityTypeOf(created))
	}
	if l.SellOut == nil || len(l.withRoom(1, v1.CapacityTypeOnDemand)) == 0 {
		return
	}
	restock := l.SellOut(func(k cloudprovider.OfferingKey) bool { return k.CapacityType == v1.CapacityTypeSpot })
	defer restock()
	// A provider may notice that spot is sold out only after one failed launch.
	created, err := l.tryCreate(l.claim(either))
	if err != nil {
		created, err = l.tryCreate(l.claim(either))
	}
	if err != nil || capacityTypeOf(created) != v1.CapacityTypeOnDemand {
		l.Errorf("spot is sold out, on-demand is not: got %v, %v", created, err)
	}
}

func (l *lab) spotStockOut() {
	candidate := l.sold(v1.CapacityTypeSpot)[0]
	if l.SellOut == nil {
		l.Skip("needs the hook SellOut")
	}
	isOne := func(k cloudprovider.OfferingKey) bool {
		return k.InstanceType == candidate.Type.Name && k.CapacityType == v1.CapacityTypeSpot
	}
	restock := l.SellOut(isOne)
	defer restock()
	before := shelf(l.types())
	_, err := l.tryCreate(l.claim(in(corev1.LabelInstanceTypeStable, candidate.Type.Name), in(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot)))
	if err == nil {
		l.Error("spot is sold out, but Create launched an instance")
	}
	l.closed(before, l.NodePool, isOne, "after spot was found out of stock")
}

func (l *lab) spotReclaimed() {
	l.sold(v1.CapacityTypeSpot)
	if l.Interrupt == nil {
		l.Skip("needs the hook Interrupt")
	}
	instance := l.create(l.claim(in(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot)))
	id := instance.Status.ProviderID
	if err := l.Interrupt(id, cloudprovider.InterruptionSpotReclaim, 0); err != nil {
		l.Skipf("the cloud can't take spot instances back: %v", err)
	}
	if got, err := l.Provider.Get(l.Context(), id); err == nil && got.DeletionTimestamp.IsZero() {
		if !l.patiently(func() bool {
			got, err = l.Provider.Get(l.Context(), id)
			return err != nil || !got.DeletionTimestamp.IsZero()
		}) {
			l.Fatalf("instance %q was taken back, and Get describes it as running", id)
		}
	}
	l.end(instance)
	if c := l.list()[id]; c != nil && c.DeletionTimestamp.IsZero() {
		l.Errorf("instance %q was taken back and is gone, and List has it as running", id)
	}
}

// room returns the number of free instances of a reservation according to the catalogue.
func (l *lab) room(reservation string) int {
	for _, t := range l.types() {
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.Reserved() && o.Value(l.caps.ReservationIDLabel) == reservation {
				return o.ReservationCapacity
			}
		}
	}
	return 0
}

func (l *lab) reservedFirst() {
	candidate := l.sold(v1.CapacityTypeReserved)[0]
	created := l.create(l.claim(in(corev1.LabelInstanceTypeStable, candidate.Type.Name)))
	if capacityTypeOf(created) != v1.CapacityTypeReserved {
		l.Errorf("bought %q, though reservation %q has room", capacityTypeOf(created), candidate.Offering.Value(l.caps.ReservationIDLabel))
	}
	if created.Labels[l.caps.ReservationIDLabel] == "" {
		l.Errorf("the instance does not name its reservation in label %q", l.caps.ReservationIDLabel)
	}
}

func (l *lab) reservedCounted() {
	candidate := l.sold(v1.CapacityTypeReserved)[0]
	reservation := candidate.Offering.Value(l.caps.ReservationIDLabel)
	before := l.room(reservation)
	instance := l.create(l.ofOffering(candidate))
	if after := l.room(reservation); after != before-1 {
		l.Errorf("reservation %q had room for %d, and after a launch for %d", reservation, before, after)
	}
	l.end(instance)
	if after := l.room(reservation); after != before {
		l.Errorf("reservation %q had room for %d, and once the instance is gone for %d", reservation, before, after)
	}
}

// mostReserved is the largest number of instances that a clause launches to fill a reservation.
const mostReserved = 20

func (l *lab) reservedFull() {
	candidate := l.sold(v1.CapacityTypeReserved)[0]
	reservation := candidate.Offering.Value(l.caps.ReservationIDLabel)
	room := l.room(reservation)
	if room > mostReserved {
		l.Skipf("reservation %q has room for %d: too many to fill", reservation, room)
	}
	for range room {
		l.create(l.ofOffering(candidate))
	}
	if created, err := l.tryCreate(l.ofOffering(candidate)); !cloudprovider.IsInsufficientCapacity(err) {
		l.Errorf("reservation %q is full: got %v, %v, want kind %s", reservation, created, err, cloudprovider.InsufficientCapacity)
	}
	other := l.withRoom(0, v1.CapacityTypeOnDemand, v1.CapacityTypeSpot)
	if !slices.ContainsFunc(other, func(c cloudprovider.Candidate) bool { return c.Type.Name == candidate.Type.Name }) {
		return
	}
	if created := l.create(l.claim(in(corev1.LabelInstanceTypeStable, candidate.Type.Name))); capacityTypeOf(created) == v1.CapacityTypeReserved {
		l.Errorf("reservation %q is full and got one more instance", reservation)
	}
}
