package scheduling_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// binds binds an attribute of the devices of the type's first pool to a label.
func binds(it *cloudprovider.InstanceType, attribute resourcev1.QualifiedName, label string) *cloudprovider.InstanceType {
	it.Devices[0].Bindings = append(it.Devices[0].Bindings, cloudprovider.AttributeBinding{Attribute: attribute, Label: label})
	return it
}

// siteCluster has a type of two H100 of which the zone decides the site: cheaper in a than in b, and cheapest as spot.
func siteCluster(parts ...any) *scheduling.Snapshot {
	it := binds(publishes(typeOf("h2", 8, "cpu=16", "memory=64Gi"), gpus(2, "H100")...), "site", zoneKey)
	for i := range it.Offerings {
		if it.Offerings[i].Zone() == "b" {
			it.Offerings[i].Price++
		}
	}
	s := cluster(append([]any{it}, parts...)...)
	s.DeviceClasses = gpuCluster().DeviceClasses
	return s
}

// openZones are the zones that a new node's claim leaves open.
func openZones(n *scheduling.NewNode) []string { return n.Requirements.Get(zoneKey).Values() }

// A claim that selects by an attribute of the zone opens nodes in zones where devices have the value, and nowhere else.
func TestDeviceOfZone(t *testing.T) {
	s := siteCluster(pod("far", requests("cpu=1"), claims("far")), pod("any", requests("cpu=1"), claims("any")))
	template(s, "far", nil, gpuRequest("r", 2, "site=b"))
	template(s, "any", nil, gpuRequest("r", 2))
	p := solveDevices(t, s)
	if len(p.NewNodes) != 2 || len(p.Unschedulable) > 0 {
		t.Fatalf("nodes %v, without a place %v", p.NewNodes, p.Unschedulable)
	}
	for i := range p.NewNodes {
		n := &p.NewNodes[i]
		zone := map[string]string{"far": "b", "any": "a"}[n.Pods[0].Name]
		if n.InstanceTypes[0].Zone != zone {
			t.Errorf("%s is in %s, want %s", n.Pods[0].Name, n.InstanceTypes[0].Zone, zone)
		}
		if n.Pods[0].Name == "far" && !slices.Equal(openZones(n), []string{"b"}) {
			t.Errorf("the claim leaves open zones %v", openZones(n))
		}
	}
}

// Where no claim asks about it, a bound attribute narrows no node.
func TestBoundAttributeNobodyAsksAbout(t *testing.T) {
	s := siteCluster(pod("any", requests("cpu=1"), claims("any")), pod("plain", requests("cpu=15")))
	template(s, "any", nil, gpuRequest("r", 2, "model=H100"))
	p := solveDevices(t, s)
	for i := range p.NewNodes {
		if n := &p.NewNodes[i]; len(openZones(n)) != 2 || len(n.Requirements.Get(capacityKey).Values()) != 2 {
			t.Errorf("%v is narrowed to %v", n.Pods, n.Requirements)
		}
	}
	if len(p.NewNodes) == 0 || len(p.Unschedulable) > 0 {
		t.Errorf("%d nodes, without a place %v", len(p.NewNodes), p.Unschedulable)
	}
}

