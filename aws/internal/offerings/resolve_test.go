package offerings_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	arctypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/internal/zonalshift"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

// explained writes how the offerings of a type stand, one a line: "zone capacity-type price reason".
func explained(t *testing.T, m offerings.Market, v offerings.View, name string) []string {
	t.Helper()
	list, err := offerings.Explain(m, v, name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		text := fmt.Sprintf("%s %s %.4g", strings.TrimPrefix(e.Key.Zone, "us-east-1"), e.Key.CapacityType, e.Price)
		if e.Reason != "" {
			text += " " + e.Reason
		}
		out = append(out, text)
	}
	// What is explained is what is listed.
	listed := resolve(t, m, v)[name]
	i := 0
	for _, e := range list {
		if e.Price <= 0 && e.Key.CapacityType != poolv1.CapacityTypeReserved {
			continue
		}
		o := &listed.Offerings[i]
		i++
		if key := cloudprovider.KeyOf(listed, o); key != e.Key || o.Available != (e.Reason == "") || o.Price != e.Price || o.PriceSource != e.PriceSource {
			t.Errorf("%s is listed as %s, available %t, price %g", e.Key, key, o.Available, o.Price)
		}
	}
	if listed != nil && i != len(listed.Offerings) {
		t.Errorf("%d offerings are listed, %d explained", len(listed.Offerings), i)
	}
	return out
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func mark(failures ...unavailable.Failure) *unavailable.Snapshot {
	memory := unavailable.New(unavailable.Options{Now: start})
	memory.Observe(failures...)
	return memory.Snapshot()
}

func ice(capacityType, name, zone string) unavailable.Failure {
	return unavailable.Failure{Code: "InsufficientInstanceCapacity", CapacityType: capacityType, InstanceType: name, Zone: zone}
}

func shifted(t *testing.T, zone string) *zonalshift.Snapshot {
	t.Helper()
	api := mock.NewMockZonalShiftAPI(gomock.NewController(t))
	api.EXPECT().GetManagedResource(gomock.Any(), gomock.Any()).Return(&arczonalshift.GetManagedResourceOutput{ZonalShifts: []arctypes.ZonalShiftInResource{
		{AwayFrom: aws.String(zone), AppliedStatus: arctypes.AppliedStatusApplied, ExpiryTime: aws.Time(start().Add(time.Hour))},
	}}, nil)
	w := zonalshift.New(api, "arn", start)
	if _, err := w.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w.Snapshot()
}

// AWI-020, AWI-086, AWI-091, AWI-092, AWI-093: zones times capacity types, each with its price, or the reason why not.
func TestResolve(t *testing.T) {
	c := small(t)
	twoZones := class("two", func(c *awsv1.EC2NodeClass) { c.Status.Subnets = c.Status.Subnets[:2] })
	base := market(t, c)
	for _, test := range []struct {
		name     string
		class    *awsv1.EC2NodeClass
		change   func(*offerings.Market, *offerings.View)
		typeName string
		want     []string
	}{
		{"AWI-091 all zones", class("c"), nil, "m5.xlarge", []string{"a on-demand 0.192", "a spot 0.096", "b on-demand 0.192", "b spot 0.096"}},
		{"AWI-093 a zone without a subnet", twoZones, nil, "m5.large", []string{
			"a on-demand 0.096", "a spot 0.048", "b on-demand 0.096", "b spot 0.048",
			"c on-demand 0.096 the node class has no subnet in the zone", "c spot 0.048 the node class has no subnet in the zone",
		}},
		{"AWI-020 only zones without a subnet", twoZones, nil, "p5.48xlarge", []string{
			"c on-demand 55.04 the node class has no subnet in the zone", "c spot 27.52 the node class has no subnet in the zone",
		}},
		{"AWI-086 a type that can't be launched", class("c"), nil, "a1.medium", []string{
			"a on-demand 0.0255 AL2023 does not run on a1 types", "a spot 0.01275 AL2023 does not run on a1 types",
		}},
		{"AWI-093 AWI-100 marked", class("c"), func(m *offerings.Market, _ *offerings.View) {
			m.Unavailable = mark(ice("spot", "m5.xlarge", "us-east-1a"), ice("on-demand", "m5.xlarge", "us-east-1b"))
		}, "m5.xlarge", []string{"a on-demand 0.192", "a spot 0.096 out of stock", "b on-demand 0.192 out of stock", "b spot 0.096"}},
		{"AWI-100 no addresses in one zone", class("c"), func(m *offerings.Market, _ *offerings.View) {
			m.Unavailable = mark(unavailable.Failure{Code: "InsufficientFreeAddressesInSubnet", SubnetID: "subnet-c-b"})
		}, "m5.xlarge", []string{
			"a on-demand 0.192", "a spot 0.096",
			"b on-demand 0.192 no free addresses in the zone's subnets", "b spot 0.096 no free addresses in the zone's subnets",
		}},
		{"no room for volumes in one zone", class("c"), func(m *offerings.Market, _ *offerings.View) {
			m.Unavailable = mark(unavailable.Failure{Code: "InsufficientVolumeCapacity", CapacityType: "spot", InstanceType: "c5.large", Zone: "us-east-1a", VolumeTypes: []string{"gp3"}})
		}, "m5.xlarge", []string{
			"a on-demand 0.192 no room for the class's volumes in the zone", "a spot 0.096 no room for the class's volumes in the zone", "b on-demand 0.192", "b spot 0.096",
		}},
		{"no room for volumes that others have", class("c"), func(m *offerings.Market, _ *offerings.View) {
			m.Unavailable = mark(unavailable.Failure{Code: "InsufficientVolumeCapacity", CapacityType: "spot", InstanceType: "c5.large", Zone: "us-east-1a", VolumeTypes: []string{"io2"}})
		}, "m5.xlarge", []string{"a on-demand 0.192", "a spot 0.096", "b on-demand 0.192", "b spot 0.096"}},
		{"AWI-105 OPP-10 a quota", class("c"), func(m *offerings.Market, _ *offerings.View) {
			m.Unavailable = mark(unavailable.Failure{Code: "VcpuLimitExceeded", CapacityType: "on-demand", InstanceType: "c5.large", Zone: "us-east-1c"})
		}, "m5.xlarge", []string{"a on-demand 0.192 vCPU quota is used up", "a spot 0.096", "b on-demand 0.192 vCPU quota is used up", "b spot 0.096"}},
		{"AWI-093 AWI-136 shifted", class("c"), func(m *offerings.Market, _ *offerings.View) { m.Shifted = shifted(t, "use1-az4") }, "m5.xlarge", []string{
			"a on-demand 0.192", "a spot 0.096",
			"b on-demand 0.192 the cluster is shifted away from the zone", "b spot 0.096 the cluster is shifted away from the zone",
		}},
		{"AWI-092 no spot price in a zone", class("c"), func(m *offerings.Market, _ *offerings.View) {
			m.Prices = bookOf(t, &prices.List{Source: "x", OnDemand: map[string]prices.Price{"m5.xlarge": {PerHour: 2}},
				Spot: map[prices.Pair]prices.Price{{InstanceType: "m5.xlarge", Zone: "us-east-1b"}: {PerHour: 1}}})
		}, "m5.xlarge", []string{"a on-demand 2", "a spot 0 no price is known", "b on-demand 2", "b spot 1"}},
		{"AWI-092 no price at all", class("c"), func(m *offerings.Market, _ *offerings.View) { m.Prices = nil }, "m5.xlarge", []string{
			"a on-demand 0 no price is known", "a spot 0 no price is known", "b on-demand 0 no price is known", "b spot 0 no price is known",
		}},
		{"AWI-097 an overlay's price stands in", class("c"), func(m *offerings.Market, v *offerings.View) {
			m.Prices, v.StandInPrices = nil, map[string]float64{"m5.xlarge": 3}
		}, "m5.xlarge", []string{"a on-demand 3", "a spot 3", "b on-demand 3", "b spot 3"}},
		{"AWI-097 but not for a price that is known", class("c"), func(_ *offerings.Market, v *offerings.View) {
			v.StandInPrices = map[string]float64{"m5.xlarge": 3}
		}, "m5.xlarge", []string{"a on-demand 0.192", "a spot 0.096", "b on-demand 0.192", "b spot 0.096"}},
		{"AWI-097 nor one that is none", class("c"), func(m *offerings.Market, v *offerings.View) {
			m.Prices, v.StandInPrices = nil, map[string]float64{"m5.xlarge": math.NaN()}
		}, "m5.xlarge", []string{"a on-demand 0 no price is known", "a spot 0 no price is known", "b on-demand 0 no price is known", "b spot 0 no price is known"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, v := base, view(t, c, test.class)
			if test.change != nil {
				test.change(&m, &v)
			}
			expect(t, explained(t, m, v, test.typeName), test.want...)
		})
	}
}

// CP-CATALOG-07: what has no price at all is not listed.
func TestUnpricedTypesAreLeftOut(t *testing.T) {
	c := small(t)
	m := market(t, c)
	m.Prices = nil
	if types := resolve(t, m, view(t, c, class("c"))); len(types) != 0 {
		t.Errorf("%d types are listed without a price", len(types))
	}
}

// OPP-15: each price says where it is from.
func TestProvenance(t *testing.T) {
	c := small(t)
	for _, o := range resolve(t, market(t, c), view(t, c, class("c")))["m5.large"].Offerings {
		if o.PriceSource != "test, 2026-08-01" {
			t.Errorf("%s is from %q", o.Requirements, o.PriceSource)
		}
		want := cloudprovider.PriceBasis{Date: "2026-08-01", Region: "us-east-1", Confidence: cloudprovider.PriceCurrent}
		if o.PriceBasis == nil || *o.PriceBasis != want {
			t.Errorf("%s: basis is %+v", o.Requirements, o.PriceBasis)
		}
		if rate := o.InterruptionRate; (rate != nil) != (o.CapacityType() == "spot") || rate != nil && (rate.Low != 0.1 || rate.High != 0.15) {
			t.Errorf("%s: interruption rate is %+v", o.Requirements, rate)
		}
	}
}

// A spot price has the range of its type's prices in all zones; a change of that alone is a change of the offering.
func TestRangeOfSpotPrices(t *testing.T) {
	c := small(t)
	m := market(t, c)
	list := &prices.List{Source: "test", AsOf: start(), OnDemand: map[string]prices.Price{"m5.large": {PerHour: 0.096}}, Spot: map[prices.Pair]prices.Price{}}
	for i, z := range c.Zones {
		list.Spot[prices.Pair{InstanceType: "m5.large", Zone: z.Name}] = prices.Price{PerHour: 0.03 + 0.01*float64(i)}
	}
	m.Prices = bookOf(t, list)
	for _, o := range resolve(t, m, view(t, c, class("c")))["m5.large"].Offerings {
		low, high := 0.0, 0.0
		if o.CapacityType() == "spot" {
			low, high = 0.03, 0.03+0.01*float64(len(c.Zones)-1)
		}
		if o.PriceBasis.Low != low || math.Abs(o.PriceBasis.High-high) > 1e-12 {
			t.Errorf("%s: from %g to %g, want %g to %g", o.Requirements, o.PriceBasis.Low, o.PriceBasis.High, low, high)
		}
	}
}

// AWI-016, AWI-090, OPP-23: a class needs subnets, in zones that there are; zones are told by their names.
func TestNewView(t *testing.T) {
	c := small(t)
	var none *offerings.NoSubnetsError
	if _, err := offerings.NewView(c, &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}, offerings.Options{}); !errors.As(err, &none) || none.NodeClass != "bare" {
		t.Errorf("no subnets: %v", err)
	}
	elsewhere := class("c", func(c *awsv1.EC2NodeClass) { c.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "eu-west-1a"}} })
	if _, err := offerings.NewView(c, elsewhere, offerings.Options{}); err == nil || !strings.Contains(err.Error(), "eu-west-1a") {
		t.Errorf("subnets of another region: %v", err)
	}
	noIDs := class("c", func(c *awsv1.EC2NodeClass) {
		for i := range c.Status.Subnets {
			c.Status.Subnets[i].ZoneID = ""
		}
	})
	v := view(t, c, noIDs)
	if len(v.Subnets) != 3 || len(v.Settings.Zones) != 3 {
		t.Errorf("subnets without zone ids fall together: %v", v.Subnets)
	}
	m := market(t, c)
	m.Unavailable = mark(unavailable.Failure{Code: "InsufficientFreeAddressesInSubnet", SubnetID: "subnet-c-b"})
	m.Shifted = shifted(t, "use1-az6")
	got := explained(t, m, v, "t3.large")
	expect(t, got,
		"a on-demand 0.0832", "a spot 0.0416",
		"b on-demand 0.0832 no free addresses in the zone's subnets", "b spot 0.0416 no free addresses in the zone's subnets",
		"c on-demand 0.0832 the cluster is shifted away from the zone", "c spot 0.0416 the cluster is shifted away from the zone")
}

