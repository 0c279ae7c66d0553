package reservations

import (
	"slices"
	"strconv"
	"time"

	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// Instance is the part of EC2's description of an instance that concerns reservations.
type Instance struct {
	// CapacityType is "reserved", "on-demand" or "spot".
	CapacityType string
	// ReservationID of the reservation that the instance runs in; empty if it runs in none. An on-demand instance also runs in an open
	// reservation if it matches.
	ReservationID string
}

// Relabeling is a change of labels, of a claim and then of its node.
type Relabeling struct {
	// Set are labels with their new values.
	Set map[string]string
	// Remove are the keys of labels to remove, sorted.
	Remove []string
}

// Empty reports whether there is nothing to change.
func (r Relabeling) Empty() bool { return len(r.Set)+len(r.Remove) == 0 }

// Relabel returns the changes after which the labels of a claim agree with its instance. If an instance is no longer in its reservation,
// its claim is demoted: its capacity type becomes the actual one, and all labels of the reservation are removed, including the label for
// interruptible reservations. An instance labelled on-demand that runs in a reservation of the class is promoted. Other instances, and
// claims that are being deleted, are not changed.
func Relabel(labels map[string]string, deleting bool, m Instance, class []awsv1.CapacityReservation) Relabeling {
	if deleting {
		return Relabeling{}
	}
	switch labels[poolv1.CapacityTypeLabelKey] {
	case poolv1.CapacityTypeReserved:
		if m.CapacityType == poolv1.CapacityTypeReserved || m.CapacityType == "" {
			return Relabeling{}
		}
		return demote(labels, m)
	case poolv1.CapacityTypeOnDemand:
		i := slices.IndexFunc(class, func(r awsv1.CapacityReservation) bool { return r.ID == m.ReservationID })
		if m.ReservationID == "" || m.CapacityType == poolv1.CapacityTypeSpot || i < 0 {
			return Relabeling{}
		}
		return Relabeling{Set: Labels(class[i])}
	}
	return Relabeling{}
}

func demote(labels map[string]string, m Instance) Relabeling {
	change := Relabeling{Set: map[string]string{poolv1.CapacityTypeLabelKey: m.CapacityType}}
	for _, key := range []string{
		awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationInterruptible, awsv1.LabelCapacityReservationType,
	} { // sorted
		if _, ok := labels[key]; ok {
			change.Remove = append(change.Remove, key)
		}
	}
	return change
}

// Labels returns the labels of an instance in a reservation.
func Labels(r awsv1.CapacityReservation) map[string]string {
	kind := r.ReservationType
	if kind == "" {
		kind = awsv1.CapacityReservationTypeDefault
	}
	return map[string]string{
		poolv1.CapacityTypeLabelKey:                 poolv1.CapacityTypeReserved,
		awsv1.LabelCapacityReservationID:            r.ID,
		awsv1.LabelCapacityReservationType:          string(kind),
		awsv1.LabelCapacityReservationInterruptible: strconv.FormatBool(r.Interruptible),
	}
}

// MustLeave reports whether an instance with these labels must be drained because its capacity block is about to end. When an ordinary
// reservation ends, its instances are not drained but demoted.
func MustLeave(labels map[string]string, class []awsv1.CapacityReservation, now time.Time) bool {
	id := labels[awsv1.LabelCapacityReservationID]
	if id == "" || labels[poolv1.CapacityTypeLabelKey] != poolv1.CapacityTypeReserved {
		return false
	}
	return slices.ContainsFunc(class, func(r awsv1.CapacityReservation) bool {
		return r.ID == id && StateAt(r, now) == awsv1.CapacityReservationStateExpiring
	})
}

// Drifted reports whether an instance runs in a reservation that its class does not select. The known state of the instance may be out of
// date: read it again before acting.
func Drifted(m Instance, class []awsv1.CapacityReservation) bool {
	return m.CapacityType == poolv1.CapacityTypeReserved && m.ReservationID != "" &&
		!slices.ContainsFunc(class, func(r awsv1.CapacityReservation) bool { return r.ID == m.ReservationID })
}
