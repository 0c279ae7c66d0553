package cloudprovider_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
)

func launchKeys(candidates []cloudprovider.Candidate) []string {
	keys := []string{}
	for _, c := range candidates {
		keys = append(keys, c.Key().String())
	}
	return keys
}

// CP-CREATE-03, PRV-170, SCH-032, SCH-164.
func TestLaunchOrder(t *testing.T) {
	small := testType("small", offering("a", "on-demand", 0.4), offering("b", "spot", 0.2), offering("a", "spot", 0.2))
	big := testType("big", reserved("a", "r-1", 0.9, 1), offering("b", "on-demand", 0.8), offering("b", "spot", 0.1))
	big.Capacity = build.Amounts("cpu", "8", "memory", "32Gi", "pods", "110")
	big.Offerings[1].Capacity = build.Amounts("x.test/gpu", "1")
	big.Offerings[2].Available = false
	arm := testType("arm", offering("a", "spot", 0.01))
	arm.Requirements = arm.Requirements.Without(corev1.LabelArchStable).With(requirements.In(corev1.LabelArchStable, v1.ArchitectureArm64))
	types := []*cloudprovider.InstanceType{small, arm, big}
	amd64 := requirements.In(corev1.LabelArchStable, v1.ArchitectureAmd64)

	tests := []struct {
		name     string
		want     requirements.Set
		requests corev1.ResourceList
		order    []string
	}{
		{"reserved, spot, on-demand; then price; then key", requirements.NewSet(amd64), nil, []string{
			"big/a/reserved[cloud.test/reservation=r-1]",
			"big/b/spot", "small/a/spot", "small/b/spot",
			"small/a/on-demand", "big/b/on-demand",
		}},
		{"capacity types the claim allows", requirements.NewSet(amd64, requirements.In(v1.CapacityTypeLabelKey, "on-demand")), nil, []string{
			"small/a/on-demand", "big/b/on-demand",
		}},
		{"zone", requirements.NewSet(amd64, requirements.NotIn(corev1.LabelTopologyZone, "b")), nil, []string{
			"big/a/reserved[cloud.test/reservation=r-1]", "small/a/spot", "small/a/on-demand",
		}},
		{"type by name", requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, "arm", "gone")), nil, []string{"arm/a/spot"}},
		{"a reservation excludes what has none", requirements.NewSet(requirements.In(reservationKey, "r-1", "r-2")), nil, []string{
			"big/a/reserved[cloud.test/reservation=r-1]",
		}},
		{"no reservation wanted", requirements.NewSet(amd64, requirements.DoesNotExist(reservationKey), requirements.In(v1.CapacityTypeLabelKey, "reserved", "on-demand")), nil, []string{
			"small/a/on-demand", "big/b/on-demand",
		}},
		{"keys no type knows", requirements.NewSet(amd64, requirements.In("team", "a"), requirements.In(v1.NodePoolLabelKey, "p"), requirements.In(corev1.LabelTopologyZone, "a"), requirements.In(v1.CapacityTypeLabelKey, "spot")), nil, []string{
			"small/a/spot",
		}},
		{"requests", requirements.NewSet(requirements.DoesNotExist(reservationKey)), build.Amounts("cpu", "3901m"), []string{"big/b/spot", "big/b/on-demand"}},
		{"requests that fit exactly", requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "a"), amd64, requirements.In(v1.CapacityTypeLabelKey, "spot")), build.Amounts("cpu", "3900m", "memory", "15Gi"), []string{"small/a/spot"}},
		{"what only one offering has", requirements.NewSet(), build.Amounts("x.test/gpu", "1"), []string{"big/b/on-demand"}},
		{"none of what no instance has", requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, "arm")), build.Amounts("x.test/fpga", "0"), []string{"arm/a/spot"}},
		{"nothing suits", requirements.NewSet(requirements.In(corev1.LabelOSStable, "windows")), nil, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := cloudprovider.LaunchOrder(types, tt.want, tt.requests)
			if diff := cmp.Diff(tt.order, launchKeys(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			reversed := slices.Clone(types)
			slices.Reverse(reversed)
			if diff := cmp.Diff(tt.order, launchKeys(cloudprovider.LaunchOrder(reversed, tt.want, tt.requests))); diff != "" {
				t.Errorf("types in another order (-want +got):\n%s", diff)
			}
			for _, it := range types {
				for i := range it.Offerings {
					c := cloudprovider.Candidate{Type: it, Offering: &it.Offerings[i]}
					if in := slices.Contains(tt.order, c.Key().String()); c.Suits(tt.want, tt.requests) != in {
						t.Errorf("%s.Suits = %v", c.Key(), !in)
					}
				}
			}
		})
	}
}

