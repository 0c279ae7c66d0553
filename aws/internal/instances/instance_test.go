package instances_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// AWI-202: the model of an instance.
func TestFromEC2(t *testing.T) {
	launched := time.Unix(1.7e9, 0)
	full := ec2types.Instance{
		InstanceId: aws.String("i-1"), State: &ec2types.InstanceState{Name: "running"}, InstanceType: "p5.48xlarge", ImageId: aws.String("ami-1"),
		SubnetId: aws.String("subnet-1"), LaunchTime: &launched, SpotInstanceRequestId: aws.String("sir-1"),
		Placement: &ec2types.Placement{
			AvailabilityZone: aws.String("us-east-1a"), AvailabilityZoneId: aws.String("use1-az1"), Tenancy: ec2types.TenancyDedicated,
			GroupId: aws.String("pg-1"), PartitionNumber: aws.Int32(3),
		},
		SecurityGroups:    []ec2types.GroupIdentifier{{GroupId: aws.String("sg-2")}, {GroupId: aws.String("sg-1")}},
		NetworkInterfaces: []ec2types.InstanceNetworkInterface{{InterfaceType: aws.String("efa")}, {InterfaceType: aws.String("efa-only")}, {InterfaceType: aws.String("interface")}, {}},
		Tags:              tags("a", "1", launch.TagNodeClaimUID, "uid", awsv1.TagNodeClaim, "claim", awsv1.TagNodePool, "pool", awsv1.TagNodeClass, "class"),
	}
	got := instances.FromEC2(&full)
	want := instances.Instance{
		ID: "i-1", State: "running", Type: "p5.48xlarge", ImageID: "ami-1", Zone: "us-east-1a", ZoneID: "use1-az1", SubnetID: "subnet-1",
		SecurityGroupIDs: []string{"sg-1", "sg-2"}, CapacityType: "spot", Tenancy: "dedicated", EFAs: 2, PlacementGroupID: "pg-1", Partition: 3,
		LaunchTime: launched, Tags: got.Tags,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.NodeClaimUID() != "uid" || got.NodeClaim() != "claim" || got.NodePool() != v1.NewPoolKey("pool") || got.NodeClass() != "class" {
		t.Errorf("tags %v", got.Tags)
	}
	if got.ProviderID() != "aws:///us-east-1a/i-1" {
		t.Errorf("provider id %s (AWI-010)", got.ProviderID())
	}
	if empty := instances.FromEC2(&ec2types.Instance{}); empty.Tenancy != "default" || empty.CapacityType != "on-demand" || empty.ID != "" {
		t.Errorf("of nothing: %+v", empty)
	}
}

// AWI-202: reserved is what may run in a reservation alone; an open reservation used by luck is on-demand.
func TestReserved(t *testing.T) {
	only := &ec2types.CapacityReservationSpecificationResponse{CapacityReservationPreference: ec2types.CapacityReservationPreferenceCapacityReservationsOnly}
	open := &ec2types.CapacityReservationSpecificationResponse{CapacityReservationPreference: ec2types.CapacityReservationPreferenceOpen}
	for name, c := range map[string]struct {
		in           ec2types.Instance
		capacityType string
		reservation  *instances.Reservation
	}{
		"reserved":      {ec2types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: only}, "reserved", &instances.Reservation{ID: "cr-1", Type: "default"}},
		"block":         {ec2types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: only, InstanceLifecycle: "capacity-block"}, "reserved", &instances.Reservation{ID: "cr-1", Type: "capacity-block"}},
		"interruptible": {ec2types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: only, InstanceLifecycle: "interruptible-capacity-reservation"}, "reserved", &instances.Reservation{ID: "cr-1", Type: "default", Interruptible: true}},
		"by luck":       {ec2types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: open}, "on-demand", nil},
		"expired":       {ec2types.Instance{CapacityReservationSpecification: only}, "on-demand", nil},
		"spot":          {ec2types.Instance{InstanceLifecycle: "spot"}, "spot", nil},
	} {
		got := instances.FromEC2(&c.in)
		if got.CapacityType != c.capacityType {
			t.Errorf("%s: %s", name, got.CapacityType)
		}
		if diff := cmp.Diff(c.reservation, got.Reservation); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// AWN-264, AWI-010: any scheme, the last element; what is no instance is not found.
func TestParseProviderID(t *testing.T) {
	for text, want := range map[string]string{
		"aws:///us-east-1a/i-0123456789abcdef0": "i-0123456789abcdef0",
		"simulated-aws:///us-east-1a/i-1":       "i-1",
		"aws:///us-east-1a/fargate-10.0.0.1":    "",
		"":                                      "",
		"i-1":                                   "",
		"aws:///us-east-1a/":                    "",
		"gce://project/zone/instance":           "",
		"aws:///us-east-1a/i-1 i-2":             "",
		"aws:///us-east-1a/i-" + strings.Repeat("0", 99): "",
	} {
		got, err := instances.ParseProviderID(text)
		if got != want || (want == "") != cloudprovider.IsNodeClaimNotFound(err) {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
}

func FuzzParseProviderID(f *testing.F) {
	f.Add("aws:///us-east-1a/i-0123")
	f.Add("aws:////i-")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := instances.ParseProviderID(text)
		switch {
		case err != nil && id != "":
			t.Errorf("%q: both %q and %v", text, id, err)
		case err == nil && (!strings.HasSuffix(text, "/"+id) || !strings.HasPrefix(id, "i-")):
			t.Errorf("%q gives %q", text, id)
		}
	})
}

// AWI-176: an instance that EC2 does not show yet.
func TestFromInstance(t *testing.T) {
	now := time.Unix(1.7e9, 0)
	got := instances.FromInstance(&launch.Instance{
		InstanceID: "i-1", Type: &cloudprovider.InstanceType{Name: "m5.large"}, Zone: "a", ZoneID: "az1", SubnetID: "s", ImageID: "ami",
		CapacityType: "reserved", Tenancy: "default", EFAs: 1, LaunchedAt: now, Tags: map[string]string{"x": "y"},
		Offering: &cloudprovider.Offering{Requirements: requirements.NewSet(
			requirements.In(awsv1.LabelCapacityReservationID, "cr-1"), requirements.In(awsv1.LabelCapacityReservationType, "default"),
			requirements.In(awsv1.LabelCapacityReservationInterruptible, "true"))},
	})
	want := instances.Instance{
		ID: "i-1", State: "pending", Type: "m5.large", ImageID: "ami", Zone: "a", ZoneID: "az1", SubnetID: "s", CapacityType: "reserved", Tenancy: "default",
		EFAs: 1, LaunchTime: now, Tags: map[string]string{"x": "y"}, Reservation: &instances.Reservation{ID: "cr-1", Type: "default", Interruptible: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A warm instance belongs to no claim, and counts as leaving.
func TestWarmInstance(t *testing.T) {
	i := instances.Instance{State: instances.StateRunning, Tags: map[string]string{"drawknife.dev/nodeclaim-uid": "warm/7/p"}}
	if mark, warm := i.Mark(); !warm || mark != "7/p" || i.NodeClaimUID() != "" || !i.Terminating() {
		t.Errorf("mark %q, warm %t, claim %q, leaving %t", mark, warm, i.NodeClaimUID(), i.Terminating())
	}
	i.Tags["drawknife.dev/nodeclaim-uid"] = "uid"
	if i.Warm() || i.NodeClaimUID() != "uid" || i.Terminating() {
		t.Errorf("the instance of a claim is warm: %t, leaving: %t", i.Warm(), i.Terminating())
	}
}
