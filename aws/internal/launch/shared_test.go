package launch_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/cloudprovider"
)

// sharedMarket is a type in one reservation with room for two, and another type in a reservation with room for one, and on demand.
func sharedMarket() []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{
		instanceType("m5.large", offering("reserved", "a", 0.01, reservation("cr-1", "default", false, 2))),
		instanceType("m6.large", offering("reserved", "a", 0.02, reservation("cr-2", "default", false, 1)), offering("on-demand", "a", 1)),
	}
}

func (w *world) rooms(first, second int) {
	for id, n := range map[string]int{"cr-1": first, "cr-2": second} {
		w.reserved.Sync(w.now, reservations.Reservation{CapacityReservation: awsv1.CapacityReservation{ID: id}, Available: n, Total: 5})
	}
}

// counts are the numbers of instances that were asked for, and the least number of each.
func (w *world) counts() (list [][2]int32) {
	for _, in := range w.requests {
		list = append(list, [2]int32{*in.TargetCapacitySpecification.TotalTargetCapacity, *in.OnDemandOptions.MinTargetCapacity})
	}
	return list
}

// CP-GROUP-01, CP-GROUP-03: a launch of all or nothing that no reservation has room for takes its places in several, the cheapest first, each by
// a request of all or nothing; the answer is remembered as one.
func TestLaunchWholeInTwoReservations(t *testing.T) {
	w := newWorld(t)
	w.rooms(2, 1)
	w.expect(givesMany(2), givesMany(7))
	claims := several(3)
	together := launch.Together{NodeClaims: claims, NodeClass: nodeClass(), InstanceTypes: sharedMarket(), Whole: true}
	launched, err := w.launcher.LaunchTogether(t.Context(), together)
	if err != nil || len(launched) != 3 {
		t.Fatalf("%v, %v", launched, err)
	}
	if diff := cmp.Diff([][2]int32{{2, 2}, {1, 1}}, w.counts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	where := map[string]int{}
	for i, m := range launched {
		if m == nil || m.NodeClaimUID != claims[i].UID {
			t.Fatalf("claim %d got %+v", i, m)
		}
		where[m.Offering.Value(awsv1.LabelCapacityReservationID)+" "+m.Type.Name]++
	}
	if diff := cmp.Diff(map[string]int{"cr-1 m5.large": 2, "cr-2 m6.large": 1}, where); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if rooms := w.reserved.Snapshot(); rooms.Room("cr-1") != 0 || rooms.Room("cr-2") != 0 {
		t.Errorf("room for %d and %d is left", rooms.Room("cr-1"), rooms.Room("cr-2"))
	}
	again, err := w.launcher.LaunchTogether(t.Context(), together)
	if err != nil || idsOf(again) != idsOf(launched) || len(w.requests) != 2 {
		t.Errorf("%s, then %s, %v after %d calls", idsOf(launched), idsOf(again), err, len(w.requests))
	}
}

// CP-GROUP-02: if one of the reservations is full in spite of what EC2 said, the error says so, and the instances of the others are returned, to be
// terminated; they are no answer to the next call. Reservations that are too small together are unsupported.
func TestLaunchWholeInTwoReservationsFails(t *testing.T) {
	w := newWorld(t)
	w.rooms(2, 1)
	w.expect(givesMany(2), refuses("ReservationCapacityExceeded"), givesMany(5), givesMany(7))
	together := launch.Together{NodeClaims: several(3), NodeClass: nodeClass(), InstanceTypes: sharedMarket(), Whole: true}
	launched, err := w.launcher.LaunchTogether(t.Context(), together)
	if !cloudprovider.IsInsufficientCapacity(err) || errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("%v", err)
	}
	there := 0
	for _, m := range launched {
		if m != nil {
			there++
		}
	}
	if there != 2 {
		t.Errorf("%s are returned", idsOf(launched))
	}
	w.now = w.now.Add(1)
	w.rooms(2, 1)
	if again, err := w.launcher.LaunchTogether(t.Context(), together); err != nil || len(w.requests) != 4 || sameToken(w.requests[0], w.requests[2]) {
		t.Errorf("%v, %v after %d calls", again, err, len(w.requests))
	}
	w = newWorld(t)
	w.rooms(2, 0)
	if _, err := w.launcher.LaunchTogether(t.Context(), together); !errors.Is(err, errors.ErrUnsupported) || len(w.requests) > 0 {
		t.Errorf("reservations with too little room: %v", err)
	}
}

func sameToken(a, b *ec2.CreateFleetInput) bool { return *a.ClientToken == *b.ClientToken }
