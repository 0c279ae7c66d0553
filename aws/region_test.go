package aws_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/aws/sdk/mock"
)

// regionalEC2 is an EC2 in memory that has what the contract of providers is about: launch templates that must be there,
// fleets with client tokens, instances that boot and shut down as its clock goes, stock by offering, capacity reservations with
// room, and trouble. Calls it does not have are unexpected ones of a mock. Safe for concurrent use.
type regionalEC2 struct {
	*mock.MockEC2API
	clock *steppedClock

	mu           sync.Mutex
	templates    map[string]*ec2types.RequestLaunchTemplateData // by name
	templateTags map[string][]ec2types.Tag
	instances    []*regionalInstance
	launches     int
	tokens       map[string]*ec2.CreateFleetOutput
	fleets       []*ec2.CreateFleetInput // all that was asked for, one call after another
	booked       map[string]*regionalReservation
	sold         func(instanceType, zone, capacityType string) bool
	short        string        // the error code of what is sold out
	most         int           // the largest number of instances that one fleet gets; 0: any
	late         time.Duration // how long instances are not described after their launch
	calls        map[string]int
	trouble      map[string]regionalTrouble
	gates        map[string]chan struct{}
}

type regionalInstance struct {
	ec2types.Instance
	userData    string
	reservation string
	launched    time.Time
	ended       time.Time // zero while nobody has ended it
}

type regionalReservation struct {
	instanceType, zone string
	total              int
}

// regionalTrouble is what a call meets: an error, before or after the call has done its work.
type regionalTrouble struct {
	err  error
	lost bool
	// codes are the errors of a fleet that launches nothing.
	codes []string
}

// How long instances take to boot and to be gone.
const (
	regionalBoot     = 10 * time.Second
	regionalShutDown = 20 * time.Second
	// regionalMemory is how long instances that are gone are still described.
	regionalMemory = time.Minute
)

// enter begins a call: it waits while calls hang, and says what else to do. A caller that gives up does not undo what was
// sent to the cloud: lost is true then, and the error is what the caller sees.
func (r *regionalEC2) enter(ctx context.Context, call string) regionalTrouble {
	if err := ctx.Err(); err != nil {
		return regionalTrouble{err: err}
	}
	r.mu.Lock()
	if r.calls == nil {
		r.calls = map[string]int{}
	}
	r.calls[call]++
	gate, trouble := r.gates[call], r.trouble[call]
	r.mu.Unlock()
	if gate == nil {
		return trouble
	}
	select {
	case <-gate:
		return trouble
	case <-ctx.Done():
		return regionalTrouble{err: ctx.Err(), lost: true}
	}
}

// meets has calls meet trouble until the result is called.
func (r *regionalEC2) meets(trouble regionalTrouble, calls ...string) (heal func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, call := range calls {
		r.trouble[call] = trouble
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, call := range calls {
			delete(r.trouble, call)
		}
	}
}

// hang has calls hang until the result is called, which may be called again.
func (r *regionalEC2) hang(calls ...string) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gate := make(chan struct{})
	for _, call := range calls {
		r.gates[call] = gate
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		close(gate)
		for _, call := range calls {
			if r.gates[call] == gate {
				delete(r.gates, call)
			}
		}
	})
}

// refusal is an error as EC2 answers with, with the time to wait in the header if there is one.
func refusal(code, message string, retryAfter time.Duration) error {
	header := http.Header{}
	if retryAfter > 0 {
		header.Set("Retry-After", fmt.Sprint(int(retryAfter.Seconds())))
	}
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "Call", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusBadRequest, Header: header}},
		Err:      &smithy.GenericAPIError{Code: code, Message: message},
	}}
}

// state of an instance now.
func (r *regionalEC2) state(i *regionalInstance) ec2types.InstanceStateName {
	switch now := r.clock.Now(); {
	case i.ended.IsZero() && now.Sub(i.launched) < regionalBoot:
		return ec2types.InstanceStateNamePending
	case i.ended.IsZero():
		return ec2types.InstanceStateNameRunning
	case now.Sub(i.ended) < regionalShutDown:
		return ec2types.InstanceStateNameShuttingDown
	}
	return ec2types.InstanceStateNameTerminated
}

