package aws_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

// account is an EC2 in memory for tests of single answers; calls it does not override are unexpected ones of a mock.
type account struct {
	*mock.MockEC2API
	mu        sync.Mutex
	instances []ec2types.Instance
	fail      map[string]error // by call
	calls     []string
	fleets    []*ec2.CreateFleetInput
	userData  []string // of the launch templates, in base64
	listing   func()   // called while instances are described; nil: nothing
}

func newAccount(t *testing.T) *account {
	return &account{MockEC2API: mock.NewMockEC2API(gomock.NewController(t)), fail: map[string]error{}}
}

func apiError(code, message string) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "Call", Err: &smithy.GenericAPIError{Code: code, Message: message}}
}

func (a *account) called(call string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, call)
	return a.fail[call]
}

func (a *account) count(call string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, c := range a.calls {
		if c == call {
			n++
		}
	}
	return n
}

func (a *account) DescribeInstanceTypes(_ context.Context, in *ec2.DescribeInstanceTypesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	if awssdk.ToBool(in.DryRun) {
		if err := a.called("Probe"); err != nil {
			return nil, err
		}
		return nil, apiError("DryRunOperation", "would have succeeded")
	}
	if err := a.called("DescribeInstanceTypes"); err != nil {
		return nil, err
	}
	return &ec2.DescribeInstanceTypesOutput{}, nil
}

func (a *account) DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	return &ec2.DescribeInstanceTypeOfferingsOutput{}, a.called("DescribeInstanceTypeOfferings")
}

func (a *account) DescribeAvailabilityZones(context.Context, *ec2.DescribeAvailabilityZonesInput, ...func(*ec2.Options)) (*ec2.DescribeAvailabilityZonesOutput, error) {
	return &ec2.DescribeAvailabilityZonesOutput{}, a.called("DescribeAvailabilityZones")
}

func (a *account) DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	return &ec2.DescribeSubnetsOutput{}, a.called("DescribeSubnets")
}

func (a *account) DescribeSpotPriceHistory(context.Context, *ec2.DescribeSpotPriceHistoryInput, ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error) {
	return &ec2.DescribeSpotPriceHistoryOutput{}, a.called("DescribeSpotPriceHistory")
}

func (a *account) DescribePlacementGroups(context.Context, *ec2.DescribePlacementGroupsInput, ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error) {
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: []ec2types.PlacementGroup{{
		GroupId: awssdk.String("pg-1"), GroupName: awssdk.String("group"), State: "available", Strategy: "partition", PartitionCount: awssdk.Int32(3),
	}}}, a.called("DescribePlacementGroups")
}

func (a *account) CreateLaunchTemplate(_ context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	a.mu.Lock()
	a.userData = append(a.userData, awssdk.ToString(in.LaunchTemplateData.UserData))
	a.mu.Unlock()
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: &ec2types.LaunchTemplate{
		LaunchTemplateName: in.LaunchTemplateName, LaunchTemplateId: awssdk.String("lt-1"),
	}}, a.called("CreateLaunchTemplate")
}

func (a *account) DescribeLaunchTemplates(context.Context, *ec2.DescribeLaunchTemplatesInput, ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	return &ec2.DescribeLaunchTemplatesOutput{}, a.called("DescribeLaunchTemplates")
}

// CreateFleet launches the first override.
func (a *account) CreateFleet(_ context.Context, in *ec2.CreateFleetInput, _ ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	if err := a.called("CreateFleet"); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fleets = append(a.fleets, in)
	config := in.LaunchTemplateConfigs[0]
	first := config.Overrides[0]
	id := fmt.Sprintf("i-%d", len(a.fleets))
	instance := ec2types.Instance{
		InstanceId: &id, InstanceType: first.InstanceType, State: &ec2types.InstanceState{Name: "running"}, ImageId: first.ImageId, SubnetId: first.SubnetId,
		LaunchTime: awssdk.Time(time.Now()), Placement: &ec2types.Placement{AvailabilityZone: first.AvailabilityZone},
		Tags: in.TagSpecifications[0].Tags, SecurityGroups: []ec2types.GroupIdentifier{{GroupId: awssdk.String("sg-1")}},
	}
	if in.SpotOptions != nil {
		instance.SpotInstanceRequestId = awssdk.String("sir-1")
	}
	a.instances = append(a.instances, instance)
	return &ec2.CreateFleetOutput{Instances: []ec2types.CreateFleetInstance{{
		InstanceIds: []string{id}, InstanceType: first.InstanceType,
		LaunchTemplateAndOverrides: &ec2types.LaunchTemplateAndOverridesResponse{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{LaunchTemplateName: config.LaunchTemplateSpecification.LaunchTemplateName},
			Overrides: &ec2types.FleetLaunchTemplateOverrides{
				InstanceType: first.InstanceType, AvailabilityZone: first.AvailabilityZone, SubnetId: first.SubnetId, ImageId: first.ImageId,
			},
		},
	}}}, nil
}

func (a *account) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	if a.listing != nil {
		a.listing()
	}
	if err := a.called("DescribeInstances"); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := &ec2.DescribeInstancesOutput{}
	for _, i := range a.instances {
		if !slices.ContainsFunc(in.Filters, func(f ec2types.Filter) bool { return !matches(&i, f) }) {
			out.Reservations = append(out.Reservations, ec2types.Reservation{Instances: []ec2types.Instance{i}})
		}
	}
	return out, nil
}

