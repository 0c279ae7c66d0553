package aws_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// booking is an account with a capacity reservation of m5.large in us-east-1a.
type booking struct {
	*account
	kind string // "open", "targeted" or "block"

	mu   sync.Mutex
	free int
	spec map[string]*ec2types.LaunchTemplateCapacityReservationSpecificationRequest // by launch template
	gate chan struct{}                                                              // what CreateFleet waits for; nil: nothing
}

const bookedID = "cr-0123456789abcdef0"

func (b *booking) DescribeCapacityReservations(context.Context, *ec2.DescribeCapacityReservationsInput, ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := ec2types.CapacityReservation{
		CapacityReservationId: awssdk.String(bookedID), InstanceType: awssdk.String("m5.large"), AvailabilityZone: awssdk.String("us-east-1a"),
		State: "active", InstanceMatchCriteria: "targeted", OwnerId: awssdk.String("123456789012"),
		AvailableInstanceCount: awssdk.Int32(int32(b.free)), TotalInstanceCount: awssdk.Int32(5),
	}
	switch b.kind {
	case "open":
		r.InstanceMatchCriteria = "open"
	case "block":
		r.ReservationType = "capacity-block"
		r.EndDate, r.EndDateType = awssdk.Time(time.Now().Add(24*time.Hour)), "limited"
	}
	return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: []ec2types.CapacityReservation{r}}, nil
}

func (b *booking) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spec == nil {
		b.spec = map[string]*ec2types.LaunchTemplateCapacityReservationSpecificationRequest{}
	}
	b.spec[*in.LaunchTemplateName] = in.LaunchTemplateData.CapacityReservationSpecification
	return b.account.CreateLaunchTemplate(ctx, in)
}

// CreateFleet launches into the reservation that the launch template names.
func (b *booking) CreateFleet(ctx context.Context, in *ec2.CreateFleetInput, _ ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	if b.gate != nil {
		<-b.gate
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	first := in.LaunchTemplateConfigs[0].Overrides[0]
	if b.free == 0 {
		return &ec2.CreateFleetOutput{Errors: []ec2types.CreateFleetError{{
			ErrorCode: awssdk.String("ReservationCapacityExceeded"), ErrorMessage: awssdk.String("the reservation is full"),
			LaunchTemplateAndOverrides: &ec2types.LaunchTemplateAndOverridesResponse{
				LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{LaunchTemplateName: in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName},
				Overrides:                   &ec2types.FleetLaunchTemplateOverrides{InstanceType: first.InstanceType, AvailabilityZone: first.AvailabilityZone},
			},
		}}}, nil
	}
	spec := b.spec[*in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName]
	if spec == nil || spec.CapacityReservationTarget == nil || *spec.CapacityReservationTarget.CapacityReservationId != bookedID {
		return nil, apiError("InvalidParameterValue", "the launch template does not name the reservation")
	}
	if total := int(*in.TargetCapacitySpecification.TotalTargetCapacity); total > 1 {
		return b.createMany(ctx, in, spec, total)
	}
	b.free--
	out, err := b.account.CreateFleet(ctx, in)
	b.account.mu.Lock()
	defer b.account.mu.Unlock()
	i := &b.instances[len(b.instances)-1]
	i.CapacityReservationId = awssdk.String(bookedID)
	i.CapacityReservationSpecification = &ec2types.CapacityReservationSpecificationResponse{
		CapacityReservationPreference: spec.CapacityReservationPreference,
		CapacityReservationTarget:     &ec2types.CapacityReservationTargetResponse{CapacityReservationId: awssdk.String(bookedID)},
	}
	if b.kind == "block" {
		i.InstanceLifecycle = ec2types.InstanceLifecycleTypeCapacityBlock
	}
	return out, err
}

// bookedClients are clients whose EC2 is that of a booking.
type bookedClients struct {
	aws.Clients
	b *booking
}

func (c bookedClients) EC2(sdk.Priority) sdk.EC2API { return c.b }

// open makes a provider on the account, whose class's reservations were found with the provider's own tracker, and what
// that finding is repeated with.
func (b *booking) open(t *testing.T) (*aws.Provider, func()) {
	t.Helper()
	class := readyClass("default")
	class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: bookedID}}
	p := newProvider(t, b.account, func(_ *aws.Config, o *aws.Options) {
		o.NodeClasses = aws.NodeClasses{"default": class}
		o.Clients = bookedClients{o.Clients, b}
	})
	finder := reservations.NewFinder(b, p.Reservations(), nil)
	sync := func() {
		found, rejected, err := finder.FindNow(t.Context(), class.Spec.CapacityReservationSelectorTerms)
		if err != nil || rejected != nil {
			t.Fatal(err, rejected)
		}
		class.Status.CapacityReservations = found.Status()
	}
	sync()
	return p, sync
}

func reservedClaim(name string) *v1.NodeClaim {
	return claim(name, in(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved))
}

