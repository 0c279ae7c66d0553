package scheduling_test

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// partitionable makes the type one with so many GPUs, each of which can be had whole or in so many parts.
func partitionable(it *cloudprovider.InstanceType, gpus, parts int) *cloudprovider.InstanceType {
	pool := cloudprovider.DevicePool{Driver: gpuDriver}
	for g := range gpus {
		set := fmt.Sprint("gpu-", g)
		pool.SharedCounters = append(pool.SharedCounters, resourcev1.CounterSet{Name: set, Counters: map[string]resourcev1.Counter{"slices": {Value: *resource.NewQuantity(int64(parts), resource.DecimalSI)}}})
		add := func(name, model string, slices int64) {
			domain := fmt.Sprint(g % 2)
			pool.Devices = append(pool.Devices, resourcev1.Device{
				Name:       name,
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}, "domain": {StringValue: &domain}},
				ConsumesCounters: []resourcev1.DeviceCounterConsumption{{CounterSet: set, Counters: map[string]resourcev1.Counter{
					"slices": {Value: *resource.NewQuantity(slices, resource.DecimalSI)},
				}}},
			})
		}
		add(set, "whole", int64(parts))
		for i := range parts {
			add(fmt.Sprint(set, "-part-", i), "part", 1)
		}
	}
	it.Devices = []cloudprovider.DevicePool{pool}
	return it
}

// cheapestByTrying is the least cost of nodes that hold all pods: each partition of the pods into nodes is tried, and for each node all types.
func cheapestByTrying(t fataler, s *scheduling.Snapshot) float64 {
	t.Helper()
	classes := map[string]*resourcev1.DeviceClass{"gpu": s.DeviceClasses[0]}
	specs := map[string]*resourcev1.DeviceClaim{}
	for _, c := range s.ResourceClaimTemplates {
		specs[c.Name] = &c.Spec.Spec.Devices
	}
	known := map[uint]float64{}
	priceOf := func(set uint) float64 {
		if price, ok := known[set]; ok {
			return price
		}
		var list []*devices.Claim
		cpu := resource.Quantity{}
		for i, pod := range s.Pods {
			if set&(1<<i) == 0 {
				continue
			}
			cpu.Add(pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU])
			for _, c := range pod.Spec.ResourceClaims {
				claim, err := devices.NewClaim(pod.Name, specs[*c.ResourceClaimTemplateName], classes)
				if err != nil {
					t.Fatalf("%v", err)
				}
				list = append(list, claim)
			}
		}
		price := math.Inf(1)
		for _, it := range s.Catalogs["types"] {
			allocatable := it.Allocatable()
			if cpu.Cmp(allocatable[corev1.ResourceCPU]) > 0 {
				continue
			}
			usage := devices.NewUsage(devices.NewInventory(slicesOf(it)))
			if a, _ := devices.Allocate([]devices.Source{{Usage: usage}}, list, devices.NewMatches(modelIs{})); a != nil {
				for i := range it.Offerings {
					price = min(price, it.Offerings[i].Price)
				}
			}
		}
		known[set] = price
		return price
	}
	all := uint(1)<<len(s.Pods) - 1
	best := make([]float64, all+1)
	for set := uint(1); set <= all; set++ {
		best[set] = math.Inf(1)
		for some := set; some > 0; some = (some - 1) & set {
			best[set] = min(best[set], priceOf(some)+best[set&^some])
		}
	}
	return best[all]
}

// Two whole GPUs and seven partitions fit on three of the small type, and on no two. The plan finds that, and that it is as cheap as can be.
func TestDevicesBoundOfWholesAndPartitions(t *testing.T) {
	s := cluster([]*cloudprovider.InstanceType{
		partitionable(typeOf("one", 7, "cpu=16", "memory=64Gi"), 1, 7),
		partitionable(typeOf("eight", 55, "cpu=128", "memory=512Gi"), 8, 7),
	}, pods("whole", 2, claims("whole")), pods("part", 7, claims("part")))
	s.DeviceClasses = []*resourcev1.DeviceClass{{}}
	s.DeviceClasses[0].Name = "gpu"
	template(s, "whole", nil, gpuRequest("r", 1, "model=whole"))
	template(s, "part", nil, gpuRequest("r", 1, "model=part"))
	p := solveDevices(t, s)
	const small = 7 * 0.4 // on spot
	if cheapest := cheapestByTrying(t, s); math.Abs(cheapest-3*small) > 1e-9 || math.Abs(p.HourlyCost-cheapest) > 1e-9 || math.Abs(p.LowerBound-cheapest) > 1e-6 {
		t.Errorf("the bound is %v, the plan %v (%s), and %v do", p.LowerBound, p.HourlyCost, typesOf(p), cheapest)
	}
	// The bound is met, so no pod may be worth more than the certificate says.
	for i := range p.Certificate.Classes {
		p.Certificate.Classes[i].Value *= 1.01
	}
	if faults := planvalidator.CheckDevices(s, p, modelIs{}); len(faults) == 0 {
		t.Error("values that nodes could not hold for what they cost are believed")
	}
}

