package offerings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/hosts"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
)

// Plans count on Dedicated Hosts only where one has room for the type.
func TestRoomOnHosts(t *testing.T) {
	all := small(t)
	for name, c := range map[string]struct {
		tenancy string
		room    hosts.Room
		want    map[string]string // reasons by zone
	}{
		"not known":       {awsv1.TenancyHost, nil, map[string]string{"us-east-1a": "", "us-east-1b": ""}},
		"one host":        {awsv1.TenancyHost, hosts.Room{"us-east-1a": {"m5.large"}}, map[string]string{"us-east-1a": "", "us-east-1b": offerings.ReasonHostsFull}},
		"for other types": {awsv1.TenancyHost, hosts.Room{"us-east-1a": {"c5.large"}}, map[string]string{"us-east-1a": offerings.ReasonHostsFull, "us-east-1b": offerings.ReasonHostsFull}},
		"no hosts":        {awsv1.TenancyHost, hosts.Room{}, map[string]string{"us-east-1a": offerings.ReasonHostsFull, "us-east-1b": offerings.ReasonHostsFull}},
		"other tenancy":   {awsv1.TenancyDedicated, hosts.Room{}, map[string]string{"us-east-1a": "", "us-east-1b": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			m := market(t, all)
			options := offerings.Options{HostRoom: c.room}
			options.Settings.Tenancy = c.tenancy
			got := map[string]string{}
			for _, e := range explainedKeys(t, m, view(t, all, class("a"), options)) {
				if _, asked := c.want[e.Key.Zone]; asked && e.Key.CapacityType == "on-demand" {
					got[e.Key.Zone] = e.Reason
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An Outpost has on-demand instances of its own types, at next to no price, whose stock is not that of the region.
func TestOfferingsOnOutposts(t *testing.T) {
	const rack = "arn:aws:outposts:us-east-1:111122223333:outpost/op-1"
	all := small(t)
	class := class("a", func(class *awsv1.EC2NodeClass) {
		class.Status.Subnets = []awsv1.Subnet{
			{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az2", OutpostARN: rack}, {ID: "subnet-b", Zone: "us-east-1b", ZoneID: "use1-az4"},
		}
		class.Status.CapacityReservations = []awsv1.CapacityReservation{reservation("cr-1", "m5.large", "us-east-1a")}
	})
	options := offerings.Options{Outposts: map[string]outposts.Outpost{"us-east-1a": {ARN: rack, Types: []string{"m5.large"}}}}
	v := view(t, all, class, options)
	m := market(t, all)
	m.Rooms = rooms(map[string]int{"cr-1": 1})
	m5 := resolve(t, m, v)["m5.large"]
	regional := 0.0
	for _, o := range m5.Offerings {
		if o.Zone() == "us-east-1b" && o.CapacityType() == "on-demand" {
			if regional = o.Price; o.Value(instancetype.LabelOutpostID) != "" {
				t.Error("the region is on an Outpost")
			}
		}
	}
	var got []string
	for _, o := range m5.Offerings {
		if o.Zone() != "us-east-1a" {
			continue
		}
		got = append(got, o.CapacityType())
		switch {
		case o.Reserved():
			if o.Available {
				t.Error("a reservation of the region is used on an Outpost")
			}
		case !o.Available || o.Price <= 0 || o.Price > regional/1000 || o.PriceSource != "Outpost: paid for by its contract" || o.Value(instancetype.LabelOutpostID) != "op-1":
			t.Errorf("offering %+v, in the region %v", o, regional)
		}
	}
	if strings.Join(got, " ") != "on-demand reserved" {
		t.Errorf("the Outpost offers %v", got)
	}
	if values := m5.Requirements.Get(instancetype.LabelOutpostID).Values(); len(values) != 1 || values[0] != "op-1" {
		t.Errorf("the type may be on %v", values)
	}
	for _, o := range resolve(t, m, v)["m5.xlarge"].Offerings {
		if o.Zone() == "us-east-1a" && o.Available {
			t.Errorf("the Outpost has no m5.xlarge: %+v", o)
		}
	}
	// A stock-out in the region closes nothing on the Outpost, and the other way round.
	for _, c := range []struct {
		hardware unavailable.Hardware
		want     string
	}{{unavailable.Hardware{}, ""}, {unavailable.Hardware{}.On(rack), unavailable.ReasonOffering}} {
		memory := unavailable.New(unavailable.Options{Now: start})
		memory.Mark(unavailable.Key{CapacityType: "on-demand", InstanceType: "m5.large", Zone: "us-east-1a", Hardware: c.hardware})
		m.Unavailable = memory.Snapshot()
		for _, e := range explainedKeys(t, m, v) {
			if e.Key.Zone == "us-east-1a" && e.Key.CapacityType == "on-demand" && e.Reason != c.want {
				t.Errorf("after a stock-out of %q: %q", c.hardware, e.Reason)
			}
		}
	}
}
