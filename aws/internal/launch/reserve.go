package launch

import (
	"slices"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/cloudprovider"
)

// reserve holds capacity for one instance in the first reservation, in launch order, that has more free capacity than other launches in
// progress hold. If EC2 chose among several reservations, each launch of a burst would have to hold capacity in all of them, and the
// launches would exclude each other. Only for a claim with minValues EC2 chooses the reservation, so the launch holds capacity in each
// reservation.
func (l *Launcher) reserve(f *flight) {
	f.place = nil
	if l.options.Reservations == nil || f.choice.CapacityType != v1.CapacityTypeReserved {
		return
	}
	ids := make([]string, len(f.choice.Candidates))
	for i, c := range f.choice.Candidates {
		ids[i] = reservationOf(c)
	}
	if f.claims != nil {
		// All instances are launched into one reservation. If other launches have used its capacity in the meantime, nothing is launched.
		f.place = l.options.Reservations.HoldTogether(f.count(), ids...)
		return
	}
	most := 1
	if f.hasMinValues() {
		most = len(ids)
	}
	f.place = l.options.Reservations.Hold(most, ids...)
	if !f.place.Empty() {
		return
	}
	// If other launches of the same burst hold all the capacity, the launch uses the claim's other offerings; a claim without other
	// offerings is refused.
	wish := f.wish
	wish.WithoutReserved = true
	if choice, err := Choose(f.InstanceTypes, wish); err == nil {
		f.choice, f.place = choice, nil
	}
}

func (f *flight) hasMinValues() bool {
	for _, r := range f.NodeClaim.Spec.Requirements {
		if r.MinValues != nil {
			return true
		}
	}
	return false
}

// hasPlace reports whether the launch holds capacity in the candidate's reservation, or does not need to hold capacity.
func (f *flight) hasPlace(c cloudprovider.Candidate) bool {
	return f.place == nil || f.place.Has(reservationOf(c))
}

// settle releases the held capacity. The first argument is the reservation in which the instances were launched, and the second is the
// number of instances: see reservations.Hold. Further calls do nothing.
func (f *flight) settle(used string, instances int, at time.Time) {
	if f.place != nil {
		f.place.SettleTogether(used, instances, at)
	}
}

// roomForAll returns the candidates whose reservation has room for all instances of the launch.
func (l *Launcher) roomForAll(f *flight, candidates []cloudprovider.Candidate) []cloudprovider.Candidate {
	rooms := l.rooms()
	return slices.DeleteFunc(slices.Clone(candidates), func(c cloudprovider.Candidate) bool {
		if rooms != nil {
			return rooms.Room(reservationOf(c)) < f.count()
		}
		return c.Offering.ReservationCapacity < f.count()
	})
}

// elsewhere reports whether the reservations that a launch tried were full, while another suitable reservation has room. The launch is then
// repeated with that reservation. If the request had named that reservation, EC2 would already have used it.
func (l *Launcher) elsewhere(f *flight) bool {
	if f.place == nil {
		return false
	}
	rooms, other := l.rooms(), false
	for _, c := range f.choice.Candidates {
		hasRoom := rooms.Room(reservationOf(c)) > 0
		if hasRoom && f.hasPlace(c) {
			return false // a tried reservation still has room, so the launch failed for another reason
		}
		other = other || hasRoom
	}
	return other
}

// rooms returns the free capacity of all reservations now, or nil if Options.Reservations is nil.
func (l *Launcher) rooms() *reservations.Rooms {
	if l.options.Reservations == nil {
		return nil
	}
	return l.options.Reservations.Snapshot()
}

func reservationOf(c cloudprovider.Candidate) string {
	return c.Offering.Value(awsv1.LabelCapacityReservationID)
}

// ReservedPlaces returns the number of instances that can be launched in capacity reservations now for the request, or 0 if no suitable
// reservation has room.
func (l *Launcher) ReservedPlaces(r Request) int {
	f, err := l.prepare(r)
	if err != nil {
		return 0
	}
	choice, err := Choose(r.InstanceTypes, f.wish)
	if err != nil || choice.CapacityType != v1.CapacityTypeReserved {
		return 0
	}
	rooms, seen, places := l.rooms(), map[string]bool{}, 0
	for _, c := range choice.Candidates {
		id := reservationOf(c)
		if seen[id] {
			continue
		}
		seen[id] = true
		if rooms != nil {
			places += rooms.Room(id)
		} else {
			places += c.Offering.ReservationCapacity
		}
	}
	return places
}