// room that is left in a reservation: instances that shut down still take theirs.
func (r *regionalEC2) room(id string) int {
	room := r.booked[id].total
	for _, i := range r.instances {
		if i.reservation == id && r.state(i) != ec2types.InstanceStateNameTerminated {
			room--
		}
	}
	return room
}

func (r *regionalEC2) DescribeInstanceTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	if trouble := r.enter(ctx, "DescribeInstanceTypes"); trouble.err != nil {
		return nil, trouble.err
	}
	if awssdk.ToBool(in.DryRun) {
		return nil, refusal("DryRunOperation", "would have succeeded", 0)
	}
	return nil, refusal("InternalError", "the types are those that the provider was given", 0)
}

func (r *regionalEC2) DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	return &ec2.DescribeInstanceTypeOfferingsOutput{}, nil
}

func (r *regionalEC2) DescribeAvailabilityZones(context.Context, *ec2.DescribeAvailabilityZonesInput, ...func(*ec2.Options)) (*ec2.DescribeAvailabilityZonesOutput, error) {
	return &ec2.DescribeAvailabilityZonesOutput{}, nil
}

func (r *regionalEC2) DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	return &ec2.DescribeSubnetsOutput{}, nil
}

func (r *regionalEC2) DescribeCapacityReservations(ctx context.Context, _ *ec2.DescribeCapacityReservationsInput, _ ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error) {
	if trouble := r.enter(ctx, "DescribeCapacityReservations"); trouble.err != nil {
		return nil, trouble.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &ec2.DescribeCapacityReservationsOutput{}
	for id, b := range r.booked {
		out.CapacityReservations = append(out.CapacityReservations, ec2types.CapacityReservation{
			CapacityReservationId: awssdk.String(id), InstanceType: awssdk.String(b.instanceType), AvailabilityZone: awssdk.String(b.zone),
			State: "active", InstanceMatchCriteria: "targeted", OwnerId: awssdk.String("123456789012"),
			AvailableInstanceCount: awssdk.Int32(int32(r.room(id))), TotalInstanceCount: awssdk.Int32(int32(b.total)),
		})
	}
	return out, nil
}

func (r *regionalEC2) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	if trouble := r.enter(ctx, "CreateLaunchTemplate"); trouble.err != nil {
		return nil, trouble.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.templates[*in.LaunchTemplateName] != nil {
		return nil, refusal("InvalidLaunchTemplateName.AlreadyExistsException", "it exists", 0)
	}
	r.templates[*in.LaunchTemplateName] = in.LaunchTemplateData
	if r.templateTags == nil {
		r.templateTags = map[string][]ec2types.Tag{}
	}
	r.templateTags[*in.LaunchTemplateName] = in.TagSpecifications[0].Tags
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: &ec2types.LaunchTemplate{
		LaunchTemplateName: in.LaunchTemplateName, LaunchTemplateId: awssdk.String("lt-" + *in.LaunchTemplateName), Tags: in.TagSpecifications[0].Tags,
	}}, nil
}

