package launch

import (
	"context"
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// A fleet launches into one reservation. If no reservation has room for all claims of a launch with Whole, but several have room together,
// each of these reservations gets a part of the claims, which is launched by a separate fleet. If one fleet fails, the caller terminates
// the instances of the other fleets. Each part is a separate batch, so its instances are found and assigned as in every batch.

// shares divides the claims among the reservations that suit them. In launch order, each reservation gets as many claims as it has room
// for. The reservations may be of different types, zones and kinds. It returns nil if the reservations have too little room for all claims.
func (l *Launcher) shares(f *flight, choice Choice) (parts []*flight) {
	rooms, left, named := l.rooms(), f.claims, map[string]bool{}
	for _, c := range choice.Suited {
		id := reservationOf(c)
		if len(left) == 0 || !c.Offering.Reserved() || !c.Offering.HasRoom() || named[id] {
			continue
		}
		named[id] = true
		room := c.Offering.ReservationCapacity
		if rooms != nil {
			room = rooms.Room(id)
		}
		n := min(room, len(left))
		if n <= 0 {
			continue
		}
		part := *f
		part.claims, left = left[:n:n], left[n:]
		part.choice = choice
		part.choice.CapacityType, part.choice.Candidates = v1.CapacityTypeReserved, []cloudprovider.Candidate{c}
		parts = append(parts, &part)
	}
	if len(left) > 0 {
		return nil
	}
	return parts
}

// launchShares launches the parts one after another, and stops at the first part that fails. It then returns the error of this part and the
// instances of the parts that succeeded.
func (l *Launcher) launchShares(ctx context.Context, f *flight, parts []*flight, generation int) ([]*Instance, error) {
	var all []*Instance
	for i, part := range parts {
		from, _ := l.attempts.beginFrom(part.key(), nil, generation)
		launched, _, err := l.tryWay(ctx, part, from)
		all = append(all, launched...)
		if err == nil && len(launched) < part.count() {
			err = cloudprovider.NewTransientError(fmt.Errorf("EC2's answer describes only %d of %d instances", len(launched), part.count()))
		}
		if err != nil {
			for _, before := range parts[:i+1] {
				l.attempts.succeed(before.key()) // a repeated call must not return an instance that this part has launched
			}
			return all, fmt.Errorf("launching %d of them into capacity reservation %s: %w", part.count(), reservationOf(part.choice.Candidates[0]), err)
		}
	}
	l.attempts.succeed(f.key(), all...)
	return all, nil
}
