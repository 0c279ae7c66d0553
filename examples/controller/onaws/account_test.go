package onaws

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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk"
)

// account is an EC2 in memory, as far as these tests need one: a call that it does not have is a nil one.
type account struct {
	sdk.EC2API
	mu        sync.Mutex
	fleets    []*ec2.CreateFleetInput
	tagged    []*ec2.CreateTagsInput
	instances []ec2types.Instance
}

var errDryRun = &smithy.GenericAPIError{Code: "DryRunOperation", Message: "would have succeeded"}

// DescribeInstanceTypes knows the instances of these tests.
func (a *account) DescribeInstanceTypes(_ context.Context, in *ec2.DescribeInstanceTypesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	if awssdk.ToBool(in.DryRun) {
		return nil, errDryRun
	}
	out := &ec2.DescribeInstanceTypesOutput{}
	for _, name := range []string{"m5.large", "m5.xlarge", "c5.large"} {
		out.InstanceTypes = append(out.InstanceTypes, ec2types.InstanceTypeInfo{
			InstanceType: ec2types.InstanceType(name), CurrentGeneration: awssdk.Bool(true), Hypervisor: "nitro", BareMetal: awssdk.Bool(false),
			SupportedUsageClasses:        []ec2types.UsageClassType{"on-demand", "spot"},
			SupportedVirtualizationTypes: []ec2types.VirtualizationType{"hvm"},
			ProcessorInfo:                &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{"x86_64"}, SustainedClockSpeedInGhz: awssdk.Float64(3.1)},
			VCpuInfo:                     &ec2types.VCpuInfo{DefaultVCpus: awssdk.Int32(map[bool]int32{true: 4, false: 2}[name == "m5.xlarge"])},
			MemoryInfo:                   &ec2types.MemoryInfo{SizeInMiB: awssdk.Int64(map[bool]int64{true: 16384, false: 8192}[name == "m5.xlarge"])},
			NetworkInfo: &ec2types.NetworkInfo{
				MaximumNetworkInterfaces: awssdk.Int32(3), Ipv4AddressesPerInterface: awssdk.Int32(10), Ipv6AddressesPerInterface: awssdk.Int32(10), Ipv6Supported: awssdk.Bool(true),
				MaximumNetworkCards: awssdk.Int32(1), DefaultNetworkCardIndex: awssdk.Int32(0),
				NetworkCards: []ec2types.NetworkCardInfo{{NetworkCardIndex: awssdk.Int32(0), MaximumNetworkInterfaces: awssdk.Int32(3)}},
			},
			EbsInfo: &ec2types.EbsInfo{MaximumEbsAttachments: awssdk.Int32(27)},
		})
	}
	return out, nil
}

var zones = []string{"us-east-1a", "us-east-1b"}

func (a *account) DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	out := &ec2.DescribeInstanceTypeOfferingsOutput{}
	for _, name := range []ec2types.InstanceType{"m5.large", "m5.xlarge", "c5.large"} {
		for _, zone := range zones {
			out.InstanceTypeOfferings = append(out.InstanceTypeOfferings, ec2types.InstanceTypeOffering{InstanceType: name, Location: &zone, LocationType: "availability-zone"})
		}
	}
	return out, nil
}

func (a *account) DescribeAvailabilityZones(context.Context, *ec2.DescribeAvailabilityZonesInput, ...func(*ec2.Options)) (*ec2.DescribeAvailabilityZonesOutput, error) {
	out := &ec2.DescribeAvailabilityZonesOutput{}
	for i, zone := range zones {
		out.AvailabilityZones = append(out.AvailabilityZones, ec2types.AvailabilityZone{
			ZoneName: &zone, ZoneId: awssdk.String(fmt.Sprintf("use1-az%d", i+1)), ZoneType: awssdk.String("availability-zone"), State: "available",
		})
	}
	return out, nil
}

func (a *account) DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	return &ec2.DescribeSubnetsOutput{Subnets: []ec2types.Subnet{
		{SubnetId: awssdk.String("subnet-a"), AvailabilityZone: &zones[0], AvailabilityZoneId: awssdk.String("use1-az1"), AvailableIpAddressCount: awssdk.Int32(100)},
		{SubnetId: awssdk.String("subnet-b"), AvailabilityZone: &zones[1], AvailabilityZoneId: awssdk.String("use1-az2"), AvailableIpAddressCount: awssdk.Int32(90)},
	}}, nil
}

