package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/reservations"
)

// ReservationDuty is the change to make for a claim whose instance has left its reservation, or whose capacity block ends soon.
type ReservationDuty struct {
	// NodeClaim is the name of the claim.
	NodeClaim string
	// Leave means that the instance's capacity block will end soon: delete the claim.
	Leave bool
	// Relabel is a change of labels, first of the claim and then of its node; empty if Leave is true.
	Relabel Relabeling
}

// Relabeling is a change of labels, of a claim and then of its node.
type Relabeling struct {
	// Set are labels with their new values.
	Set map[string]string
	// Remove are labels to remove, sorted.
	Remove []string
}

// Empty reports whether nothing changes.
func (r Relabeling) Empty() bool { return len(r.Set)+len(r.Remove) == 0 }

// ReviewReservations checks the claims with the label of a reservation. Claims whose instance is no longer in the reservation must be
// relabelled; claims whose capacity block ends soon must be deleted. ReviewReservations returns only claims that need a change, sorted by
// name. It lists instances at most once. Call it once a minute with all claims. If a node class can't be read, the claims of this class are
// missing from the results, and an error is returned as well.
func (p *Provider) ReviewReservations(ctx context.Context, claims []*v1.NodeClaim) ([]ReservationDuty, error) {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c *v1.NodeClaim) bool {
		return c == nil || c.DeletionTimestamp != nil || c.Labels[awsv1.LabelCapacityReservationID] == "" || c.Status.ProviderID == ""
	})
	if len(claims) == 0 || p.config.WithoutReservedCapacity {
		return nil, nil
	}
	found, err := p.instances.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("reviewing the reservations of %d nodeclaims: %w", len(claims), err)
	}
	byID := make(map[string]instances.Instance, len(found))
	for _, i := range found {
		byID[i.ID] = i
	}
	var (
		duties  []ReservationDuty
		errs    []error
		classes = map[string][]awsv1.CapacityReservation{}
	)
	for _, claim := range claims {
		name := claim.Spec.NodeClassRef.Name
		if _, read := classes[name]; !read {
			classes[name] = nil
			class, err := p.options.NodeClasses.NodeClass(ctx, name)
			if err != nil {
				errs = append(errs, fmt.Errorf("reviewing reservations: reading node class %q: %w", name, err))
			}
			if class != nil {
				classes[name] = class.Status.CapacityReservations
			}
		}
		duty := ReservationDuty{NodeClaim: claim.Name, Leave: reservations.MustLeave(claim.Labels, classes[name], p.now())}
		if id, err := instances.ParseProviderID(claim.Status.ProviderID); err == nil && !duty.Leave {
			if i, there := byID[id]; there && !i.Terminating() {
				instance := reservations.Instance{CapacityType: i.CapacityType}
				if i.Reservation != nil {
					instance.ReservationID = i.Reservation.ID
				}
				duty.Relabel = Relabeling(reservations.Relabel(claim.Labels, false, instance, classes[name]))
			}
		}
		if duty.Leave || !duty.Relabel.Empty() {
			duties = append(duties, duty)
		}
	}
	slices.SortFunc(duties, func(a, b ReservationDuty) int { return strings.Compare(a.NodeClaim, b.NodeClaim) })
	return duties, errors.Join(errs...)
}
