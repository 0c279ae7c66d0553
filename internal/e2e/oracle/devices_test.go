package oracle_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/devices"
)

const deviceDriver = "gpu.example.com"

// deviceJudge allocates with the package that kube-scheduler does it with.
type deviceJudge struct {
	cache   *cel.Cache
	classes []*resourcev1.DeviceClass
	node    *corev1.Node
}

func (j *deviceJudge) List() ([]*resourcev1.DeviceClass, error) { return j.classes, nil }

func (j *deviceJudge) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, c := range j.classes {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no class %s", name)
}

// Matches is what the judge says of a selector.
func (j *deviceJudge) Matches(expression, driver string, d *resourcev1.Device) (bool, error) {
	program := j.cache.GetOrCompile(expression)
	if program.Error != nil {
		return false, program.Error
	}
	ok, _, err := program.DeviceMatches(context.Background(), cel.Device{
		Driver: driver, AllowMultipleAllocations: d.AllowMultipleAllocations, Attributes: d.Attributes, Capacity: d.Capacity,
	})
	return ok, err
}

// allocate reports whether the judge can allocate the claim.
func (j *deviceJudge) allocate(list []*resourcev1.ResourceSlice, taken []resourcev1.DeviceRequestAllocationResult, claim *resourcev1.ResourceClaim) (bool, error) {
	results, err := j.results(list, taken, claim)
	return results != nil, err
}

// results are the devices that the judge allocates for a claim, nil if there are none.
func (j *deviceJudge) results(list []*resourcev1.ResourceSlice, taken []resourcev1.DeviceRequestAllocationResult, claim *resourcev1.ResourceClaim) ([]resourcev1.DeviceRequestAllocationResult, error) {
	state := structured.AllocatedState{
		AllocatedDevices: sets.New[structured.DeviceID](), AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity: structured.NewConsumedCapacityCollection(),
	}
	for i := range taken {
		r := &taken[i]
		id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
		switch {
		case r.AdminAccess != nil && *r.AdminAccess:
		case r.ConsumedCapacity != nil:
			state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
		default:
			state.AllocatedDevices.Insert(id)
		}
	}
	features := structured.Features{
		AdminAccess: true, ConsumableCapacity: true, DeviceTaints: true, PartitionableDevices: true, PrioritizedList: true,
	}
	allocator, err := structured.NewAllocator(context.Background(), features, state, j, list, j.cache)
	if err != nil {
		return nil, err
	}
	result, err := allocator.Allocate(context.Background(), j.node, []*resourcev1.ResourceClaim{claim})
	if err != nil || len(result) == 0 {
		return nil, err
	}
	return append([]resourcev1.DeviceRequestAllocationResult{}, result[0].Devices.Results...), nil
}