func (r *regionalEC2) DescribeLaunchTemplates(ctx context.Context, in *ec2.DescribeLaunchTemplatesInput, _ ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	if trouble := r.enter(ctx, "DescribeLaunchTemplates"); trouble.err != nil {
		return nil, trouble.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &ec2.DescribeLaunchTemplatesOutput{}
	for _, name := range in.LaunchTemplateNames {
		if r.templates[name] == nil {
			return nil, refusal("InvalidLaunchTemplateName.NotFoundException", "it does not exist", 0)
		}
		out.LaunchTemplates = append(out.LaunchTemplates, ec2types.LaunchTemplate{LaunchTemplateName: &name, LaunchTemplateId: awssdk.String("lt-" + name), Tags: r.templateTags[name]})
	}
	return out, nil
}

// CreateFleet launches all that was asked for by the first override of the request that has stock.
func (r *regionalEC2) CreateFleet(ctx context.Context, in *ec2.CreateFleetInput, _ ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	trouble := r.enter(ctx, "CreateFleet")
	if trouble.err != nil && !trouble.lost {
		return nil, trouble.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fleets = append(r.fleets, in)
	token := awssdk.ToString(in.ClientToken)
	out := r.tokens[token]
	if out == nil || token == "" {
		var err error
		if out, err = r.fulfil(in, trouble.codes); err != nil {
			return nil, err
		}
		if len(out.Instances) > 0 {
			r.tokens[token] = out
		}
	}
	if trouble.err != nil {
		return nil, trouble.err
	}
	return out, nil
}

func (r *regionalEC2) fulfil(in *ec2.CreateFleetInput, codes []string) (*ec2.CreateFleetOutput, error) {
	out := &ec2.CreateFleetOutput{}
	bought := string(in.TargetCapacitySpecification.DefaultTargetCapacityType)
	for _, config := range in.LaunchTemplateConfigs {
		name := *config.LaunchTemplateSpecification.LaunchTemplateName
		template := r.templates[name]
		if template == nil {
			return nil, refusal("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist.", 0)
		}
		reservation, capacityType := "", bought
		if spec := template.CapacityReservationSpecification; spec != nil && spec.CapacityReservationTarget != nil {
			reservation, capacityType = *spec.CapacityReservationTarget.CapacityReservationId, "reserved"
		}
		for n, o := range config.Overrides {
			instanceType, zone := string(o.InstanceType), *o.AvailabilityZone
			way := &ec2types.LaunchTemplateAndOverridesResponse{
				LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{LaunchTemplateName: &name},
				Overrides: &ec2types.FleetLaunchTemplateOverrides{
					InstanceType: o.InstanceType, AvailabilityZone: o.AvailabilityZone, SubnetId: o.SubnetId, ImageId: o.ImageId,
				},
			}
			code := ""
			switch {
			case len(codes) > 0:
				code = codes[n%len(codes)]
			case reservation != "" && (r.booked[reservation] == nil || r.booked[reservation].instanceType != instanceType || r.booked[reservation].zone != zone):
				return nil, refusal("InvalidParameterValue", "the reservation is of other instances", 0)
			case reservation != "" && r.room(reservation) <= 0:
				code = "ReservationCapacityExceeded"
			case r.sold != nil && r.sold(instanceType, zone, capacityType):
				code = r.short
			}
			if code != "" {
				out.Errors = append(out.Errors, ec2types.CreateFleetError{ErrorCode: &code, ErrorMessage: awssdk.String("not this one"), LaunchTemplateAndOverrides: way})
				continue
			}
			var ids []string
			for range r.fewer(int(*in.TargetCapacitySpecification.TotalTargetCapacity)) {
				ids = append(ids, r.launch(in, template, o, reservation))
			}
			out.Instances = []ec2types.CreateFleetInstance{{InstanceIds: ids, InstanceType: o.InstanceType, LaunchTemplateAndOverrides: way}}
			return out, nil
		}
	}
	// One of each is enough to report several causes.
	for n := range codes {
		if len(out.Errors) > 0 && !slices.ContainsFunc(out.Errors, func(e ec2types.CreateFleetError) bool { return *e.ErrorCode == codes[n] }) {
			again := out.Errors[0]
			again.ErrorCode = &codes[n]
			out.Errors = append(out.Errors, again)
		}
	}
	return out, nil
}

// fewer is how many of that many instances a fleet gets.
func (r *regionalEC2) fewer(wanted int) int {
	if r.most > 0 {
		return min(wanted, r.most)
	}
	return wanted
}

func (r *regionalEC2) launch(in *ec2.CreateFleetInput, template *ec2types.RequestLaunchTemplateData, o ec2types.FleetLaunchTemplateOverridesRequest, reservation string) string {
	now := r.clock.Now()
	r.launches++
	id := fmt.Sprintf("i-%017x", r.launches)
	i := &regionalInstance{launched: now, reservation: reservation, userData: awssdk.ToString(template.UserData), Instance: ec2types.Instance{
		InstanceId: &id, InstanceType: o.InstanceType, ImageId: o.ImageId, SubnetId: o.SubnetId, LaunchTime: &now,
		Placement: &ec2types.Placement{AvailabilityZone: o.AvailabilityZone}, Tags: in.TagSpecifications[0].Tags,
	}}
	if i.ImageId == nil {
		i.ImageId = template.ImageId
	}
	for _, network := range template.NetworkInterfaces {
		for _, group := range network.Groups {
			i.SecurityGroups = append(i.SecurityGroups, ec2types.GroupIdentifier{GroupId: &group})
		}
	}
	for _, group := range template.SecurityGroupIds {
		i.SecurityGroups = append(i.SecurityGroups, ec2types.GroupIdentifier{GroupId: &group})
	}
	if in.TargetCapacitySpecification.DefaultTargetCapacityType == ec2types.DefaultTargetCapacityTypeSpot {
		i.InstanceLifecycle, i.SpotInstanceRequestId = ec2types.InstanceLifecycleTypeSpot, awssdk.String("sir-"+id)
	}
	if reservation != "" {
		i.CapacityReservationId = &reservation
		i.CapacityReservationSpecification = &ec2types.CapacityReservationSpecificationResponse{
			CapacityReservationPreference: template.CapacityReservationSpecification.CapacityReservationPreference,
			CapacityReservationTarget:     &ec2types.CapacityReservationTargetResponse{CapacityReservationId: &reservation},
		}
	}
	r.instances = append(r.instances, i)
	return id
}

// described are the instances that EC2 still reports, with their state now.
func (r *regionalEC2) described() []ec2types.Instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instances = slices.DeleteFunc(r.instances, func(i *regionalInstance) bool {
		return !i.ended.IsZero() && r.clock.Now().Sub(i.ended) > regionalShutDown+regionalMemory
	})
	var all []ec2types.Instance
	for _, i := range r.instances {
		if r.clock.Now().Sub(i.launched) >= r.late {
			shown := i.Instance
			shown.State = &ec2types.InstanceState{Name: r.state(i)}
			all = append(all, shown)
		}
	}
	return all
}

func (r *regionalEC2) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	if trouble := r.enter(ctx, "DescribeInstances"); trouble.err != nil {
		return nil, trouble.err
	}
	out := &ec2.DescribeInstancesOutput{}
	for _, i := range r.described() {
		if !slices.ContainsFunc(in.Filters, func(f ec2types.Filter) bool { return !matches(&i, f) }) {
			out.Reservations = append(out.Reservations, ec2types.Reservation{Instances: []ec2types.Instance{i}})
		}
	}
	return out, nil
}

