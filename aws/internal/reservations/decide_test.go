package reservations_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/reservations"
)

func known(id string, kind awsv1.CapacityReservationType, end time.Duration) awsv1.CapacityReservation {
	return awsv1.CapacityReservation{ID: id, ReservationType: kind, EndTime: &metav1.Time{Time: start().Add(end)}}
}

// AWN-109, AWN-309, AWI-126: only a block less than forty minutes from its end is expiring, seventy if it is of UltraServers.
func TestStateAt(t *testing.T) {
	endless := known("cr", "capacity-block", 0)
	endless.EndTime = nil
	of := func(r awsv1.CapacityReservation, instanceType string) awsv1.CapacityReservation {
		r.InstanceType = instanceType
		return r
	}
	for _, test := range []struct {
		reservation awsv1.CapacityReservation
		want        awsv1.CapacityReservationState
	}{
		{of(known("cr", "capacity-block", 41*time.Minute), "p5.48xlarge"), "active"},
		{of(known("cr", "capacity-block", 70*time.Minute), "trn2u.48xlarge"), "active"},
		{of(known("cr", "capacity-block", 70*time.Minute-1), "trn2u.48xlarge"), "expiring"},
		{of(known("cr", "capacity-block", 70*time.Minute-1), "p6e-gb200.36xlarge"), "expiring"},
		{of(known("cr", "capacity-block", 70*time.Minute-1), "trn2.48xlarge"), "active"},
		{of(known("cr", "default", time.Minute), "trn2u.48xlarge"), "active"},
		{known("cr", "capacity-block", 40*time.Minute), "active"},
		{known("cr", "capacity-block", 40*time.Minute-1), "expiring"},
		{known("cr", "default", time.Minute), "active"},
		{known("cr", "", time.Minute), "active"},
		{endless, "active"},
	} {
		if got := reservations.StateAt(test.reservation, start()); got != test.want {
			t.Errorf("%+v is %s", test.reservation, got)
		}
	}
}

// AWN-110, AWI-125: the next look is in a minute, or when one ends.
func TestNextLook(t *testing.T) {
	list := []awsv1.CapacityReservation{known("cr-1", "default", 20*time.Second), known("cr-2", "default", -time.Second), known("cr-3", "default", time.Hour)}
	if got := reservations.NextLook(list, start()).Sub(start()); got != 20*time.Second {
		t.Errorf("in %s", got)
	}
	if got := reservations.NextLook(list[1:], start()).Sub(start()); got != time.Minute {
		t.Errorf("in %s", got)
	}
}

func reservedLabels() map[string]string {
	return map[string]string{
		poolv1.CapacityTypeLabelKey:                 "reserved",
		awsv1.LabelCapacityReservationID:            "cr-1",
		awsv1.LabelCapacityReservationType:          "default",
		awsv1.LabelCapacityReservationInterruptible: "false",
	}
}

// AWN-308, AWI-130, OPP-22: demotion takes all labels off, promotion puts them on.
func TestRelabel(t *testing.T) {
	class := []awsv1.CapacityReservation{{ID: "cr-1", Interruptible: true}}
	onDemand := map[string]string{poolv1.CapacityTypeLabelKey: "on-demand"}
	demoted := reservations.Relabeling{
		Set: map[string]string{poolv1.CapacityTypeLabelKey: "on-demand"},
		Remove: []string{
			"karpenter.k8s.aws/capacity-reservation-id", "karpenter.k8s.aws/capacity-reservation-interruptible", "karpenter.k8s.aws/capacity-reservation-type",
		},
	}
	promoted := reservations.Relabeling{Set: map[string]string{
		poolv1.CapacityTypeLabelKey: "reserved", awsv1.LabelCapacityReservationID: "cr-1",
		awsv1.LabelCapacityReservationType: "default", awsv1.LabelCapacityReservationInterruptible: "true",
	}}
	for _, test := range []struct {
		name     string
		labels   map[string]string
		deleting bool
		instance reservations.Instance
		want     reservations.Relabeling
	}{
		{"AWI-130 fell out of its reservation", reservedLabels(), false, reservations.Instance{CapacityType: "on-demand"}, demoted},
		{"AWI-130 still in it", reservedLabels(), false, reservations.Instance{CapacityType: "reserved", ReservationID: "cr-1"}, reservations.Relabeling{}},
		{"AWI-130 being deleted", reservedLabels(), true, reservations.Instance{CapacityType: "on-demand"}, reservations.Relabeling{}},
		{"AWI-130 EC2 does not say", reservedLabels(), false, reservations.Instance{}, reservations.Relabeling{}},
		{"OPP-22 taken in by a reservation of the class", onDemand, false, reservations.Instance{CapacityType: "on-demand", ReservationID: "cr-1"}, promoted},
		{"OPP-22 taken in by another one", onDemand, false, reservations.Instance{CapacityType: "on-demand", ReservationID: "cr-2"}, reservations.Relabeling{}},
		{"OPP-22 in none", onDemand, false, reservations.Instance{CapacityType: "on-demand"}, reservations.Relabeling{}},
		{"spot", map[string]string{poolv1.CapacityTypeLabelKey: "spot"}, false, reservations.Instance{CapacityType: "spot"}, reservations.Relabeling{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := reservations.Relabel(test.labels, test.deleting, test.instance, class)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Empty() != cmp.Equal(test.want, reservations.Relabeling{}) {
				t.Errorf("Empty is %t", got.Empty())
			}
		})
	}
}

