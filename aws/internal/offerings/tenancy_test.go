package offerings_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
)

// OPP-05: a Dedicated Instance has the list's price for it, or an estimate above that on shared hardware. Nothing else about a class has a
// price of its own, and hosts have on-demand instances alone.
func TestPricesByTenancy(t *testing.T) {
	all := small(t)
	m := market(t, all)
	zoneA := func(class *awsv1.EC2NodeClass) {
		class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az2"}}
	}
	list := func(dedicated map[string]prices.Price) *prices.List {
		return &prices.List{
			Source:   "test",
			OnDemand: map[string]prices.Price{"m5.large": {PerHour: 0.1}}, Dedicated: dedicated,
			Spot: map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "us-east-1a"}: {PerHour: 0.05}},
		}
	}
	known := list(map[string]prices.Price{"m5.large": {PerHour: 0.106}})
	for _, c := range []struct {
		name, tenancy string
		list          *prices.List
		estimated     bool
		want          []string
	}{
		{"shared", "", known, false, []string{"a on-demand 0.1", "a spot 0.05"}},
		{"dedicated", awsv1.TenancyDedicated, known, false, []string{"a on-demand 0.106", "a spot 0.055"}},
		{"dedicated, not known", awsv1.TenancyDedicated, list(nil), true, []string{"a on-demand 0.11", "a spot 0.055"}},
		{"hosts", awsv1.TenancyHost, known, true, []string{"a on-demand 0.11"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.Prices = bookOf(t, c.list)
			options := offerings.Options{}
			options.Settings.Tenancy = c.tenancy
			v := view(t, all, class("a", zoneA), options)
			inZone := slices.DeleteFunc(explained(t, m, v, "m5.large"), func(text string) bool { return !strings.HasPrefix(text, "a ") })
			expect(t, inZone, c.want...)
			o := resolve(t, m, v)["m5.large"].Offerings[0]
			if estimated := o.PriceBasis.Confidence == cloudprovider.PriceEstimated; estimated != c.estimated {
				t.Errorf("the price from %q is %s", o.PriceSource, o.PriceBasis.Confidence)
			}
		})
	}
}

// OPP-26: on-demand prices of a Local Zone are the zone's own where the list has them.
func TestPricesOfLocalZones(t *testing.T) {
	from := small(t)
	c := *from
	c.Zones = append(append([]catalog.Zone{}, from.Zones...), catalog.Zone{Name: "us-east-1-bos-1a", ID: "use1-bos1-az1"})
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
	m := market(t, all)
	m.Prices = bookOf(t, &prices.List{
		Source:   "test",
		OnDemand: map[string]prices.Price{"m5.large": {PerHour: 0.1}},
		Local:    map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "us-east-1-bos-1a"}: {PerHour: 0.125}},
		Spot:     map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "us-east-1a"}: {PerHour: 0.05}},
	})
	local := class("local", func(class *awsv1.EC2NodeClass) {
		class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az2"}, {ID: "subnet-bos", Zone: "us-east-1-bos-1a", ZoneID: "use1-bos1-az1"}}
	})
	types := resolve(t, m, view(t, all, local))
	got := map[string]float64{}
	for _, o := range types["m5.large"].Offerings {
		if o.CapacityType() == "on-demand" {
			got[o.Zone()] = o.Price
			if o.PriceBasis.Confidence == cloudprovider.PriceEstimated {
				t.Errorf("the price in %s from %q is an estimate", o.Zone(), o.PriceSource)
			}
		}
	}
	if got["us-east-1a"] != 0.1 || got["us-east-1-bos-1a"] != 0.125 {
		t.Errorf("on demand it costs %v", got)
	}
}

// A stock-out closes the offerings of its own tenancy, whose keys differ from those of other tenancies.
func TestStockOutsByTenancy(t *testing.T) {
	all := small(t)
	class := class("a", func(class *awsv1.EC2NodeClass) {
		class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az2"}}
	})
	for _, c := range []struct{ out, asked, others string }{
		{"", "", "topology.k8s.aws/zone-id=use1-az2"},
		{"", awsv1.TenancyDedicated, "karpenter.k8s.aws/instance-tenancy=dedicated,topology.k8s.aws/zone-id=use1-az2"},
		{awsv1.TenancyDedicated, "", "topology.k8s.aws/zone-id=use1-az2"},
		{awsv1.TenancyDedicated, awsv1.TenancyDedicated, "karpenter.k8s.aws/instance-tenancy=dedicated,topology.k8s.aws/zone-id=use1-az2"},
		{awsv1.TenancyDefault, "", "topology.k8s.aws/zone-id=use1-az2"},
	} {
		m := market(t, all)
		memory := unavailable.New(unavailable.Options{Now: start})
		memory.Mark(unavailable.Key{CapacityType: "on-demand", InstanceType: "m5.large", Zone: "us-east-1a", Hardware: unavailable.HardwareOf(c.out, "")})
		m.Unavailable = memory.Snapshot()
		options := offerings.Options{}
		options.Settings.Tenancy = c.asked
		found := 0
		for _, e := range explainedKeys(t, m, view(t, all, class, options)) {
			if e.Key.CapacityType != "on-demand" || e.Key.Zone != "us-east-1a" {
				continue
			}
			found++
			want := ""
			if unavailable.HardwareOf(c.out, "") == unavailable.HardwareOf(c.asked, "") {
				want = unavailable.ReasonOffering
			}
			if e.Reason != want || e.Key.Others != c.others {
				t.Errorf("a stock-out of tenancy %q: %q is closed because of %q, want %q; key %s", c.out, c.asked, e.Reason, want, e.Key)
			}
		}
		if found != 1 {
			t.Errorf("tenancy %q has %d such offerings", c.asked, found)
		}
	}
}