// Devices of two drivers that have to match in an attribute bound to the capacity type are bought as that.
func TestMatchingBoundAttribute(t *testing.T) {
	it := publishes(typeOf("h2", 8, "cpu=16", "memory=64Gi"), gpus(2, "H100")...)
	fabric := "on-demand fabric"
	card := resourcev1.Device{Name: "card", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"example.com/fabric": {StringValue: &fabric}}}
	it.Devices = append(it.Devices, cloudprovider.DevicePool{Driver: "net.example.com", Devices: []resourcev1.Device{card}})
	none := "none"
	it.Devices[0].Bindings = []cloudprovider.AttributeBinding{{Attribute: "example.com/fabric", Label: capacityKey, Values: map[string]resourcev1.DeviceAttribute{
		v1.CapacityTypeOnDemand: {StringValue: &fabric}, v1.CapacityTypeSpot: {StringValue: &none},
	}}}
	s := cluster(it, pod("pair", requests("cpu=1"), claims("pair")))
	s.DeviceClasses = gpuCluster().DeviceClasses
	attribute := resourcev1.FullyQualifiedName("example.com/fabric")
	template(s, "pair", []resourcev1.DeviceConstraint{{MatchAttribute: &attribute}}, gpuRequest("gpus", 2, "model=H100"), gpuRequest("card", 1, "example.com/fabric=on-demand fabric"))
	p := solveDevices(t, s)
	if len(p.NewNodes) != 1 || p.NewNodes[0].InstanceTypes[0].CapacityType != v1.CapacityTypeOnDemand || !slices.Equal(p.NewNodes[0].Requirements.Get(capacityKey).Values(), []string{v1.CapacityTypeOnDemand}) {
		t.Errorf("nodes %+v, without a place %v", p.NewNodes, p.Unschedulable)
	}
}

// A binding to another label of offerings, such as that of a reservation, leaves open only offerings with the value.
func TestDeviceOfReservation(t *testing.T) {
	const clique = "example.com/clique"
	it := binds(publishes(typeOf("h2", 8, "cpu=16", "memory=64Gi"), gpus(2, "H100")...), "clique", clique)
	it.Offerings = nil
	for i, name := range []string{"c1", "c2"} {
		o := offering("a", v1.CapacityTypeOnDemand, float64(8+i))
		o.Requirements = o.Requirements.With(requirements.In(clique, name))
		it.Offerings = append(it.Offerings, o)
	}
	s := cluster(it, pod("second", requests("cpu=1"), claims("second")))
	s.DeviceClasses = gpuCluster().DeviceClasses
	template(s, "second", nil, gpuRequest("r", 1, "clique=c2"))
	p := solveDevices(t, s)
	if len(p.NewNodes) != 1 || !slices.Equal(p.NewNodes[0].Requirements.Get(clique).Values(), []string{"c2"}) {
		t.Errorf("nodes %+v, without a place %v", p.NewNodes, p.Unschedulable)
	}
}

// A pod whose claim selects a value that no offering has is told on which offerings what was looked at.
func TestExplainBoundAttribute(t *testing.T) {
	s := siteCluster(pod("lost", requests("cpu=1"), claims("lost")))
	template(s, "lost", nil, gpuRequest("r", 1, "site=c"))
	p := solveDevices(t, s)
	if len(p.Unschedulable) != 1 {
		t.Fatalf("nodes %+v", p.NewNodes)
	}
	text := p.Unschedulable[0].Reasons[0].String()
	want := "on h2 with topology.kubernetes.io/zone=a request r of claim gpus wants 1; 0 of 2 devices of gpu.example.com meet site=c; they have site a"
	if !strings.Contains(text, want) {
		t.Errorf("reason is %q, want it to have %q", text, want)
	}
}

// A node that starts will publish what its own labels say.
func TestBoundAttributeOfStartingNode(t *testing.T) {
	for zone, want := range map[string]int{"a": 0, "b": 1} {
		n := node("n", allocatable("cpu=16", "memory=64Gi"), nodeLabel(typeKey, "h2"), nodeLabel(zoneKey, zone))
		n.Object.CreationTimestamp.Time = siteCluster().Time
		s := siteCluster(n, pod("near", requests("cpu=1"), claims("near")))
		template(s, "near", nil, gpuRequest("r", 1, "site=a"))
		m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Solve(context.Background(), scheduling.Query{})
		if err != nil || len(p.NewNodes) != want || len(p.Unschedulable) > 0 {
			t.Errorf("in zone %s: %d new nodes, want %d (%v)", zone, len(p.NewNodes), want, err)
		}
	}
}