// Halves of GPUs find a place where all types that have some have whole GPUs, too, on new nodes and on one that is there.
func TestDevicesHalvesNextToWholes(t *testing.T) {
	there := partitionable(typeOf("there", 7, "cpu=16", "memory=64Gi"), 1, 2)
	s := cluster([]*cloudprovider.InstanceType{partitionable(typeOf("one", 7, "cpu=16", "memory=64Gi"), 1, 2)},
		node("n", allocatable("cpu=16", "memory=64Gi")), pods("whole", 1, claims("whole")), pods("half", 5, claims("half")))
	s.DeviceClasses = []*resourcev1.DeviceClass{{}}
	s.DeviceClasses[0].Name = "gpu"
	template(s, "whole", nil, gpuRequest("r", 1, "model=whole"))
	template(s, "half", nil, gpuRequest("r", 1, "model=part"))
	published(s, "n", there.Devices[0].Devices)
	s.ResourceSlices[0].Spec.SharedCounters = there.Devices[0].SharedCounters
	p := solveDevices(t, s)
	if len(p.Unschedulable) > 0 || len(p.NewNodes) != 3 || len(p.Existing) != 1 {
		t.Errorf("%d new nodes, %v, without a place %v", len(p.NewNodes), p.Existing, p.Unschedulable)
	}
}

// SCH-190: no nodes that hold the pods cost less than the bound, whatever devices compete, match or are shared.
func TestDevicesBoundIsBelowTheCheapest(t *testing.T) {
	apart, tight := 0, 0
	seeded.Times(t, 300, func(t *rapid.T) {
		var types []*cloudprovider.InstanceType
		for i := range rapid.IntRange(1, 3).Draw(t, "types") {
			it := typeOf(fmt.Sprint("type", i), float64(rapid.IntRange(1, 12).Draw(t, "price")), "cpu=8", "memory=64Gi")
			partitionable(it, rapid.IntRange(1, 3).Draw(t, "gpus"), rapid.IntRange(2, 4).Draw(t, "parts"))
			if rapid.IntRange(0, 2).Draw(t, "shared") == 0 {
				d, yes := gpus(1, "shared")[0], true
				d.AllowMultipleAllocations = &yes
				it.Devices[0].Devices = append(it.Devices[0].Devices, d)
			}
			types = append(types, it)
		}
		s := cluster(types)
		s.DeviceClasses = []*resourcev1.DeviceClass{{}}
		s.DeviceClasses[0].Name = "gpu"
		names := []string{"whole", "part", "any", "pair", "either", "share"}
		template(s, "whole", nil, gpuRequest("r", 1, "model=whole"))
		template(s, "part", nil, gpuRequest("r", 1, "model=part"))
		template(s, "any", nil, gpuRequest("r", 1))
		template(s, "pair", []resourcev1.DeviceConstraint{sameAttribute("domain")}, gpuRequest("r", 2, "model=part"))
		alternative := func(name, model string, count int64) resourcev1.DeviceSubRequest {
			return resourcev1.DeviceSubRequest{Name: name, DeviceClassName: "gpu", Count: count, AllocationMode: resourcev1.DeviceAllocationModeExactCount,
				Selectors: gpuRequest("", 1, "model="+model).Exactly.Selectors}
		}
		template(s, "either", nil, resourcev1.DeviceRequest{Name: "r", FirstAvailable: []resourcev1.DeviceSubRequest{alternative("x", "part", 2), alternative("y", "whole", 1)}})
		share := gpuRequest("r", 1, "model=shared")
		share.Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("15Gi")}}
		template(s, "share", nil, share)
		for i := range rapid.IntRange(1, 6).Draw(t, "pods") {
			name := rapid.SampledFrom(names).Draw(t, "claim")
			s.Pods = append(s.Pods, pod(fmt.Sprint(name, "-", i), requests("cpu="+fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "cpu"))), claims(name)))
		}
		p := solveDevices(t, s)
		placed := map[string]bool{}
		for i := range p.NewNodes {
			for _, key := range p.NewNodes[i].Pods {
				placed[key.Name] = true
			}
		}
		var kept []*corev1.Pod
		for _, pod := range s.Pods {
			if placed[pod.Name] {
				kept = append(kept, pod)
			}
		}
		s.Pods = kept
		cheapest := cheapestByTrying(t, s)
		if p.LowerBound > cheapest*(1+1e-9) || p.HourlyCost < cheapest*(1-1e-9) {
			t.Fatalf("bound %v, cheapest %v, plan %v (%s)", p.LowerBound, cheapest, p.HourlyCost, typesOf(p))
		}
		switch {
		case cheapest < p.HourlyCost:
			apart++
		case p.LowerBound > 0.999*cheapest:
			tight++
		}
	})
	if !t.Failed() && !testing.Short() && (apart < 10 || tight < 10) {
		t.Errorf("the draws are too much alike: %d plans cost more than they must, %d bounds are met", apart, tight)
	}
}