func (r *regionalEC2) TerminateInstances(ctx context.Context, in *ec2.TerminateInstancesInput, _ ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	trouble := r.enter(ctx, "TerminateInstances")
	if trouble.err == nil || trouble.lost {
		r.terminate(in.InstanceIds...)
	}
	if trouble.err != nil {
		return nil, trouble.err
	}
	return &ec2.TerminateInstancesOutput{}, nil
}

func (r *regionalEC2) terminate(ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.instances {
		if i.ended.IsZero() && slices.Contains(ids, *i.InstanceId) {
			i.ended = r.clock.Now()
		}
	}
}

func (r *regionalEC2) CreateTags(ctx context.Context, in *ec2.CreateTagsInput, _ ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	if trouble := r.enter(ctx, "CreateTags"); trouble.err != nil {
		return nil, trouble.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.instances {
		if !slices.Contains(in.Resources, *i.InstanceId) {
			continue
		}
		for _, tag := range in.Tags {
			i.Tags = append(slices.DeleteFunc(slices.Clone(i.Tags), func(t ec2types.Tag) bool { return *t.Key == *tag.Key }), tag)
		}
	}
	return &ec2.CreateTagsOutput{}, nil
}

// regionalClients are clients whose EC2 is in memory; no other service is there.
type regionalClients struct {
	clients
	ec2 *regionalEC2
}

func (c regionalClients) EC2(sdk.Priority) sdk.EC2API { return c.ec2 }

// steppedClock stands still until it is moved. Safe for concurrent use.
type steppedClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *steppedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *steppedClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