// CP-CREATE-01: the quick comparison of many offerings and the labels of one instance say the same.
func TestOffersAgreesWithMachineRequirements(t *testing.T) {
	keys := []string{"k1", "k2", "k3"}
	statement := func(rt *rapid.T, key, label string, most int) (requirements.Requirement, bool) {
		if rapid.Bool().Draw(rt, label+" unstated") {
			return requirements.Requirement{}, false
		}
		return requirements.In(key, rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b"}), 0, most, rapid.ID).Draw(rt, label)...), true
	}
	set := func(rt *rapid.T, label string, most int) requirements.Set {
		var s requirements.Set
		for _, key := range keys {
			if r, ok := statement(rt, key, label+key, most); ok {
				s = s.With(r)
			}
		}
		return s
	}
	seeded.Check(t, func(rt *rapid.T) {
		it := &cloudprovider.InstanceType{Name: "t", Requirements: set(rt, "type ", 2)}
		for range rapid.IntRange(1, 3).Draw(rt, "offerings") {
			it.Offerings = append(it.Offerings, cloudprovider.Offering{Requirements: set(rt, "offering ", 1)})
		}
		var want requirements.Set
		for _, key := range keys {
			values := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2, rapid.ID).Draw(rt, "want "+key)
			switch rapid.IntRange(0, 4).Draw(rt, "operator "+key) {
			case 0:
				want = want.With(requirements.In(key, values...))
			case 1:
				want = want.With(requirements.NotIn(key, values...))
			case 2:
				want = want.With(requirements.Exists(key))
			case 3:
				want = want.With(requirements.DoesNotExist(key))
			}
		}
		for i := range it.Offerings {
			o := &it.Offerings[i]
			instance := it.MachineRequirements(o)
			if got, expected := it.Offers(o, want), instance.Intersects(want) == nil; got != expected {
				rt.Fatalf("Offers = %v, but the instance is %s and wanted is %s", got, instance, want)
			}
			for r := range o.Requirements.All {
				if !instance.Get(r.Key()).Equal(r) {
					rt.Fatalf("the offering says %s, the instance %s", r, instance)
				}
			}
		}
	})
}

// PRV-181: an offering's own statement wins, and what only others state is absent.
func TestMachineRequirements(t *testing.T) {
	it := testType("x", reserved("a", "r-1", 1, 1), offering("b", "spot", 1))
	it.Requirements = it.Requirements.With(requirements.In(corev1.LabelTopologyZone, "a", "b"))
	instance := it.MachineRequirements(&it.Offerings[1])
	for key, want := range map[string]requirements.Requirement{
		corev1.LabelTopologyZone: requirements.In(corev1.LabelTopologyZone, "b"),
		reservationKey:           requirements.DoesNotExist(reservationKey),
		corev1.LabelArchStable:   requirements.In(corev1.LabelArchStable, v1.ArchitectureAmd64),
	} {
		if got := instance.Get(key); !got.Equal(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// PRV-182, SCH-173.
func TestPriceOrder(t *testing.T) {
	full := reserved("a", "r-1", 0.001, 0)
	mixed := testType("mixed", full, offering("a", "spot", 0.2), offering("b", "spot", 0.3), offering("a", "on-demand", 0.9))
	reservedToo := testType("reserved", reserved("a", "r-2", 0.002, 1), reserved("b", "r-3", 0.004, 1), offering("a", "spot", 0.9))
	soldOut := testType("sold-out", offering("a", "spot", 0.01))
	soldOut.Offerings[0].Available = false
	twin := testType("a-twin", offering("b", "spot", 0.2))

	zoneB := requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "b"))
	tests := []struct {
		it              *cloudprovider.InstanceType
		want            requirements.Set
		cheapest, worst float64
	}{
		{mixed, requirements.Set{}, 0.2, 0.3},
		{mixed, zoneB, 0.3, 0.3},
		{mixed, requirements.NewSet(requirements.In(v1.CapacityTypeLabelKey, "on-demand")), 0.9, 0.9},
		{reservedToo, requirements.Set{}, 0.002, 0.004},
		{soldOut, requirements.Set{}, math.Inf(1), math.Inf(1)},
		{twin, requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "a")), math.Inf(1), math.Inf(1)},
	}
	for _, tt := range tests {
		if got := tt.it.CheapestPrice(tt.want); got != tt.cheapest {
			t.Errorf("cheapest price of %s for %s is %v, want %v", tt.it.Name, tt.want, got, tt.cheapest)
		}
		if got := tt.it.WorstLaunchPrice(tt.want); got != tt.worst {
			t.Errorf("worst launch price of %s for %s is %v, want %v", tt.it.Name, tt.want, got, tt.worst)
		}
	}
	var names []string
	in := []*cloudprovider.InstanceType{soldOut, mixed, twin, reservedToo}
	for _, it := range cloudprovider.SortByPrice(in, requirements.Set{}) {
		names = append(names, it.Name)
	}
	if diff := cmp.Diff([]string{"reserved", "a-twin", "mixed", "sold-out"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if in[0] != soldOut {
		t.Error("the argument was sorted in place")
	}
}

func TestOfferingAccessors(t *testing.T) {
	it := testType("x", reserved("a", "r-1", 1, 1), offering("b", "spot", 1, requirements.DoesNotExist(reservationKey)))
	o := &it.Offerings[0]
	if o.Zone() != "a" || o.CapacityType() != "reserved" || !o.Reserved() || o.Value(reservationKey) != "r-1" || o.Value("none") != "" {
		t.Errorf("accessors of %s give %q, %q, %v, %q", o.Requirements, o.Zone(), o.CapacityType(), o.Reserved(), o.Value(reservationKey))
	}
	want := cloudprovider.OfferingKey{InstanceType: "x", Zone: "b", CapacityType: "spot"}
	if got := cloudprovider.KeyOf(it, &it.Offerings[1]); got != want {
		t.Errorf("key is %+v, want %+v: a label stated as absent is no part of it", got, want)
	}
}