// AWN-307, AWN-309, AWI-131, DIS-273: instances leave a block forty minutes before its end, and no other reservation.
func TestMustLeave(t *testing.T) {
	blocks := []awsv1.CapacityReservation{known("cr-1", "capacity-block", 40*time.Minute)}
	if reservations.MustLeave(reservedLabels(), blocks, start()) {
		t.Error("leaves too early")
	}
	if !reservations.MustLeave(reservedLabels(), blocks, start().Add(time.Second)) {
		t.Error("does not leave")
	}
	if reservations.MustLeave(map[string]string{poolv1.CapacityTypeLabelKey: "on-demand"}, blocks, start().Add(time.Hour)) {
		t.Error("an instance in no reservation leaves")
	}
	if reservations.MustLeave(reservedLabels(), []awsv1.CapacityReservation{known("cr-1", "default", time.Minute)}, start()) {
		t.Error("leaves an ordinary reservation")
	}
}

// AWI-132.
func TestDrifted(t *testing.T) {
	class := []awsv1.CapacityReservation{{ID: "cr-1"}}
	for instance, want := range map[reservations.Instance]bool{
		{CapacityType: "reserved", ReservationID: "cr-1"}:  false,
		{CapacityType: "reserved", ReservationID: "cr-2"}:  true,
		{CapacityType: "on-demand"}:                        false,
		{CapacityType: "on-demand", ReservationID: "cr-2"}: false,
	} {
		if got := reservations.Drifted(instance, class); got != want {
			t.Errorf("%+v drifted: %t", instance, got)
		}
	}
}

func Example() {
	tracker := reservations.NewTracker(nil)
	tracker.Sync(time.Now(), reservations.Reservation{
		CapacityReservation: awsv1.CapacityReservation{ID: "cr-1"}, Available: 3, Total: 5,
	})
	place := tracker.Hold(1, "cr-1") // a launch is under way
	fmt.Println(tracker.Snapshot().Room("cr-1"))
	place.Settle("cr-1", time.Now()) // and has brought an instance
	fmt.Println(tracker.Snapshot().Room("cr-1"))
	// Output:
	// 2
	// 2
}

// Instances of capacity blocks are taken back before the end, when the block is no longer launched into, and those of other reservations never:
// EC2 terminates instances of a block from 30 minutes before its end, of UltraServers from 60.
func TestTakenBackAt(t *testing.T) {
	ultra := known("cr", "capacity-block", 24*time.Hour)
	ultra.InstanceType = "p6e-gb200.36xlarge"
	endless := ultra
	endless.EndTime = nil
	for _, test := range []struct {
		r    awsv1.CapacityReservation
		want time.Time
	}{
		{known("cr", "capacity-block", 24*time.Hour), start().Add(23*time.Hour + 20*time.Minute)},
		{ultra, start().Add(22*time.Hour + 50*time.Minute)},
		{endless, time.Time{}},
		{known("cr", "default", 24*time.Hour), time.Time{}},
	} {
		got := reservations.TakenBackAt(test.r)
		if !got.Equal(test.want) {
			t.Errorf("%+v: %s, want %s", test.r, got, test.want)
		}
		if !got.IsZero() && (reservations.StateAt(test.r, got) != "active" || reservations.StateAt(test.r, got.Add(1)) != "expiring") {
			t.Errorf("%+v is not launched into until %s", test.r, got)
		}
	}
}
