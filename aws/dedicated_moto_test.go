package aws_test

import (
	"bytes"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/moto"
)

// OPP-05, OPP-26: dedicated hardware has its own price, and launches name it. moto keeps the placement of a launch template, but does not
// place instances by it.
func TestMotoDedicatedHardware(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	onDemand := in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand)
	price := func(pool *v1.NodePool) float64 {
		t.Helper()
		types, err := s.provider.InstanceTypes(ctx, pool)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range types {
			for i := range it.Offerings {
				if it.Name == "m5.large" && it.Offerings[i].CapacityType() == v1.CapacityTypeOnDemand {
					return it.Offerings[i].Price
				}
			}
		}
		t.Fatal("there is no m5.large")
		return 0
	}
	required := nodePool()
	required.Spec.Template.Spec.Requirements = append(required.Spec.Template.Spec.Requirements, build.Claim("any", in(awsv1.LabelInstanceTenancy, awsv1.TenancyDedicated)).Spec.Requirements...)
	shared, dedicated := price(nodePool()), price(required)
	hostID, room := allocateHost(t, s, "m5.large")
	s.class.Spec.Placement = &awsv1.Placement{HostID: &hostID}
	host := price(nodePool())
	for name, usd := range map[string]float64{"dedicated": dedicated, "host": host} {
		if math.Abs(usd-1.1*shared) > 1e-6 {
			t.Errorf("%s costs %v, want 10 %% more than %v", name, usd, shared)
		}
	}
	onHost, err := s.provider.Create(ctx, claim("host", onDemand))
	if err != nil {
		t.Fatal(err)
	}
	if onHost.Labels[corev1.LabelInstanceTypeStable] != "m5.large" {
		t.Errorf("the host has room for m5.large, and got %s", onHost.Labels[corev1.LabelInstanceTypeStable])
	}
	// The host is full now: plans and launches know it, and no call is made.
	room.Store(0)
	if _, err := s.provider.Create(ctx, claim("second", onDemand)); !cloudprovider.IsInsufficientCapacity(err) {
		t.Errorf("a second instance on a host with room for one: %v", err)
	}
	if calls := s.cloud.Calls("CreateFleet"); calls != 1 {
		t.Errorf("EC2 was asked for %d instances", calls)
	}
	s.class.Spec.Placement = nil
	alone, err := s.provider.Create(ctx, claim("dedicated", onDemand, in(awsv1.LabelInstanceTenancy, awsv1.TenancyDedicated)))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := onHost.Labels[awsv1.LabelInstanceTenancy], alone.Labels[awsv1.LabelInstanceTenancy]; a != awsv1.TenancyHost || b != awsv1.TenancyDedicated {
		t.Errorf("the tenancies are %q and %q", a, b)
	}
	versions, err := ec2.NewFromConfig(mototest.Config(s.cloud)).DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest"}})
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[ec2types.Tenancy]string{}
	for _, v := range versions.LaunchTemplateVersions {
		if p := v.LaunchTemplateData.Placement; p != nil {
			hosts[p.Tenancy] = awssdk.ToString(p.HostId)
		}
	}
	if id, ok := hosts[ec2types.TenancyHost]; !ok || id != hostID {
		t.Errorf("no launch template names the host: %v", hosts)
	}
	if _, ok := hosts[ec2types.TenancyDedicated]; !ok {
		t.Errorf("no launch template is for Dedicated Instances: %v", hosts)
	}
}

// allocateHost makes a Dedicated Host with room for one instance. moto does not say how much room hosts have, so the test does.
func allocateHost(t *testing.T, s *site, instanceType string) (id string, room *atomic.Int32) {
	t.Helper()
	out, err := ec2.NewFromConfig(mototest.Config(s.cloud)).AllocateHosts(t.Context(), &ec2.AllocateHostsInput{
		AvailabilityZone: awssdk.String("us-east-1a"), InstanceType: &instanceType, Quantity: awssdk.Int32(1),
	})
	if err != nil || len(out.HostIds) != 1 {
		t.Fatal(out, err)
	}
	room = new(atomic.Int32)
	room.Store(1)
	const capacity = "<availableCapacity><availableInstanceCapacity><item><availableCapacity>%d</availableCapacity><instanceType>%s</instanceType></item>" +
		"</availableInstanceCapacity></availableCapacity><hostId>"
	s.cloud.Handle("DescribeHosts", func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
		answer := next(call)
		answer.Body = bytes.ReplaceAll(answer.Body, []byte("<hostId>"), fmt.Appendf(nil, capacity, room.Load(), instanceType))
		return answer
	})
	return out.HostIds[0], room
}