func drawnSlices(t *rapid.T) []*resourcev1.ResourceSlice {
	node, yes := "n", true
	name := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	partitions := rapid.Bool().Draw(t, "partitions")
	count := int64(1)
	if partitions {
		count = 2
	}
	spec := func() resourcev1.ResourceSliceSpec {
		return resourcev1.ResourceSliceSpec{Driver: deviceDriver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: count}}
	}
	s := &resourcev1.ResourceSlice{ObjectMeta: name("devices"), Spec: spec()}
	out := []*resourcev1.ResourceSlice{s}
	amount := func(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }
	if partitions {
		c := &resourcev1.ResourceSlice{ObjectMeta: name("counters"), Spec: spec()}
		for i := range 2 {
			c.Spec.SharedCounters = append(c.Spec.SharedCounters, resourcev1.CounterSet{Name: fmt.Sprint("s", i), Counters: map[string]resourcev1.Counter{"m": {Value: amount(2 + i)}}})
		}
		out = append(out, c)
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "devices") {
		d := resourcev1.Device{
			Name: fmt.Sprint("d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: amount(rapid.IntRange(1, 4).Draw(t, "memory"))}},
		}
		model := rapid.SampledFrom([]string{"A", "B"}).Draw(t, "model")
		d.Attributes["model"] = resourcev1.DeviceAttribute{StringValue: &model}
		if rapid.IntRange(0, 3).Draw(t, "has domain") > 0 {
			domain := int64(rapid.IntRange(0, 2).Draw(t, "domain"))
			d.Attributes[rapid.SampledFrom([]resourcev1.QualifiedName{"domain", deviceDriver + "/domain"}).Draw(t, "key")] = resourcev1.DeviceAttribute{IntValue: &domain}
		}
		if rapid.IntRange(0, 4).Draw(t, "tainted") == 0 {
			d.Taints = []resourcev1.DeviceTaint{{Key: "sick", Value: "x", Effect: rapid.SampledFrom([]resourcev1.DeviceTaintEffect{"NoSchedule", "NoExecute", "None"}).Draw(t, "effect")}}
		}
		switch {
		case partitions:
			d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{
				CounterSet: rapid.SampledFrom([]string{"s0", "s1"}).Draw(t, "set"), Counters: map[string]resourcev1.Counter{"m": {Value: amount(rapid.IntRange(1, 2).Draw(t, "takes"))}},
			}}
		case rapid.IntRange(0, 3).Draw(t, "shared") == 0:
			d.AllowMultipleAllocations = &yes
			if least := amount(1); rapid.Bool().Draw(t, "policy") {
				c := d.Capacity["memory"]
				step := amount(rapid.IntRange(1, 2).Draw(t, "step"))
				c.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: &least, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &least, Step: &step}}
				d.Capacity["memory"] = c
			}
		}
		s.Spec.Devices = append(s.Spec.Devices, d)
	}
	return out
}

func drawnRequest(t *rapid.T, name string) resourcev1.DeviceSubRequest {
	r := resourcev1.DeviceSubRequest{Name: name, DeviceClassName: rapid.SampledFrom([]string{"any", "A"}).Draw(t, "class"), AllocationMode: resourcev1.DeviceAllocationModeExactCount}
	if rapid.IntRange(0, 4).Draw(t, "mode") == 0 {
		r.AllocationMode = resourcev1.DeviceAllocationModeAll
	} else {
		r.Count = int64(rapid.IntRange(1, 3).Draw(t, "count"))
	}
	if rapid.IntRange(0, 2).Draw(t, "selects") == 0 {
		expression := rapid.SampledFrom([]string{
			`device.attributes["gpu.example.com"].model == "B"`, `device.capacity["gpu.example.com"].memory.compareTo(quantity("2")) >= 0`,
			`"domain" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].domain > 0`,
		}).Draw(t, "selector")
		r.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
	}
	if rapid.IntRange(0, 2).Draw(t, "tolerates") == 0 {
		r.Tolerations = []resourcev1.DeviceToleration{{Key: "sick", Operator: resourcev1.DeviceTolerationOpExists}}
	}
	if rapid.IntRange(0, 2).Draw(t, "asks") == 0 {
		r.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": *resource.NewQuantity(int64(rapid.IntRange(1, 3).Draw(t, "asked")), resource.DecimalSI)}}
	}
	return r
}

func drawnClaim(t *rapid.T) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}
	for i := range rapid.IntRange(1, 2).Draw(t, "requests") {
		name := fmt.Sprint("r", i)
		if rapid.IntRange(0, 3).Draw(t, "first available") == 0 {
			c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, resourcev1.DeviceRequest{Name: name, FirstAvailable: []resourcev1.DeviceSubRequest{drawnRequest(t, "x"), drawnRequest(t, "y")}})
			continue
		}
		r := drawnRequest(t, name)
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: r.DeviceClassName, AllocationMode: r.AllocationMode, Count: r.Count, Selectors: r.Selectors, Tolerations: r.Tolerations, Capacity: r.Capacity,
		}})
	}
	for range rapid.IntRange(0, 2).Draw(t, "constraints") {
		attribute := resourcev1.FullyQualifiedName(deviceDriver + "/" + rapid.SampledFrom([]string{"model", "domain"}).Draw(t, "attribute"))
		x := resourcev1.DeviceConstraint{MatchAttribute: &attribute}
		if rapid.IntRange(0, 2).Draw(t, "distinct") == 0 && len(c.Spec.Devices.Requests) == 1 {
			x = resourcev1.DeviceConstraint{DistinctAttribute: &attribute}
		}
		if rapid.Bool().Draw(t, "about r0") {
			x.Requests = []string{"r0"}
		}
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, x)
	}
	return c
}

