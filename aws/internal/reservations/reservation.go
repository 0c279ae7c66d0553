package reservations

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// ExpiringBefore is the time before the end of a capacity block at which launches into the block stop and its instances are drained: ten
// minutes before EC2 starts to terminate them.
const ExpiringBefore = 40 * time.Minute

// UltraServersExpiringBefore is the same time for blocks of UltraServers, whose instances EC2 starts to terminate half an hour earlier.
const UltraServersExpiringBefore = 70 * time.Minute

// expiringBefore returns UltraServersExpiringBefore for the families in which UltraServers are sold, and otherwise ExpiringBefore.
func expiringBefore(r awsv1.CapacityReservation) time.Duration {
	family, _, _ := strings.Cut(r.InstanceType, ".")
	if family == "trn2u" || strings.HasPrefix(family, "p6e-") {
		return UltraServersExpiringBefore
	}
	return ExpiringBefore
}

// Reservation is a reservation with its free room as EC2 reports it.
type Reservation struct {
	awsv1.CapacityReservation
	// Available is the number of instances that it still has room for.
	Available int
	// Total is the number of instances of the reservation.
	Total int
}

// RejectedError is a reservation that can't be used.
type RejectedError struct {
	// ID of the reservation.
	ID string
	// Problem says why.
	Problem string
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("capacity reservation %q can't be used: %s", e.ID, e.Problem)
}

// fromEC2 converts a reservation. The error is a *RejectedError.
func fromEC2(from ec2types.CapacityReservation, now time.Time) (Reservation, error) {
	r := Reservation{
		CapacityReservation: awsv1.CapacityReservation{
			ID:                    aws.ToString(from.CapacityReservationId),
			AvailabilityZone:      aws.ToString(from.AvailabilityZone),
			InstanceType:          aws.ToString(from.InstanceType),
			OwnerID:               aws.ToString(from.OwnerId),
			InstanceMatchCriteria: awsv1.InstanceMatchCriteria(from.InstanceMatchCriteria),
			ReservationType:       awsv1.CapacityReservationType(from.ReservationType),
			Interruptible:         aws.ToBool(from.Interruptible),
		},
		Available: int(max(0, aws.ToInt32(from.AvailableInstanceCount))),
		Total:     int(max(0, aws.ToInt32(from.TotalInstanceCount))),
	}
	reject := func(format string, args ...any) (Reservation, error) {
		return Reservation{}, &RejectedError{ID: r.ID, Problem: fmt.Sprintf(format, args...)}
	}
	if from.Tenancy == ec2types.CapacityReservationTenancyDedicated {
		r.Tenancy = awsv1.TenancyDedicated // shared tenancy is stored as an empty string, so that the status of existing classes does not change
	}
	if from.EndDate != nil {
		r.EndTime = &metav1.Time{Time: *from.EndDate}
	}
	if r.ReservationType == "" {
		r.ReservationType = awsv1.CapacityReservationTypeDefault
	}
	switch r.ReservationType {
	case awsv1.CapacityReservationTypeDefault, awsv1.CapacityReservationTypeCapacityBlock:
	default:
		return reject("its type %q is unknown: it must be default or capacity-block", r.ReservationType)
	}
	switch r.InstanceMatchCriteria {
	case awsv1.InstanceMatchCriteriaOpen, awsv1.InstanceMatchCriteriaTargeted:
	default:
		return reject("its match criterion %q is unknown: it must be open or targeted", r.InstanceMatchCriteria)
	}
	for _, fact := range [...]struct{ name, value string }{{"id", r.ID}, {"zone", r.AvailabilityZone}, {"instance type", r.InstanceType}} {
		if fact.value == "" {
			return reject("EC2 does not say its %s", fact.name)
		}
	}
	r.State = StateAt(r.CapacityReservation, now)
	return r, nil
}

// Ended reports whether a reservation has ended.
func Ended(r awsv1.CapacityReservation, now time.Time) bool {
	return r.EndTime != nil && !now.Before(r.EndTime.Time)
}

// StateAt returns the state of a reservation at a time: a capacity block is expiring shortly before its end, any other reservation is
// active.
func StateAt(r awsv1.CapacityReservation, now time.Time) awsv1.CapacityReservationState {
	block := r.ReservationType == awsv1.CapacityReservationTypeCapacityBlock
	if block && r.EndTime != nil && r.EndTime.Sub(now) < expiringBefore(r) {
		return awsv1.CapacityReservationStateExpiring
	}
	return awsv1.CapacityReservationStateActive
}

// TakenBackAt returns when the instances of a capacity block are drained, because EC2 terminates them at the end of the block. It is zero
// for all other reservations: EC2 lets their instances run on, at the on-demand price.
func TakenBackAt(r awsv1.CapacityReservation) time.Time {
	if r.ReservationType != awsv1.CapacityReservationTypeCapacityBlock || r.EndTime == nil {
		return time.Time{}
	}
	return r.EndTime.Add(-expiringBefore(r))
}

// NextLook returns when reservations must be checked again: in a minute, or when one of them ends if that is sooner.
func NextLook(list []awsv1.CapacityReservation, now time.Time) time.Time {
	next := now.Add(Period)
	for _, r := range list {
		if r.EndTime != nil && r.EndTime.After(now) && r.EndTime.Time.Before(next) {
			next = r.EndTime.Time
		}
	}
	return next
}

// Found contains reservations, sorted by id and without duplicates.
type Found []Reservation

// Status converts the list to the form in a node class's status.
func (f Found) Status() []awsv1.CapacityReservation {
	out := make([]awsv1.CapacityReservation, len(f))
	for i := range f {
		out[i] = *f[i].CapacityReservation.DeepCopy()
	}
	return out
}

func sorted(list []Reservation) Found {
	slices.SortFunc(list, func(a, b Reservation) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(list, func(a, b Reservation) bool { return a.ID == b.ID })
}