func reservation(id, typeName, zone string, change ...func(*awsv1.CapacityReservation)) awsv1.CapacityReservation {
	r := awsv1.CapacityReservation{ID: id, InstanceType: typeName, AvailabilityZone: zone, ReservationType: "default", InstanceMatchCriteria: "targeted", State: "active"}
	for _, f := range change {
		f(&r)
	}
	return r
}

func block(end time.Duration) func(*awsv1.CapacityReservation) {
	return func(r *awsv1.CapacityReservation) {
		r.ReservationType, r.EndTime = "capacity-block", &metav1.Time{Time: start().Add(end)}
	}
}

func rooms(of map[string]int) *reservations.Rooms {
	tracker := reservations.NewTracker(start)
	for id, n := range of {
		tracker.Sync(start(), reservations.Reservation{CapacityReservation: awsv1.CapacityReservation{ID: id}, Available: n, Total: 100})
	}
	return tracker.Snapshot()
}

func reserving(list ...awsv1.CapacityReservation) *awsv1.EC2NodeClass {
	return class("c", func(c *awsv1.EC2NodeClass) { c.Status.CapacityReservations = list })
}

// AWI-127, PRV-183: one offering for each reservation, with its room, for next to nothing.
func TestReservedOfferings(t *testing.T) {
	c := small(t)
	m := market(t, c)
	m.Rooms = rooms(map[string]int{"cr-2": 3, "cr-3": 1, "cr-4": 1, "cr-5": 1, "cr-6": 1, "cr-7": 1})
	v := view(t, c, reserving(
		reservation("cr-2", "m5.xlarge", "us-east-1a", func(r *awsv1.CapacityReservation) { r.Interruptible = true }),
		reservation("cr-1", "m5.xlarge", "us-east-1b"), // no room is known of
		reservation("cr-3", "m5.xlarge", "us-east-1b", block(39*time.Minute)),
		reservation("cr-4", "m5.xlarge", "us-east-1b", block(41*time.Minute)),
		reservation("cr-5", "m5.xlarge", "us-east-1c"), // where the type is not offered
		reservation("cr-6", "m5.xlarge", "us-east-1a", block(0)),
		reservation("cr-7", "t3.large", "us-east-1a"),
	))
	expect(t, explained(t, m, v, "m5.xlarge"),
		"a on-demand 0.192", "a spot 0.096", "b on-demand 0.192", "b spot 0.096",
		"b reserved 1.92e-08 the reservation is full",
		"a reserved 1.92e-08",
		"b reserved 1.92e-08 the capacity block is about to end",
		"b reserved 1.92e-08",
		"c reserved 1.92e-08 the node class has no subnet in the zone")
	it := resolve(t, m, v)["m5.xlarge"]
	o := &it.Offerings[5]
	if o.ReservationCapacity != 3 || o.Value(awsv1.LabelCapacityReservationID) != "cr-2" || o.Value(awsv1.LabelCapacityReservationType) != "default" ||
		o.Value(awsv1.LabelCapacityReservationInterruptible) != "true" || o.Value(awsv1.LabelTopologyZoneID) != "use1-az2" {
		t.Errorf("the offering is %+v", o)
	}
	// AWI-035, AWI-056: the type says what its offerings may be.
	for key, want := range map[string]string{
		poolv1.CapacityTypeLabelKey:      "[on-demand reserved spot]",
		awsv1.LabelCapacityReservationID: "[cr-1 cr-2 cr-3 cr-4 cr-5]", awsv1.LabelCapacityReservationType: "[capacity-block default]",
		awsv1.LabelCapacityReservationInterruptible: "[false true]",
	} {
		if got := fmt.Sprint(it.Requirements.Get(key).Values()); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if other := resolve(t, m, v)["m5.large"]; other.Requirements.Get(poolv1.CapacityTypeLabelKey).Has("reserved") {
		t.Error("a type without reservations says it has some")
	}
	// AWI-121: where reserved capacity is not in use there is none.
	without := view(t, c, reserving(reservation("cr-2", "m5.xlarge", "us-east-1a")), offerings.Options{WithoutReservations: true})
	if got := explained(t, m, without, "m5.xlarge"); len(got) != 4 {
		t.Errorf("without reservations: %v", got)
	}
	// AWI-127: an unknown price is no hindrance.
	m.Prices = nil
	got := explained(t, m, view(t, c, reserving(reservation("cr-2", "m5.xlarge", "us-east-1a"))), "m5.xlarge")
	if got[len(got)-1] != "a reserved 0" {
		t.Errorf("without prices: %v", got)
	}
	// AWI-093: nothing in a zone that the cluster is shifted away from.
	m.Shifted = shifted(t, "use1-az2")
	got = explained(t, m, view(t, c, reserving(reservation("cr-2", "m5.xlarge", "us-east-1a"))), "m5.xlarge")
	if got[len(got)-1] != "a reserved 0 the cluster is shifted away from the zone" {
		t.Errorf("shifted: %v", got)
	}
}

// AWI-138, AWI-094: an offering for each partition, and marks of the group and of the partition count.
func TestPlacementGroups(t *testing.T) {
	c := small(t)
	m := market(t, c)
	group := &placement.Group{ID: "pg-1", Name: "racks", Strategy: placement.StrategyPartition, Partitions: 2}
	v := view(t, c, reserving(reservation("cr-1", "m5.xlarge", "us-east-1a")), offerings.Options{Group: group})
	m.Rooms = rooms(map[string]int{"cr-1": 1})
	partitionGone := ice("spot", "m5.xlarge", "us-east-1a")
	partitionGone.GroupID, partitionGone.Partition = "pg-1", 2
	groupGone := ice("on-demand", "m5.xlarge", "us-east-1b")
	groupGone.GroupID = "pg-1"
	m.Unavailable = mark(partitionGone, groupGone, ice("spot", "m5.xlarge", "us-east-1b"))
	expect(t, explained(t, m, v, "m5.xlarge"),
		"a on-demand 0.192", "a on-demand 0.192", "a spot 0.096", "a spot 0.096 out of stock in the placement group",
		"b on-demand 0.192 out of stock in the placement group", "b on-demand 0.192 out of stock in the placement group",
		"b spot 0.096 out of stock", "b spot 0.096 out of stock",
		"a reserved 1.92e-08", "a reserved 1.92e-08")
	it := resolve(t, m, v)["m5.xlarge"]
	for i, o := range it.Offerings {
		if got, want := o.Value(awsv1.LabelPlacementGroupPartition), fmt.Sprint(i%2+1); got != want {
			t.Errorf("offering %d is of partition %q", i, got)
		}
	}
	if got := it.Requirements.Get(awsv1.LabelPlacementGroupID).Values(); len(got) != 1 || got[0] != "pg-1" {
		t.Errorf("the type's group is %v", got)
	}
	// AWI-087.4: t3 can't join a cluster group; AWI-101: a full spread group closes its zone.
	cluster := view(t, c, class("c"), offerings.Options{Group: &placement.Group{ID: "pg-2", Strategy: placement.StrategyCluster}})
	if got := explained(t, m, cluster, "t3.large"); !strings.Contains(got[0], "cannot join a placement group") {
		t.Errorf("in a cluster group: %v", got)
	}
	spread := view(t, c, class("c"), offerings.Options{Group: &placement.Group{ID: "pg-3", Strategy: placement.StrategySpread}})
	m.Unavailable = mark(unavailable.Failure{Code: "X", Message: "limit of instances in this spread placement group", Zone: "us-east-1a", GroupID: "pg-3"})
	expect(t, explained(t, m, spread, "m5.xlarge"),
		"a on-demand 0.192 out of stock in the placement group", "a spot 0.096 out of stock in the placement group", "b on-demand 0.192", "b spot 0.096")
}

// CP-CATALOG-02 to CP-CATALOG-08, of the whole catalogue, with and without reservations and partitions.
func TestCatalogContract(t *testing.T) {
	c := embedded(t)
	m := market(t, c)
	m.Rooms = rooms(map[string]int{"cr-1": 1, "cr-2": 2})
	reserved := reserving(reservation("cr-1", "m5.large", "us-east-1a"), reservation("cr-2", "m5.large", "us-east-1a"), reservation("cr-3", "p5.48xlarge", "us-east-1b", block(time.Hour)))
	group := &placement.Group{ID: "pg-1", Strategy: placement.StrategyPartition, Partitions: 3}
	for name, v := range map[string]offerings.View{
		"plain": view(t, c, class("c")), "reserved": view(t, c, reserved),
		"in a group": view(t, c, reserved, offerings.Options{Group: group}),
	} {
		types, err := offerings.Resolve(m, v)
		if err != nil {
			t.Fatal(err)
		}
		if len(types) != 1345 {
			t.Errorf("%s: %d types", name, len(types))
		}
		if err := cloudprovider.ValidateCatalog(types, capabilities()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Kubernetes' zone label of a type names only zones with a subnet (AWI-033).
func TestZonesOfATypeHaveSubnets(t *testing.T) {
	c := small(t)
	v := view(t, c, class("c", func(c *awsv1.EC2NodeClass) { c.Status.Subnets = c.Status.Subnets[1:2] }))
	it := resolve(t, market(t, c), v)["m5.large"]
	if got := it.Requirements.Get(corev1.LabelTopologyZone).Values(); len(got) != 1 || got[0] != "us-east-1b" {
		t.Errorf("zones are %v", got)
	}
}

func TestResolveFails(t *testing.T) {
	c := small(t)
	v := view(t, c, class("c"))
	var store offerings.Store
	if _, err := store.Types(offerings.Market{}, v); err == nil {
		t.Error("no catalogue is no error")
	}
	v.Settings.ReservedENIs = -1
	for _, resolve := range []func(offerings.Market, offerings.View) ([]*cloudprovider.InstanceType, error){offerings.Resolve, store.Types} {
		if types, err := resolve(market(t, c), v); err == nil || types != nil {
			t.Error("AWI-023: settings that can't be used are used")
		}
	}
	if _, err := offerings.Explain(market(t, c), v, "m5.large"); err == nil {
		t.Error("settings that can't be used are explained")
	}
	if list, err := offerings.Explain(market(t, c), view(t, c, class("c")), "m9.large"); err != nil || len(list) != 0 {
		t.Errorf("a type that is not there: %v, %v", list, err)
	}
}

// Windows costs its licence more, also on spot; what an overlay says a type costs is taken as it is.
func TestWindowsLicence(t *testing.T) {
	c := small(t)
	m := market(t, c)
	v := view(t, c, class("c"))
	linux := resolve(t, m, v)["m5.large"]
	v.Settings.AMIFamily = awsv1.AMIFamilyWindows2022
	windows := resolve(t, m, v)["m5.large"]
	for i := range windows.Offerings {
		o, before := windows.Offerings[i], linux.Offerings[i]
		if math.Abs(o.Price-before.Price-0.092) > 1e-9 || !strings.HasSuffix(o.PriceSource, "with the licence of Windows") {
			t.Errorf("%s: %g from %q, on Linux %g", cloudprovider.KeyOf(windows, &o), o.Price, o.PriceSource, before.Price)
		}
	}
	m.Prices, v.StandInPrices = nil, map[string]float64{"m5.large": 3}
	for _, o := range resolve(t, m, v)["m5.large"].Offerings {
		if o.Price != 3 {
			t.Errorf("an overlay's price became %g", o.Price)
		}
	}
}
