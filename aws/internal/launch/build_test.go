package launch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/subnets"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

// offering makes an offering with room; options change it.
func offering(capacityType, zone string, price float64, options ...func(*cloudprovider.Offering)) cloudprovider.Offering {
	o := build.Offering(zone, capacityType, price)
	for _, option := range options {
		option(&o)
	}
	return o
}

func soldOut(o *cloudprovider.Offering) { o.Available = false }

func reservation(id, kind string, interruptible bool, room int) func(*cloudprovider.Offering) {
	return func(o *cloudprovider.Offering) {
		o.ReservationCapacity = room
		o.Requirements = o.Requirements.With(
			requirements.In(awsv1.LabelCapacityReservationID, id),
			requirements.In(awsv1.LabelCapacityReservationType, kind),
			requirements.In(awsv1.LabelCapacityReservationInterruptible, fmt.Sprint(interruptible)),
		)
	}
}

func instanceType(name string, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	return build.InstanceType(name, build.CPU("4"), build.Memory("16Gi"), build.MaxPods(58), build.Sold(offerings...), build.With(
		requirements.In(awsv1.LabelInstanceFamily, name[:2]),
		requirements.In(awsv1.LabelInstanceTenancy, awsv1.TenancyDefault, awsv1.TenancyDedicated),
	))
}

func with(t *cloudprovider.InstanceType, name corev1.ResourceName, quantity string) *cloudprovider.InstanceType {
	t.Capacity[name] = resource.MustParse(quantity)
	return t
}

func wish(reqs ...requirements.Requirement) launch.Wish {
	return launch.Wish{Requirements: requirements.NewSet(reqs...)}
}