// chosen are the slices with no devices but those that the claim got and those that others have.
func chosen(list []*resourcev1.ResourceSlice, got, taken []resourcev1.DeviceRequestAllocationResult) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, s := range list {
		c := s.DeepCopy()
		c.Spec.Devices = slices.DeleteFunc(c.Spec.Devices, func(d resourcev1.Device) bool {
			is := func(r resourcev1.DeviceRequestAllocationResult) bool { return r.Device == d.Name }
			return !slices.ContainsFunc(got, is) && !slices.ContainsFunc(taken, is)
		})
		out = append(out, c)
	}
	return out
}

// mayGiveUp reports whether the judge could give up for an alternative that comes before the one that was chosen: where that asks for all
// devices, it depends on those that were not chosen.
func mayGiveUp(claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
		return slices.ContainsFunc(r.FirstAvailable, func(s resourcev1.DeviceSubRequest) bool {
			return s.AllocationMode == resourcev1.DeviceAllocationModeAll
		})
	})
}

// The judge allocates a claim exactly where the planner's allocator does, and accepts the devices that it chooses. The long run is
// ORACLE_SEED=7 ORACLE_DEVICES=100000 go -C internal/e2e/oracle test -v -timeout 4h -run TestDevices .
func TestDevices(t *testing.T) {
	setFlag(t, "rapid.seed", "ORACLE_SEED", "1")
	setFlag(t, "rapid.checks", "ORACLE_DEVICES", "3000")
	selector := resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "A"`}}
	j := &deviceJudge{
		cache: cel.NewCache(100, cel.Features{EnableConsumableCapacity: true}),
		classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}},
			{ObjectMeta: metav1.ObjectMeta{Name: "A"}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{selector}}}},
		node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
	}
	byName := map[string]*resourcev1.DeviceClass{"any": j.classes[0], "A": j.classes[1]}
	allocated, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		list := drawnSlices(t)
		u, matches := devices.NewUsage(devices.NewInventory(list)), devices.NewMatches(j)
		var taken []resourcev1.DeviceRequestAllocationResult
		for range rapid.IntRange(1, 4).Draw(t, "claims") {
			object := drawnClaim(t)
			claim, err := devices.NewClaim("c", &object.Spec.Devices, byName)
			if err != nil {
				t.Fatal(err)
			}
			a, miss := devices.Allocate([]devices.Source{{Usage: u}}, []*devices.Claim{claim}, matches)
			want, judgement := j.allocate(list, taken, object)
			if want != (a != nil) {
				t.Fatalf("the judge allocates: %t (%v); the planner: %v, %v", want, judgement, a, miss)
			}
			if a == nil {
				refused++
				continue
			}
			allocated++
			got := a.Of(0).Results
			if ok, err := j.allocate(chosen(list, got, taken), taken, object); !ok && !mayGiveUp(object) {
				t.Fatalf("the judge does not take %v: %v", got, err)
			}
			taken = append(taken, got...)
		}
	})
	t.Logf("%d allocated, %d refused", allocated, refused)
	if !t.Failed() && (allocated < 1000 || refused < 500) {
		t.Errorf("the draws are too much alike: %d allocated, %d refused", allocated, refused)
	}
}