func matches(i *ec2types.Instance, f ec2types.Filter) bool {
	var have []string
	switch key, isTag := strings.CutPrefix(*f.Name, "tag:"); {
	case *f.Name == "instance-id":
		have = []string{*i.InstanceId}
	case *f.Name == "instance-state-name":
		have = []string{string(i.State.Name)}
	default:
		for _, tag := range i.Tags {
			if !isTag {
				have = append(have, *tag.Key)
			} else if *tag.Key == key {
				have = append(have, *tag.Value)
			}
		}
	}
	return slices.ContainsFunc(have, func(h string) bool {
		return slices.ContainsFunc(f.Values, func(value string) bool {
			prefix, wild := strings.CutSuffix(value, "*")
			return h == value || wild && strings.HasPrefix(h, prefix)
		})
	})
}

func (a *account) TerminateInstances(_ context.Context, in *ec2.TerminateInstancesInput, _ ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	if err := a.called("TerminateInstances"); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := range a.instances {
		if slices.Contains(in.InstanceIds, *a.instances[n].InstanceId) {
			a.instances[n].State = &ec2types.InstanceState{Name: "shutting-down"}
		}
	}
	return &ec2.TerminateInstancesOutput{}, nil
}

func (a *account) CreateTags(context.Context, *ec2.CreateTagsInput, ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	return &ec2.CreateTagsOutput{}, a.called("CreateTags")
}

// put adds an instance of the cluster, launched from a class.
func (a *account) put(id, instanceType, class string, change ...func(*ec2types.Instance)) string {
	i := ec2types.Instance{
		InstanceId: &id, InstanceType: ec2types.InstanceType(instanceType), State: &ec2types.InstanceState{Name: "running"},
		ImageId: awssdk.String("ami-amd64"), SubnetId: awssdk.String("subnet-a"), LaunchTime: awssdk.Time(time.Unix(1.7e9, 0)),
		Placement:      &ec2types.Placement{AvailabilityZone: awssdk.String("us-east-1a")},
		SecurityGroups: []ec2types.GroupIdentifier{{GroupId: awssdk.String("sg-1")}},
	}
	for key, value := range map[string]string{
		awsv1.TagClusterName: "demo", awsv1.TagNodePool: "pool", awsv1.TagNodeClass: class, awsv1.TagNodeClaim: "claim-" + id, launch.TagNodeClaimUID: "uid-" + id,
	} {
		i.Tags = append(i.Tags, ec2types.Tag{Key: &key, Value: &value})
	}
	for _, c := range change {
		c(&i)
	}
	a.instances = append(a.instances, i)
	return "aws:///us-east-1a/" + id
}

// clients are those of an account.
type clients struct {
	account *account
	eks     sdk.EKSAPI
	pricing sdk.PricingAPI
	shifts  sdk.ZonalShiftAPI
	ssm     sdk.SSMAPI
	iam     sdk.IAMAPI
	sqs     sdk.SQSAPI
}

func (c clients) Region() string                            { return "us-east-1" }
func (c clients) EC2(sdk.Priority) sdk.EC2API               { return c.account }
func (c clients) EKS(sdk.Priority) sdk.EKSAPI               { return c.eks }
func (c clients) Pricing(sdk.Priority) sdk.PricingAPI       { return c.pricing }
func (c clients) SSM(sdk.Priority) sdk.SSMAPI               { return struct{ sdk.SSMAPI }{c.ssm} }
func (c clients) IAM(sdk.Priority) sdk.IAMAPI               { return struct{ sdk.IAMAPI }{c.iam} }
func (c clients) SQS(sdk.Priority) sdk.SQSAPI               { return c.sqs }
func (c clients) ZonalShift(sdk.Priority) sdk.ZonalShiftAPI { return c.shifts }

// embedded is the catalogue that providers of these tests are seeded with, decoded once.
var embedded = sync.OnceValues(catalog.Embedded)

// readyClass is a class that instances can be launched from.
func readyClass(name string) *awsv1.EC2NodeClass {
	return ec2build.Class(name, ec2build.Profile("node-profile"), ec2build.SecurityGroups("sg-1"),
		ec2build.Subnet("subnet-a", "us-east-1a", "use1-az1"), ec2build.Subnet("subnet-b", "us-east-1b", "use1-az2"),
		ec2build.Image("ami-amd64", "amd64"), ec2build.Image("ami-arm64", "arm64"), ec2build.Ready(time.Unix(1.7e9, 0)),
		func(c *awsv1.EC2NodeClass) { c.Spec = awsv1.EC2NodeClassSpec{AMIFamily: awsv1.AMIFamilyAL2023} })
}

// newProvider is a provider on an account, seeded with the built-in catalogue; EC2's own types are out of reach.
func newProvider(t *testing.T, a *account, change ...func(*aws.Config, *aws.Options)) *aws.Provider {
	t.Helper()
	seed, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	a.fail["DescribeInstanceTypes"] = apiError("InternalError", "EC2 is down")
	config := aws.Config{ClusterName: "demo"}
	options := aws.Options{
		NodeClasses: aws.NodeClasses{"default": readyClass("default")}, Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16", CABundle: "Q0E="},
		Clients: clients{account: a, pricing: mock.NewMockPricingAPI(gomock.NewController(t))}, Types: seed, BuiltIn: seed,
	}
	for _, c := range change {
		c(&config, &options)
	}
	p, err := aws.New(t.Context(), config, options)
	if err != nil {
		t.Fatal(err)
	}
	a.calls = nil
	return p
}
