package aws_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// createMany launches several instances into the reservation. As EC2 documents it, a fleet with a minimum launches nothing if the reservation
// has less room, and a fleet into a capacity block, which knows no minimum, launches what there is room for. The lock is held.
func (b *booking) createMany(ctx context.Context, in *ec2.CreateFleetInput, spec *ec2types.LaunchTemplateCapacityReservationSpecificationRequest, total int) (*ec2.CreateFleetOutput, error) {
	full := ec2types.CreateFleetError{ErrorCode: awssdk.String("ReservationCapacityExceeded"), ErrorMessage: awssdk.String("the reservation is full")}
	n := min(total, b.free)
	if in.OnDemandOptions != nil && n < int(awssdk.ToInt32(in.OnDemandOptions.MinTargetCapacity)) {
		return &ec2.CreateFleetOutput{Errors: []ec2types.CreateFleetError{full}}, nil
	}
	b.free -= n
	out, err := b.account.CreateFleet(ctx, in)
	if err != nil {
		return nil, err
	}
	b.account.mu.Lock()
	defer b.account.mu.Unlock()
	first := b.instances[len(b.instances)-1]
	b.instances = b.instances[:len(b.instances)-1]
	out.Instances[0].InstanceIds = nil
	for i := range n {
		m := first
		m.InstanceId = awssdk.String(fmt.Sprintf("%s-%d", *first.InstanceId, i))
		m.State = &ec2types.InstanceState{Name: "running"}
		m.CapacityReservationId = awssdk.String(bookedID)
		m.CapacityReservationSpecification = &ec2types.CapacityReservationSpecificationResponse{
			CapacityReservationPreference: spec.CapacityReservationPreference,
			CapacityReservationTarget:     &ec2types.CapacityReservationTargetResponse{CapacityReservationId: awssdk.String(bookedID)},
		}
		if b.kind == "block" {
			m.InstanceLifecycle = ec2types.InstanceLifecycleTypeCapacityBlock
		}
		b.instances = append(b.instances, m)
		out.Instances[0].InstanceIds = append(out.Instances[0].InstanceIds, *m.InstanceId)
	}
	if n < total {
		out.Errors = append(out.Errors, full)
	}
	return out, nil
}

// living counts instances that run.
func (b *booking) living() (n int) {
	b.account.mu.Lock()
	defer b.account.mu.Unlock()
	for _, i := range b.instances {
		if i.State.Name == "running" {
			n++
		}
	}
	return n
}

// reservedGroup are claims of a group that suit the reservation.
func reservedGroup(n int) []*v1.NodeClaim {
	claims := alike(n)
	for _, c := range claims {
		c.Spec.Requirements = reservedClaim(c.Name).Spec.Requirements
	}
	return claims
}

// A group that suits a capacity reservation, of each kind, is launched into it by one request for all, and takes as many places. If the
// reservation has no room for all of them, nothing is launched; if EC2 has less than it said, nothing is left.
func TestCreateGroupReserved(t *testing.T) {
	for _, kind := range []string{"open", "targeted", "block"} {
		t.Run(kind, func(t *testing.T) {
			b := &booking{account: newAccount(t), kind: kind, free: 5}
			p, find := b.open(t)
			room := func() int { return p.Reservations().Snapshot().Room(bookedID) }
			claims := reservedGroup(3)
			created, err := p.CreateGroup(t.Context(), claims)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range created {
				if c.UID != claims[i].UID || c.Labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeReserved || c.Labels[awsv1.LabelCapacityReservationID] != bookedID || c.Labels[corev1.LabelTopologyZone] != "us-east-1a" {
					t.Errorf("claim %d: %v", i, c.Labels)
				}
			}
			in := b.fleets[0]
			if n := *in.TargetCapacitySpecification.TotalTargetCapacity; len(b.fleets) != 1 || n != 3 || len(in.LaunchTemplateConfigs) != 1 || len(in.LaunchTemplateConfigs[0].Overrides) != 1 {
				t.Errorf("%d fleets, the first of %d instances: %+v", len(b.fleets), n, in.LaunchTemplateConfigs)
			}
			if block := in.TargetCapacitySpecification.DefaultTargetCapacityType == ec2types.DefaultTargetCapacityTypeCapacityBlock; block != (kind == "block") || !block && awssdk.ToInt32(in.OnDemandOptions.MinTargetCapacity) != 3 {
				t.Errorf("the request: %+v, %+v", in.TargetCapacitySpecification, in.OnDemandOptions)
			}
			if room() != 2 || b.living() != 3 {
				t.Errorf("room for %d, %d instances", room(), b.living())
			}
			again, err := p.CreateGroup(t.Context(), claims)
			if err != nil || len(b.fleets) != 1 || again[1].Status.ProviderID != created[1].Status.ProviderID {
				t.Errorf("again: %v, after %d fleets", err, len(b.fleets))
			}
			later := reservedGroup(6)[3:]
			if _, err := p.CreateGroup(t.Context(), later); !errors.Is(err, errors.ErrUnsupported) || len(b.fleets) != 1 {
				t.Errorf("three where there is room for two: %v, after %d fleets", err, len(b.fleets))
			}
			b.free = 3
			find()
			b.free = 1 // somebody else took two meanwhile
			if _, err := p.CreateGroup(t.Context(), later); !cloudprovider.IsInsufficientCapacity(err) {
				t.Errorf("EC2 has less than it said: %v", err)
			}
			if b.living() != 3 {
				t.Errorf("%d instances are left", b.living())
			}
		})
	}
}