func (a *account) DescribeSecurityGroups(context.Context, *ec2.DescribeSecurityGroupsInput, ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: []ec2types.SecurityGroup{{GroupId: awssdk.String("sg-1"), GroupName: awssdk.String("nodes")}}}, nil
}

func (a *account) DescribeImages(context.Context, *ec2.DescribeImagesInput, ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	return &ec2.DescribeImagesOutput{Images: []ec2types.Image{{
		ImageId: awssdk.String("ami-1"), Name: awssdk.String("image"), Architecture: "x86_64", CreationDate: awssdk.String("2026-01-01T00:00:00.000Z"), State: "available",
	}}}, nil
}

func (a *account) DescribeSpotPriceHistory(context.Context, *ec2.DescribeSpotPriceHistoryInput, ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error) {
	return &ec2.DescribeSpotPriceHistoryOutput{}, nil
}

func (a *account) CreateLaunchTemplate(_ context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: &ec2types.LaunchTemplate{LaunchTemplateName: in.LaunchTemplateName, LaunchTemplateId: awssdk.String("lt-1")}}, nil
}

func (a *account) DescribeLaunchTemplates(context.Context, *ec2.DescribeLaunchTemplatesInput, ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	return &ec2.DescribeLaunchTemplatesOutput{}, nil
}

// CreateFleet launches the override of the least priority, as a fleet by prioritised strategies does.
func (a *account) CreateFleet(_ context.Context, in *ec2.CreateFleetInput, _ ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fleets = append(a.fleets, in)
	config := in.LaunchTemplateConfigs[0]
	first := slices.MinFunc(config.Overrides, func(x, y ec2types.FleetLaunchTemplateOverridesRequest) int {
		return int(1e9*awssdk.ToFloat64(x.Priority)) - int(1e9*awssdk.ToFloat64(y.Priority))
	})
	i := instance(fmt.Sprintf("i-%d", len(a.fleets)), string(first.InstanceType), awssdk.ToString(first.AvailabilityZone))
	i.Tags = in.TagSpecifications[0].Tags
	a.instances = append(a.instances, i)
	return &ec2.CreateFleetOutput{Instances: []ec2types.CreateFleetInstance{{
		InstanceIds: []string{*i.InstanceId}, InstanceType: first.InstanceType,
		LaunchTemplateAndOverrides: &ec2types.LaunchTemplateAndOverridesResponse{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{LaunchTemplateName: config.LaunchTemplateSpecification.LaunchTemplateName},
			Overrides: &ec2types.FleetLaunchTemplateOverrides{
				InstanceType: first.InstanceType, AvailabilityZone: first.AvailabilityZone, SubnetId: first.SubnetId, ImageId: first.ImageId,
			},
		},
	}}}, nil
}

func instance(id, instanceType, zone string) ec2types.Instance {
	return ec2types.Instance{
		InstanceId: &id, InstanceType: ec2types.InstanceType(instanceType), State: &ec2types.InstanceState{Name: "running"}, ImageId: awssdk.String("ami-1"),
		SubnetId: awssdk.String("subnet-a"), LaunchTime: awssdk.Time(time.Unix(1.7e9, 0)), Placement: &ec2types.Placement{AvailabilityZone: &zone},
		SecurityGroups: []ec2types.GroupIdentifier{{GroupId: awssdk.String("sg-1")}},
	}
}

// DescribeInstances finds by id, or by the claim that an instance was launched for.
func (a *account) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := &ec2.DescribeInstancesOutput{}
	for _, i := range a.instances {
		wanted := len(in.InstanceIds) == 0 || slices.Contains(in.InstanceIds, *i.InstanceId)
		for _, f := range in.Filters {
			switch key, isTag := strings.CutPrefix(*f.Name, "tag:"); {
			case *f.Name == "instance-id":
				wanted = wanted && slices.Contains(f.Values, *i.InstanceId)
			case isTag:
				wanted = wanted && slices.ContainsFunc(i.Tags, func(t ec2types.Tag) bool { return *t.Key == key && slices.Contains(f.Values, *t.Value) })
			}
		}
		if wanted {
			out.Reservations = append(out.Reservations, ec2types.Reservation{Instances: []ec2types.Instance{i}})
		}
	}
	return out, nil
}

func (a *account) CreateTags(_ context.Context, in *ec2.CreateTagsInput, _ ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tagged = append(a.tagged, in)
	return &ec2.CreateTagsOutput{}, nil
}