// Bindings survive encoding.
func TestEncodeBoundAttributes(t *testing.T) {
	s := siteCluster()
	value := "x"
	s.Catalogs["types"][0].Devices[0].Bindings[0].Values = map[string]resourcev1.DeviceAttribute{"a": {StringValue: &value}, "b": {StringValue: &value}}
	s.Catalogs["types"][0].Devices[0].Bindings[0].Devices = []string{"h100-0"}
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	got, err := scheduling.DecodeSnapshot(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Catalogs["types"][0].Devices, got.Catalogs["types"][0].Devices); diff != "" {
		t.Error(diff)
	}
}

// Whatever is bound and claimed: each offering that a claim leaves open has the devices of the node's pods, and pods that could have theirs have a place.
func TestBoundAttributesAtRandom(t *testing.T) {
	seeded.Times(t, 60, func(t *rapid.T) {
		var types []any
		for i := range rapid.IntRange(1, 3).Draw(t, "types") {
			it := publishes(typeOf(fmt.Sprintf("t%d", i), float64(2+3*i), "cpu=16", "memory=64Gi"), gpus(1+i, []string{"H100", "A100"}[i%2])...)
			if rapid.Bool().Draw(t, "by zone") {
				binds(it, "site", zoneKey)
			}
			if rapid.Bool().Draw(t, "by capacity type") {
				binds(it, "terms", capacityKey)
			}
			for j := range it.Offerings {
				it.Offerings[j].Available = rapid.IntRange(0, 3).Draw(t, "available") > 0
				it.Offerings[j].Price += rapid.Float64Range(0, 3).Draw(t, "price")
			}
			types = append(types, it)
		}
		selectors := []string{"", "site=a", "site=b", "terms=spot", "terms=on-demand", "model=H100", "domain=0"}
		parts := types
		var used []string
		for i := range rapid.IntRange(1, 6).Draw(t, "pods") {
			name := rapid.SampledFrom(selectors).Draw(t, "selector")
			used = append(used, name)
			parts = append(parts, pod(fmt.Sprintf("p%d", i), requests(rapid.SampledFrom([]string{"cpu=1", "cpu=9"}).Draw(t, "size")), claims("s"+fmt.Sprint(slices.Index(selectors, name)))))
		}
		if rapid.Bool().Draw(t, "with a pod that claims nothing") {
			parts = append(parts, pod("plain", requests("cpu=4")))
		}
		s := cluster(parts...)
		s.DeviceClasses = gpuCluster().DeviceClasses
		for i, selector := range selectors {
			r := gpuRequest("r", 1)
			if selector != "" {
				r = gpuRequest("r", 1, selector)
			}
			template(s, fmt.Sprintf("s%d", i), nil, r)
		}
		p := solveDevices(t, s)
		for _, u := range p.Unschedulable {
			var i int
			if _, err := fmt.Sscanf(u.Pod.Name, "p%d", &i); err != nil {
				continue
			}
			for _, it := range s.Catalogs["types"] {
				for o := range it.OfferingsWithRoom() {
					devices := it.DevicesOf(o)[0].Devices
					if slices.ContainsFunc(devices, func(d resourcev1.Device) bool {
						ok, err := modelIs{}.Matches(used[i], gpuDriver, &d)
						return used[i] == "" || ok && err == nil
					}) {
						t.Errorf("%s has no place, but %s could serve %q", u.Pod, cloudprovider.KeyOf(it, o), used[i])
					}
				}
			}
		}
	})
}

// CheckDevices finds a claim that leaves open an offering where devices lack what is asked for.
func TestCheckFindsOpenOffering(t *testing.T) {
	s := siteCluster(pod("far", requests("cpu=1"), claims("far")))
	template(s, "far", nil, gpuRequest("r", 2, "site=b"))
	p := solveDevices(t, s)
	p.NewNodes[0].Requirements = p.NewNodes[0].Requirements.Without(corev1.LabelTopologyZone)
	if faults := planvalidator.CheckDevices(s, p, modelIs{}); len(faults) == 0 {
		t.Error("no fault is found")
	}
}
