package offerings_test

import (
	"strings"
	"testing"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// A node class with a subnet in a Local Zone has the types that EC2 offers there, and no others. On-demand prices are those of the region, and
// say that they are an estimate; spot prices are the zone's own.
func TestLocalZones(t *testing.T) {
	from := small(t)
	c := *from
	c.Zones = append([]catalog.Zone{}, from.Zones...)
	c.Zones = append(c.Zones, catalog.Zone{Name: "us-east-1-bos-1a", ID: "use1-bos1-az1"})
	c.Types = append([]catalog.Type{}, from.Types...)
	for i := range c.Types {
		if c.Types[i].Name == "m5.large" {
			c.Types[i].Zones = []int{0, 3}
		}
	}
	all, err := catalog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	local := class("local", func(class *awsv1.EC2NodeClass) {
		class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az2"}, {ID: "subnet-bos", Zone: "us-east-1-bos-1a", ZoneID: "use1-bos1-az1"}}
	})
	m, v := market(t, all), view(t, all, local)
	expect(t, explained(t, m, v, "m5.large"), "a on-demand 0.096", "a spot 0.048", "-bos-1a on-demand 0.096", "-bos-1a spot 0.048")
	for _, o := range resolve(t, m, v)["m5.large"].Offerings {
		estimated := strings.HasSuffix(o.PriceSource, ", of the region: Local Zones cost more") && o.PriceBasis.Confidence == cloudprovider.PriceEstimated
		if want := o.Zone() == "us-east-1-bos-1a" && o.CapacityType() == "on-demand"; estimated != want {
			t.Errorf("%s in %s: from %q, %s", o.CapacityType(), o.Zone(), o.PriceSource, o.PriceBasis.Confidence)
		}
	}
	for _, e := range explained(t, m, v, "t3.large") {
		if strings.HasPrefix(e, "-bos") {
			t.Errorf("EC2 does not offer it there: %s", e)
		}
	}
}