// put adds an instance of the cluster, and returns its provider id.
func (a *account) put(id string, change ...func(*ec2types.Instance)) string {
	i := instance(id, "m5.large", zones[0])
	for key, value := range map[string]string{awsv1.TagClusterName: "demo", awsv1.TagNodePool: "pool", awsv1.TagNodeClass: "default", awsv1.TagNodeClaim: "claim"} {
		i.Tags = append(i.Tags, ec2types.Tag{Key: &key, Value: &value})
	}
	for _, c := range change {
		c(&i)
	}
	a.instances = append(a.instances, i)
	return "aws:///" + zones[0] + "/" + id
}

// clients are of an account that has an EC2 and nothing else.
type clients struct{ account *account }

func (c clients) Region() string                            { return "us-east-1" }
func (c clients) EC2(sdk.Priority) sdk.EC2API               { return c.account }
func (c clients) EKS(sdk.Priority) sdk.EKSAPI               { return nil }
func (c clients) Pricing(sdk.Priority) sdk.PricingAPI       { return struct{ sdk.PricingAPI }{} }
func (c clients) SSM(sdk.Priority) sdk.SSMAPI               { return struct{ sdk.SSMAPI }{} }
func (c clients) IAM(sdk.Priority) sdk.IAMAPI               { return struct{ sdk.IAMAPI }{} }
func (c clients) SQS(sdk.Priority) sdk.SQSAPI               { return struct{ sdk.SQSAPI }{} }
func (c clients) ZonalShift(sdk.Priority) sdk.ZonalShiftAPI { return struct{ sdk.ZonalShiftAPI }{} }

// site is a provider on an account, and a cluster in memory.
type site struct {
	t        *testing.T
	account  *account
	client   client.Client
	provider *Provider
}

func newSite(t *testing.T, objects ...client.Object) *site {
	t.Helper()
	s := &site{t: t, account: &account{}}
	s.client = clientfake.NewClientBuilder().WithScheme(scheme()).WithStatusSubresource(&v1.NodeClaim{}, &v1.NodePool{}, &awsv1.EC2NodeClass{}).
		WithIndex(claimObject, claimsByClass, classOf).WithObjects(objects...).WithInterceptorFuncs(judged(t)).Build()
	var err error
	s.provider, err = newProvider(t.Context(), s.client, aws.Config{ClusterName: "demo", WithoutDryRuns: true, IsolatedVPC: true}, Options{
		NodeOverlays: true, Clients: clients{s.account}, Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16", Version: "1.35"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme, awsv1.AddToScheme} {
		utilruntime.Must(add(s))
	}
	return s
}

func newClass(name string) *awsv1.EC2NodeClass {
	return &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			AMIFamily: awsv1.AMIFamilyAL2023, InstanceProfile: awssdk.String("node-profile"),
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"*": "*"}}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"*": "*"}}},
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{ID: "ami-1"}},
		},
	}
}

// readyClass is a class as it was found to be.
func readyClass(name string) *awsv1.EC2NodeClass {
	class := newClass(name)
	class.Status = awsv1.EC2NodeClassStatus{
		InstanceProfile: "node-profile", SecurityGroups: []awsv1.SecurityGroup{{ID: "sg-1"}},
		Subnets: []awsv1.Subnet{{ID: "subnet-a", Zone: zones[0], ZoneID: "use1-az1"}, {ID: "subnet-b", Zone: zones[1], ZoneID: "use1-az2"}},
		AMIs: []awsv1.AMI{{ID: "ami-1", Requirements: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"},
		}}}},
	}
	for _, condition := range []string{
		awsv1.ConditionSubnetsReady, awsv1.ConditionSecurityGroupsReady, awsv1.ConditionAMIsReady,
		awsv1.ConditionInstanceProfileReady, awsv1.ConditionPlacementGroupReady, awsv1.ConditionValidationSucceeded,
	} {
		class.Conditions().SetTrue(condition, time.Unix(1.7e9, 0))
	}
	return class
}

func classRef(name string) v1.NodeClassReference {
	return v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: name}
}

// newPool is a pool that is ready.
func newPool(name string) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	pool.Spec.Template.Spec.NodeClassRef = classRef("default")
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	for _, condition := range []string{v1.ConditionValidationSucceeded, v1.ConditionNodeClassReady} {
		pool.Conditions().SetTrue(condition, time.Unix(1.7e9, 0))
	}
	return pool
}

func newClaim(name, pool string) *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{v1.NodePoolLabelKey: pool}}}
	claim.Spec.NodeClassRef = classRef("default")
	claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		in(corev1.LabelInstanceTypeStable, "m5.large", "m5.xlarge", "c5.large"), in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
	}
	return claim
}

func in(key string, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}