// A launch into capacity reservations of each kind, from the room that offerings show to the labels and the room that is
// left. AWI-121, AWI-127 to AWI-129, AWI-133, AWI-153, AWI-163, AWI-168.
func TestCreateReserved(t *testing.T) {
	for _, kind := range []string{"open", "targeted", "block"} {
		t.Run(kind, func(t *testing.T) {
			b := &booking{account: newAccount(t), kind: kind, free: 1}
			p, find := b.open(t)
			room := func() int {
				types, err := p.InstanceTypes(t.Context(), nodePool())
				if err != nil {
					t.Fatal(err)
				}
				for _, it := range types {
					for n := range it.Offerings {
						if o := &it.Offerings[n]; o.Value(awsv1.LabelCapacityReservationID) == bookedID {
							return o.ReservationCapacity
						}
					}
				}
				return -1
			}
			if got := room(); got != 1 {
				t.Fatalf("offerings have room for %d", got)
			}
			created, err := p.Create(t.Context(), reservedClaim("a"))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				v1.CapacityTypeLabelKey: "reserved", awsv1.LabelCapacityReservationID: bookedID, corev1.LabelInstanceTypeStable: "m5.large",
				awsv1.LabelCapacityReservationType: "default", corev1.LabelTopologyZone: "us-east-1a",
			}
			target := ec2types.DefaultTargetCapacityTypeOnDemand
			if kind == "block" {
				want[awsv1.LabelCapacityReservationType], target = "capacity-block", ec2types.DefaultTargetCapacityTypeCapacityBlock
			}
			for key, value := range want {
				if created.Labels[key] != value {
					t.Errorf("label %s is %q, want %q", key, created.Labels[key], value)
				}
			}
			if got := b.fleets[0].TargetCapacitySpecification.DefaultTargetCapacityType; got != target {
				t.Errorf("the fleet is %s, want %s", got, target)
			}
			if got := room(); got != 0 {
				t.Errorf("offerings have room for %d after the launch", got)
			}
			if _, err := p.Create(t.Context(), reservedClaim("b")); !cloudprovider.IsInsufficientCapacity(err) || len(b.fleets) != 1 {
				t.Errorf("a second: %v after %d fleets", err, len(b.fleets))
			}
			if got, err := p.Get(t.Context(), created.Status.ProviderID); err != nil || got.Labels[awsv1.LabelCapacityReservationID] != bookedID ||
				got.Labels[v1.CapacityTypeLabelKey] != "reserved" {
				t.Errorf("Get returns labels %v, %v", got.Labels, err)
			}
			// Somebody else's instance is gone, and EC2 says so at the next look.
			b.free = 1
			find()
			if got := room(); got != 1 {
				t.Errorf("offerings have room for %d after EC2 was asked again", got)
			}
			if _, err := p.Create(t.Context(), reservedClaim("b")); err != nil {
				t.Error(err)
			}
		})
	}
}

// Two launches race for the last place: one is launched, and the other is told at once that there is no room, without a
// call that EC2 would refuse. When somebody else has taken the place meanwhile, the launch says so and the count with it.
func TestCreateReservedRace(t *testing.T) {
	b := &booking{account: newAccount(t), free: 1, gate: make(chan struct{})}
	p, find := b.open(t)
	type result struct {
		claim *v1.NodeClaim
		err   error
	}
	const launches = 2
	results := make(chan result, launches)
	for n := range launches {
		go func() {
			created, err := p.Create(t.Context(), reservedClaim(fmt.Sprint("race-", n)))
			results <- result{created, err}
		}()
	}
	loser := <-results // while the winner's call is under way
	if !cloudprovider.IsInsufficientCapacity(loser.err) || !strings.Contains(loser.err.Error(), bookedID) {
		t.Errorf("the launch that came second: %v, %v", loser.claim, loser.err)
	}
	close(b.gate)
	if winner := <-results; winner.err != nil || winner.claim.Labels[awsv1.LabelCapacityReservationID] != bookedID {
		t.Errorf("the launch that came first: %v, %v", winner.claim, winner.err)
	}
	if n := len(b.fleets); n != 1 || p.Reservations().Snapshot().Room(bookedID) != 0 {
		t.Errorf("%d fleets, room for %d", n, p.Reservations().Snapshot().Room(bookedID))
	}

	b.free = 1
	find()
	b.free = 0 // taken by another account that shares the reservation
	if _, err := p.Create(t.Context(), reservedClaim("late")); !cloudprovider.IsInsufficientCapacity(err) || p.Reservations().Snapshot().Room(bookedID) != 0 {
		t.Errorf("got %v, room for %d", err, p.Reservations().Snapshot().Room(bookedID))
	}
}

// Of a burst of launches as many use a reservation as it has places; the others go to what else their claims allow, and are
// refused if that is nothing. CP-CONCURRENCY-01, CP-RESERVED-01, CP-RESERVED-03.
func TestCreateReservedBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemoryBench(t, awsv1.AMIFamilyAL2023)
		release := b.ec2.hang("CreateFleet")
		const launches = 10
		var bought [2 * launches]string
		var all sync.WaitGroup
		for n := range bought {
			all.Go(func() {
				c := claim(fmt.Sprint("burst-", n))
				if n >= launches {
					c = reservedClaim(fmt.Sprint("burst-", n))
				}
				created, err := b.provider.Create(t.Context(), c)
				switch {
				case err == nil:
					bought[n] = created.Labels[v1.CapacityTypeLabelKey]
				case cloudprovider.IsInsufficientCapacity(err):
					bought[n] = "nothing"
				default:
					t.Error(err)
				}
			})
		}
		synctest.Wait() // all that have a place, or go elsewhere, are before EC2
		release()
		all.Wait()
		count := map[string]int{}
		for n, as := range bought {
			count[as]++
			if n < launches && as == "nothing" {
				t.Errorf("launch %d, which could have been of any kind, was refused", n)
			}
		}
		if count[v1.CapacityTypeReserved] != 3 || b.provider.Reservations().Snapshot().Room("cr-0123456789abcdef0") != 0 {
			t.Errorf("bought are %v, room for %d more", count, b.provider.Reservations().Snapshot().Room("cr-0123456789abcdef0"))
		}
	})
}