func explainedKeys(t *testing.T, m offerings.Market, v offerings.View) []offerings.Explanation {
	t.Helper()
	list, err := offerings.Explain(m, v, "m5.large")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Launches use only reservations of their tenancy.
func TestReservationsByTenancy(t *testing.T) {
	all := small(t)
	m := market(t, all)
	m.Rooms = rooms(map[string]int{"cr-shared": 1, "cr-dedicated": 1})
	class := reserving(
		reservation("cr-shared", "m5.large", "us-east-1a"),
		reservation("cr-dedicated", "m5.large", "us-east-1a", func(r *awsv1.CapacityReservation) { r.Tenancy = awsv1.TenancyDedicated }),
	)
	for tenancy, want := range map[string]string{"": "cr-shared", awsv1.TenancyDefault: "cr-shared", awsv1.TenancyDedicated: "cr-dedicated", awsv1.TenancyHost: ""} {
		options := offerings.Options{}
		options.Settings.Tenancy = tenancy
		v := view(t, all, class, options)
		got := ""
		for _, o := range resolve(t, m, v)["m5.large"].Offerings {
			if o.Reserved() && o.HasRoom() {
				got += o.Value(awsv1.LabelCapacityReservationID)
			}
		}
		if got != want {
			t.Errorf("tenancy %q uses %q, want %q", tenancy, got, want)
		}
	}
}

// Where a NodePool allows shared and dedicated hardware, each has offerings of its own, with its price, stock and reservations.
func TestTenanciesApart(t *testing.T) {
	all := small(t)
	class := reserving(
		reservation("cr-shared", "m5.large", "us-east-1a"),
		reservation("cr-dedicated", "m5.large", "us-east-1a", func(r *awsv1.CapacityReservation) { r.Tenancy = awsv1.TenancyDedicated }),
	)
	m := market(t, all)
	m.Rooms = rooms(map[string]int{"cr-shared": 1, "cr-dedicated": 1})
	memory := unavailable.New(unavailable.Options{Now: start})
	memory.Mark(unavailable.Key{CapacityType: "on-demand", InstanceType: "m5.large", Zone: "us-east-1a", Hardware: unavailable.HardwareOf("dedicated", "")})
	m.Unavailable = memory.Snapshot()
	options := offerings.Options{}
	options.Settings.Tenancy = instancetype.TenancyApart
	m5 := resolve(t, m, view(t, all, class, options))["m5.large"]
	got := map[string]cloudprovider.Offering{}
	for _, o := range m5.Offerings {
		if o.Zone() == "us-east-1a" {
			key := o.CapacityType() + "/" + o.Value(awsv1.LabelInstanceTenancy) + "/" + o.Value(awsv1.LabelCapacityReservationID)
			if _, twice := got[key]; twice {
				t.Errorf("%s is there twice", key)
			}
			got[key] = o
		}
	}
	want := []string{
		"on-demand/dedicated/", "on-demand/default/", "reserved/dedicated/cr-dedicated", "reserved/default/cr-shared", "spot/dedicated/", "spot/default/",
	}
	if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, want) {
		t.Fatalf("offerings %q, want %q", keys, want)
	}
	for key, o := range got {
		if available := key != "on-demand/dedicated/"; o.HasRoom() != available {
			t.Errorf("%s has room: %t", key, o.HasRoom())
		}
	}
	for _, capacityType := range []string{"on-demand", "spot"} {
		if shared, dedicated := got[capacityType+"/default/"].Price, got[capacityType+"/dedicated/"].Price; math.Abs(dedicated-1.1*shared) > 1e-6 {
			t.Errorf("%s costs %v on shared and %v on dedicated hardware", capacityType, shared, dedicated)
		}
	}
	if values := m5.Requirements.Get(awsv1.LabelInstanceTenancy).Values(); len(values) != 2 {
		t.Errorf("the type has the tenancies %v", values)
	}
}