// keys of a choice's candidates as text.
func keys(c launch.Choice) []string {
	var all []string
	for _, candidate := range c.Candidates {
		text := candidate.Type.Name + " " + candidate.Offering.Zone() + " " + candidate.Offering.CapacityType()
		if id := candidate.Offering.Value(awsv1.LabelCapacityReservationID); id != "" {
			text += " " + id
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// world is a launcher between a mocked EC2 and launch templates in memory.
type world struct {
	t         *testing.T
	ec2       *mock.MockEC2API
	templates *templates
	memory    *unavailable.Memory
	tracker   *subnets.Tracker
	now       time.Time
	launcher  *launch.Launcher
	requests  []*ec2.CreateFleetInput
	failures  []launch.Failure
	reserved  *reservations.Tracker
}

// reserve has EC2 say how many places there are in a reservation.
func (w *world) reserve(id string, free int) {
	w.reserved.Sync(w.now, reservations.Reservation{CapacityReservation: awsv1.CapacityReservation{ID: id}, Available: free, Total: 10})
}

func (w *world) room(id string) int { return w.reserved.Snapshot().Room(id) }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, ec2: mock.NewMockEC2API(gomock.NewController(t)), templates: &templates{}, now: time.Unix(1.8e9, 0)}
	now := func() time.Time { return w.now }
	w.memory = unavailable.New(unavailable.Options{Now: now})
	w.tracker = subnets.New(subnets.Options{Now: now})
	w.reserved = reservations.NewTracker(now)
	w.tracker.Observe(map[string]int64{"subnet-a": 1000, "subnet-b": 1000})
	var err error
	w.launcher, err = launch.New(launch.Options{
		EC2: w.ec2, Templates: w.templates, Cluster: "demo", Subnets: w.tracker, Unavailable: w.memory, Reservations: w.reserved,
		Tags: map[string]string{"team": "common", "env": "test"}, Now: now,
		Observe: func(f launch.Failure) { w.failures = append(w.failures, f) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// answer is what one CreateFleet call gets.
type answer func(*ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error)

// expect has EC2 called exactly as often as there are answers.
func (w *world) expect(answers ...answer) {
	w.ec2.EXPECT().CreateFleet(gomock.Any(), gomock.Any()).Times(len(answers)).DoAndReturn(
		func(_ context.Context, in *ec2.CreateFleetInput, _ ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
			w.requests = append(w.requests, in)
			next := answers[0]
			answers = answers[1:]
			return next(in)
		})
}

func echo(in *ec2.CreateFleetInput, config, override int) *ec2types.LaunchTemplateAndOverridesResponse {
	c := in.LaunchTemplateConfigs[config]
	o := c.Overrides[override]
	return &ec2types.LaunchTemplateAndOverridesResponse{
		LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{LaunchTemplateName: c.LaunchTemplateSpecification.LaunchTemplateName},
		Overrides: &ec2types.FleetLaunchTemplateOverrides{
			InstanceType: o.InstanceType, AvailabilityZone: o.AvailabilityZone, SubnetId: o.SubnetId, ImageId: o.ImageId,
		},
	}
}

// gives launches the first override.
func gives(id string) answer {
	return func(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		e := echo(in, 0, 0)
		return &ec2.CreateFleetOutput{Instances: []ec2types.CreateFleetInstance{{
			InstanceIds: []string{id}, InstanceType: e.Overrides.InstanceType, LaunchTemplateAndOverrides: e,
		}}}, nil
	}
}

// refuses gives an error of the code for every override and launches nothing.
func refuses(codes ...string) answer {
	return func(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		out := &ec2.CreateFleetOutput{}
		for c := range in.LaunchTemplateConfigs {
			for o := range in.LaunchTemplateConfigs[c].Overrides {
				code := codes[len(out.Errors)%len(codes)]
				out.Errors = append(out.Errors, ec2types.CreateFleetError{
					ErrorCode: aws.String(code), ErrorMessage: aws.String("no " + code), LaunchTemplateAndOverrides: echo(in, c, o),
				})
			}
		}
		return out, nil
	}
}

func fails(code, message string) answer {
	return func(*ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		return nil, &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: &smithy.GenericAPIError{Code: code, Message: message}}
	}
}

func breaks(err error) answer {
	return func(*ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		return nil, &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: err}
	}
}

// templates makes one launch template for all types without a reservation and one for each reservation.
type templates struct {
	err       error
	requests  []launch.TemplateRequest
	forgotten []string
	zone      string
}

func (t *templates) Ensure(_ context.Context, r launch.TemplateRequest) ([]launch.Template, error) {
	t.requests = append(t.requests, r)
	if t.err != nil {
		return nil, t.err
	}
	byReservation := map[string]*launch.Template{}
	var order []string
	for _, it := range r.InstanceTypes {
		for i := range it.Offerings {
			id := it.Offerings[i].Value(awsv1.LabelCapacityReservationID)
			if byReservation[id] == nil {
				byReservation[id] = &launch.Template{Name: "lt" + id, ImageID: "ami-1", ReservationID: id, Zone: t.zone}
				order = append(order, id)
			}
			if l := byReservation[id]; !slices.Contains(l.InstanceTypes, it.Name) {
				l.InstanceTypes = append(l.InstanceTypes, it.Name)
			}
		}
	}
	var all []launch.Template
	for _, id := range order {
		all = append(all, *byReservation[id])
	}
	return all, nil
}

func (t *templates) Forget(names ...string) { t.forgotten = append(t.forgotten, names...) }

func nodeClass() *awsv1.EC2NodeClass {
	return ec2build.Class("default", ec2build.Subnet("subnet-a", "a", "az1"), ec2build.Subnet("subnet-b", "b", "az2"),
		func(c *awsv1.EC2NodeClass) {
			c.Spec.Tags, c.Spec.Context = map[string]string{"team": "web"}, aws.String("ctx")
		})
}

func nodeClaim(more ...build.ClaimOption) *v1.NodeClaim {
	return build.Claim("claim", append([]build.ClaimOption{build.UID("uid-1"), build.OfPool("pool"), build.CPU("1")}, more...)...)
}

func asks(key string, values ...string) build.RequirementOption {
	return build.Requires(key, "In", values...)
}

// market is two types in two zones, spot and on-demand.
func market() []*cloudprovider.InstanceType {
	var all []*cloudprovider.InstanceType
	for i, name := range []string{"m5.large", "m6.large"} {
		price := 0.1 + float64(i)/100
		all = append(all, instanceType(name,
			offering("on-demand", "a", price), offering("on-demand", "b", price),
			offering("spot", "a", price/3), offering("spot", "b", price/3)))
	}
	return all
}

func (w *world) launch(claim *v1.NodeClaim, dead ...string) (*launch.Instance, error) {
	return w.launcher.Launch(w.t.Context(), launch.Request{NodeClaim: claim, NodeClass: nodeClass(), InstanceTypes: market(), Dead: dead})
}

// markSpot has EC2 found without room for a type in a zone, by another launch.
func (w *world) markSpot(instanceType, zone string) {
	w.memory.Mark(unavailable.Key{CapacityType: "spot", InstanceType: instanceType, Zone: zone})
}

var errCut = errors.New("connection reset by peer")
