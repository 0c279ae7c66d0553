package instancetype_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/seeded"
)

// offered writes offerings as "zone zone-id capacity-type price", with a mark on those that can't be had.
func offered(it *cloudprovider.InstanceType) []string {
	var out []string
	for _, o := range it.Offerings {
		text := fmt.Sprintf("%s %s %s %g", stated(o.Requirements, corev1.LabelTopologyZone),
			stated(o.Requirements, awsv1.LabelTopologyZoneID), stated(o.Requirements, poolv1.CapacityTypeLabelKey), o.Price)
		if !o.Available {
			text += " unavailable"
		}
		out = append(out, text)
	}
	return out
}

// asSeen is the built-in catalogue with a price of its own in each zone.
func asSeen(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.EmbeddedAsSeen()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// AWI-091 to AWI-093: zones times capacity types, as far as there are prices and zones that can be used.
func TestOfferings(t *testing.T) {
	c := asSeen(t)
	for _, test := range []struct {
		name     string
		settings instancetype.Settings
		typeName string
		want     []string
	}{
		{"all zones", instancetype.Settings{}, "inf2.48xlarge", []string{
			"us-east-1a use1-az2 on-demand 12.98127", "us-east-1a use1-az2 spot 1.5894",
			"us-east-1b use1-az4 on-demand 12.98127", "us-east-1b use1-az4 spot 1.6288",
			"us-east-1c use1-az6 on-demand 12.98127", "us-east-1c use1-az6 spot 1.7122",
			"us-east-1f use1-az5 on-demand 12.98127", "us-east-1f use1-az5 spot 1.7607",
		}},
		{"fewer spot prices than zones", instancetype.Settings{}, "p4d.24xlarge", []string{
			"us-east-1a use1-az2 on-demand 21.957642", "us-east-1a use1-az2 spot 9.7812",
			"us-east-1b use1-az4 on-demand 21.957642", "us-east-1b use1-az4 spot 9.8156",
			"us-east-1c use1-az6 on-demand 21.957642", "us-east-1c use1-az6 spot 10.4359",
			"us-east-1d use1-az1 on-demand 21.957642", "us-east-1d use1-az1 spot 10.4359",
		}},
		{"no spot price", instancetype.Settings{}, "p6-b200.48xlarge", []string{"us-east-1c use1-az6 on-demand 113.9328"}},
		{"zones of the class, one with the account's own id", instancetype.Settings{Zones: []catalog.Zone{{Name: "us-east-1f"}, {Name: "us-east-1a", ID: "use1-az9"}, {Name: "us-east-1e"}}}, "inf2.48xlarge", []string{
			"us-east-1a use1-az9 on-demand 12.98127", "us-east-1a use1-az9 spot 1.5894",
			"us-east-1f use1-az5 on-demand 12.98127", "us-east-1f use1-az5 spot 1.7607",
		}},
		{"AWI-086 a type that can't be launched", instancetype.Settings{AMIFamily: "AL2023", Zones: []catalog.Zone{{Name: "us-east-1a"}}}, "a1.medium", []string{
			"us-east-1a use1-az2 on-demand 0.0255 unavailable", "us-east-1a use1-az2 spot 0.0255 unavailable",
		}},
		{"Windows, whose licence is charged by the vCPU", instancetype.Settings{AMIFamily: "Windows2022", Zones: []catalog.Zone{{Name: "us-east-1a"}}}, "c6a.large", []string{
			"us-east-1a use1-az2 on-demand 0.1685", "us-east-1a use1-az2 spot 0.1185",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			it := resolve(t, c, test.settings)[test.typeName]
			if it == nil {
				t.Fatal("not resolved")
			}
			if diff := cmp.Diff(test.want, offered(it)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTypesWithoutOfferingsAreLeftOut(t *testing.T) {
	types := resolve(t, embedded(t), instancetype.Settings{Zones: []catalog.Zone{{Name: "us-east-1a"}}})
	if _, ok := types["p6-b200.48xlarge"]; ok {
		t.Error("a type of another zone is listed")
	}
	for name, it := range types {
		if zones := stated(it.Requirements, corev1.LabelTopologyZone); zones != "us-east-1a" {
			t.Errorf("%s is in zones %s", name, zones)
		}
	}
	if none := resolve(t, embedded(t), instancetype.Settings{Zones: []catalog.Zone{}}); len(none) != 0 {
		t.Errorf("%d types are listed with no zone to launch in", len(none))
	}
}

// Prices say where they come from and of which day they are.
func TestPriceSources(t *testing.T) {
	types := resolve(t, asSeen(t), instancetype.Settings{})
	for name, want := range map[string][2]string{
		"m5.large":  {"on-demand price table, 2026-07-20", "on-demand and spot price snapshot, 2025-05-28"},
		"c6g.metal": {"on-demand and spot price snapshot, 2025-05-28", "on-demand and spot price snapshot, 2025-05-28"},
		"c5.metal":  {"on-demand price table, 2026-07-20", "on-demand and spot price snapshot, 2025-05-28"},
	} {
		if got := [2]string{types[name].Offerings[0].PriceSource, types[name].Offerings[1].PriceSource}; got != want {
			t.Errorf("%s: sources are %q", name, got)
		}
	}
	// With its day and region; a spot price with the range of its type's prices, with the licence where there is one.
	onDemand, spot := types["m5.large"].Offerings[0].PriceBasis, types["m5.large"].Offerings[1].PriceBasis
	if want := (cloudprovider.PriceBasis{Date: "2026-07-20", Region: "us-east-1", Confidence: cloudprovider.PriceDated}); *onDemand != want {
		t.Errorf("on demand: %+v", *onDemand)
	}
	want := cloudprovider.PriceBasis{Date: "2025-05-28", Region: "us-east-1", Confidence: cloudprovider.PriceDated, Low: 0.0315, High: 0.0383}
	if *spot != want {
		t.Errorf("spot: %+v", *spot)
	}
	rate := cloudprovider.InterruptionRate{Low: 0.1, High: 0.15, Source: "on-demand and spot price snapshot, 2025-05-28"}
	if offerings := types["m5.large"].Offerings; offerings[0].InterruptionRate != nil || *offerings[1].InterruptionRate != rate {
		t.Errorf("interruptions: %+v on demand, %+v on spot", offerings[0].InterruptionRate, offerings[1].InterruptionRate)
	}
	want.Low, want.High = 0.1235, 0.1303
	if spot := resolve(t, asSeen(t), instancetype.Settings{AMIFamily: awsv1.AMIFamilyWindows2022})["m5.large"].Offerings[1].PriceBasis; *spot != want {
		t.Errorf("spot with the licence of Windows: %+v", *spot)
	}
	dedicated := 0
	for _, it := range types {
		if strings.HasSuffix(it.Offerings[0].PriceSource, " (dedicated tenancy)") {
			dedicated++
		}
	}
	if dedicated != 35 {
		t.Errorf("%d types have a dedicated-tenancy price, want 35", dedicated)
	}
}

// AWN-040 (AWI-087.1), AWN-047 (AWI-087.2), AWN-114 (AWI-087.4), AWI-087: each check with a type that passes and one that doesn't.
func TestIncompatible(t *testing.T) {
	interfaces := func(list ...instancetype.NetworkInterface) instancetype.Settings {
		return instancetype.Settings{NetworkInterfaces: list}
	}
	primary := instancetype.NetworkInterface{}
	c := embedded(t)
	for _, test := range []struct {
		name     string
		settings instancetype.Settings
		typeName string
		want     string
	}{
		{"nothing asked for", instancetype.Settings{}, "m5.large", ""},
		{"AWI-087.1 an empty list asks for nothing", interfaces(), "t1.micro", ""},
		{"AWI-087.1 one interface", interfaces(primary), "m5.large", ""},
		{"AWI-087.1 no ENA", interfaces(primary), "t1.micro", "it has no enhanced networking (ENA)"},
		{"AWI-087.1 a card too many", interfaces(primary, instancetype.NetworkInterface{Card: 1}), "m5.large", "it has 1 network cards, card 1 is asked for"},
		{"AWI-087.1 the last device", interfaces(primary, instancetype.NetworkInterface{Device: 2}), "m5.large", ""},
		{"AWI-087.1 a device too many", interfaces(primary, instancetype.NetworkInterface{Device: 3}), "m5.large", "network card 0 has 3 interfaces, device 3 is asked for"},
		{"AWI-087.1 prefixes", instancetype.Settings{NetworkInterfaces: []instancetype.NetworkInterface{primary}, IPPrefixCount: 9}, "m5.large", ""},
		{"AWI-087.1 a prefix too many", instancetype.Settings{NetworkInterfaces: []instancetype.NetworkInterface{primary}, IPPrefixCount: 10}, "m5.large", "an interface has room for 9 address prefixes, 10 are asked for"},
		{"AWI-087.1 prefixes without a list", instancetype.Settings{IPPrefixCount: 10}, "m5.large", ""},
		{"AWI-087.1 EFA", interfaces(primary, instancetype.NetworkInterface{Device: 1, EFAOnly: true}), "p4d.24xlarge", ""},
		{"AWI-087.1 no EFA", interfaces(primary, instancetype.NetworkInterface{Device: 1, EFAOnly: true}), "m5.large", "it has 0 EFA interfaces, 1 are asked for"},
		{"AWI-087.2 a1 on AL2023", instancetype.Settings{AMIFamily: "AL2023"}, "a1.medium", "AL2023 does not run on a1 types"},
		{"AWI-087.2 a1 by default", instancetype.Settings{}, "a1.medium", "AL2023 does not run on a1 types"},
		{"AWI-087.2 a1 on AL2", instancetype.Settings{AMIFamily: "AL2"}, "a1.medium", ""},
		{"AWI-087.3 nested virtualization", instancetype.Settings{NestedVirtualization: true}, "m8i.large", ""},
		{"bandwidth weighting", instancetype.Settings{BandwidthWeighting: awsv1.BandwidthWeightingEBS}, "m8g.large", ""},
		{"no bandwidth weighting", instancetype.Settings{BandwidthWeighting: awsv1.BandwidthWeightingVPC}, "m7g.large", `it does not support bandwidth weighting "vpc-1"`},
		{"default weighting", instancetype.Settings{BandwidthWeighting: awsv1.BandwidthWeightingDefault}, "m7g.large", ""},
		{"AWI-087.3 none", instancetype.Settings{NestedVirtualization: true}, "m5.large", "its processor does not offer nested virtualization"},
		{"AWI-087.4 placement group", instancetype.Settings{PlacementStrategy: "cluster"}, "m5.large", ""},
		{"AWI-087.4 no placement group", instancetype.Settings{PlacementStrategy: "cluster"}, "t3.large", `it cannot join a placement group of strategy "cluster"`},
		{"AWI-087.5 connection tracking", instancetype.Settings{ConnectionTracking: true}, "m5.large", ""},
		{"AWI-087.5 on xen", instancetype.Settings{ConnectionTracking: true}, "t2.nano", "connection tracking can be configured only under the nitro hypervisor"},
		{"AWI-087.5 on bare metal", instancetype.Settings{ConnectionTracking: true}, "m5.metal", "connection tracking can be configured only under the nitro hypervisor"},
	} {
		t.Run(test.name, func(t *testing.T) {
			record, ok := c.Lookup(test.typeName)
			if !ok {
				t.Fatalf("%s is missing", test.typeName)
			}
			if got := instancetype.Incompatible(record, test.settings); got != test.want {
				t.Errorf("is %q, want %q", got, test.want)
			}
			for _, o := range resolve(t, c, test.settings)[test.typeName].Offerings {
				if o.Available != (test.want == "") {
					t.Errorf("offering %s is available: %t", o.Requirements, o.Available)
				}
			}
		})
	}
	bare := catalog.Type{Name: "m5.large"}
	if got, want := instancetype.Incompatible(&bare, interfaces(primary)), "it has no network cards"; got != want {
		t.Errorf("is %q, want %q", got, want)
	}
}

// The catalogue keeps the contract of package cloudprovider under any settings that are accepted, and is the same
// every time.
func TestCatalogueContract(t *testing.T) {
	all := embedded(t)
	// One in twenty types: all families of instance, in a time that leaves room for many settings.
	some := *all
	some.Types = nil
	for i := 0; i < len(all.Types); i += 20 {
		some.Types = append(some.Types, all.Types[i])
	}
	c, err := catalog.New(some)
	if err != nil {
		t.Fatal(err)
	}
	capabilities := awsCapabilities()
	whole, err := instancetype.ResolveSettings(all, instancetype.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := cloudprovider.ValidateCatalog(whole, capabilities); err != nil {
		t.Fatal(err)
	}
	seeded.Check(t, func(t *rapid.T) {
		s := drawSettings(t, c)
		types, err := instancetype.ResolveSettings(c, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := cloudprovider.ValidateCatalog(types, capabilities); err != nil {
			t.Fatal(err)
		}
		again, err := instancetype.ResolveSettings(c, s)
		if err != nil {
			t.Fatal(err)
		}
		if len(types) != len(again) {
			t.Fatalf("resolved %d types, then %d", len(types), len(again))
		}
		for i := range types {
			if i > 0 && types[i-1].Name >= types[i].Name {
				t.Fatalf("%s is out of order", types[i].Name)
			}
			if !types[i].Requirements.Equal(again[i].Requirements) || cmp.Diff(offered(types[i]), offered(again[i])) != "" ||
				cmp.Diff(types[i].Allocatable(), again[i].Allocatable()) != "" {
				t.Fatalf("%s differs the second time", types[i].Name)
			}
		}
	})
}

func awsCapabilities() cloudprovider.Capabilities {
	return cloudprovider.Capabilities{
		Vocabulary:         instancetype.Vocabulary(),
		ReservationIDLabel: awsv1.LabelCapacityReservationID,
		ReservationLabels: []string{
			awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible,
		},
		LabelValues: map[string][]string{awsv1.LabelInstanceTenancy: {awsv1.TenancyDefault, awsv1.TenancyDedicated}},
	}
}

func drawSettings(t *rapid.T, c *catalog.Catalog) instancetype.Settings {
	s := instancetype.Settings{
		AMIFamily:            rapid.SampledFrom(append(awsv1.AMIFamilies(), "", "Ubuntu")).Draw(t, "family"),
		ReservedENIs:         rapid.Int64Range(0, 5).Draw(t, "reservedENIs"),
		IPPrefixCount:        rapid.Int64Range(0, 20).Draw(t, "ipPrefixCount"),
		NestedVirtualization: rapid.Bool().Draw(t, "nestedVirtualization"),
		ConnectionTracking:   rapid.Bool().Draw(t, "connectionTracking"),
		PlacementStrategy:    rapid.SampledFrom([]string{"", "cluster", "partition"}).Draw(t, "placementStrategy"),
	}
	if rapid.Bool().Draw(t, "hasMaxPods") {
		s.Kubelet.MaxPods = ptr(rapid.Int32Min(0).Draw(t, "maxPods"))
	}
	if rapid.Bool().Draw(t, "hasPodsPerCore") {
		s.Kubelet.PodsPerCore = ptr(rapid.Int32Min(0).Draw(t, "podsPerCore"))
	}
	s.Kubelet.SystemReserved = map[string]string{
		"cpu":    rapid.SampledFrom([]string{"0", "100m", "3"}).Draw(t, "cpu"),
		"memory": rapid.SampledFrom([]string{"0", "1Gi", "100Gi"}).Draw(t, "memory"),
	}
	s.Kubelet.EvictionHard = map[string]string{
		"memory.available": rapid.SampledFrom([]string{"0", "5%", "100%", "99.999999999%", "2Gi"}).Draw(t, "eviction"),
	}
	s.VMMemoryOverheadPercent = ptr(rapid.Float64Range(0, 0.999).Draw(t, "overhead"))
	if rapid.Bool().Draw(t, "hasZones") {
		s.Zones = rapid.SliceOfDistinct(rapid.SampledFrom(c.Zones), func(z catalog.Zone) string { return z.Name }).Draw(t, "zones")
	}
	return s
}

// Equal inputs share one value, and nothing a caller may append to reaches into another type.
func TestSharing(t *testing.T) {
	types := resolve(t, embedded(t), instancetype.Settings{})
	if got := types["m5.large"].Offerings; cap(got) != len(got) {
		t.Errorf("%d offerings have room for %d", len(got), cap(got))
	}
	distinct := map[string]bool{}
	for _, it := range types {
		distinct[fmt.Sprintf("%p", it.Overhead.KubeReserved)] = true
	}
	if len(distinct) > len(types)/5 {
		t.Errorf("%d types have %d reservations", len(types), len(distinct))
	}
}
