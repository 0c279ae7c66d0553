package aws_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/moto"
)

// OPP-26: a class with a subnet on an Outpost launches there what the Outpost has. moto has no Outposts, so the test says which types it has.
func TestMotoOutposts(t *testing.T) {
	const rack = "arn:aws:outposts:us-east-1:123456789012:outpost/op-0123456789abcdef0"
	s := newSite(t)
	ctx := t.Context()
	s.cloud.Handle("DescribeInstanceTypeOfferings", func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
		if call.Form.Get("LocationType") != "outpost" {
			return next(call)
		}
		if call.Form.Get("Filter.1.Value.1") != rack {
			t.Errorf("asked for %v", call.Form)
		}
		return moto.XML(fmt.Sprintf(`<DescribeInstanceTypeOfferingsResponse><instanceTypeOfferingSet><item><instanceType>m5.large</instanceType>`+
			`<locationType>outpost</locationType><location>%s</location></item></instanceTypeOfferingSet></DescribeInstanceTypeOfferingsResponse>`, rack))
	})
	on := &s.class.Status.Subnets[0]
	on.OutpostARN = rack
	types, err := s.provider.InstanceTypes(ctx, nodePool())
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range types {
		for i := range it.Offerings {
			o := &it.Offerings[i]
			if o.Zone() != on.Zone {
				if o.Value(instancetype.LabelOutpostID) != "" {
					t.Fatalf("%s in %s is on an Outpost", it.Name, o.Zone())
				}
				continue
			}
			if want := it.Name == "m5.large" && o.CapacityType() == v1.CapacityTypeOnDemand; o.Available != want || o.Value(instancetype.LabelOutpostID) != "op-0123456789abcdef0" {
				t.Errorf("%s %s on the Outpost is available: %t", it.Name, o.CapacityType(), o.Available)
			}
		}
	}
	inZone := in(corev1.LabelTopologyZone, on.Zone)
	created, err := s.provider.Create(ctx, claim("first", inZone))
	if err != nil {
		t.Fatal(err)
	}
	if l := created.Labels; l[instancetype.LabelOutpostID] != "op-0123456789abcdef0" || l[corev1.LabelInstanceTypeStable] != "m5.large" || l[v1.CapacityTypeLabelKey] != v1.CapacityTypeOnDemand {
		t.Errorf("launched %v", l)
	}
	if got := s.instances(); len(got) != 1 || *got[0].SubnetId != on.ID {
		t.Errorf("launched in %v, want %s", got, on.ID)
	}
	// A stock-out on the Outpost closes nothing in the region, which another class of the same zone uses.
	s.cloud.OutOfStock("InsufficientCapacityOnOutpost", func(_, zone, _ string) bool { return zone == on.Zone })
	if _, err := s.provider.Create(ctx, claim("second", inZone)); !cloudprovider.IsInsufficientCapacity(err) {
		t.Fatalf("got %v", err)
	}
	open := func() bool {
		types, err := s.provider.InstanceTypes(ctx, nodePool())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range types {
			for i := range it.Offerings {
				if o := &it.Offerings[i]; it.Name == "m5.large" && o.Zone() == on.Zone && o.CapacityType() == v1.CapacityTypeOnDemand {
					return o.Available
				}
			}
		}
		t.Fatal("there is no m5.large")
		return false
	}
	if open() {
		t.Error("the Outpost is out of stock, and its offering is available")
	}
	if on.OutpostARN = ""; !open() {
		t.Error("the offering in the region was closed by a stock-out on the Outpost")
	}
}
