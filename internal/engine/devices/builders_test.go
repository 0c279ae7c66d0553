package devices_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/engine/devices"
)

const driver = "gpu.example.com"

// words stands in for CEL: an expression "name=value" is true of devices with that attribute, "error" has no value.
type words struct{ asked int }

func (w *words) Matches(expression, _ string, d *resourcev1.Device) (bool, error) {
	w.asked++
	name, value, ok := strings.Cut(expression, "=")
	if !ok {
		return false, fmt.Errorf("no such key")
	}
	a := d.Attributes[resourcev1.QualifiedName(name)]
	return a.StringValue != nil && *a.StringValue == value, nil
}

type deviceOption func(*resourcev1.Device)

func device(name string, options ...deviceOption) resourcev1.Device {
	d := resourcev1.Device{Name: name}
	for _, o := range options {
		o(&d)
	}
	return d
}

func attribute(name, value string) deviceOption {
	return func(d *resourcev1.Device) {
		if d.Attributes == nil {
			d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
		}
		d.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute{StringValue: &value}
	}
}

func capacity(name, value string, policy ...*resourcev1.CapacityRequestPolicy) deviceOption {
	return func(d *resourcev1.Device) {
		if d.Capacity == nil {
			d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}
		}
		c := resourcev1.DeviceCapacity{Value: resource.MustParse(value)}
		if len(policy) > 0 {
			c.RequestPolicy = policy[0]
		}
		d.Capacity[resourcev1.QualifiedName(name)] = c
	}
}

func taint(key string, effect resourcev1.DeviceTaintEffect) deviceOption {
	return func(d *resourcev1.Device) {
		d.Taints = append(d.Taints, resourcev1.DeviceTaint{Key: key, Effect: effect})
	}
}

func shared(d *resourcev1.Device) { d.AllowMultipleAllocations = yes() }

func consumes(set, counter, amount string) deviceOption {
	return func(d *resourcev1.Device) {
		d.ConsumesCounters = append(d.ConsumesCounters, resourcev1.DeviceCounterConsumption{
			CounterSet: set, Counters: map[string]resourcev1.Counter{counter: {Value: resource.MustParse(amount)}},
		})
	}
}

func yes() *bool { b := true; return &b }

// slice is all of a pool of its own, for all nodes.
func slice(pool string, list ...resourcev1.Device) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: pool}, Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, Pool: resourcev1.ResourcePool{Name: pool, Generation: 1, ResourceSliceCount: 1}, AllNodes: yes(), Devices: list,
	}}
}

func counters(s *resourcev1.ResourceSlice, set, counter, amount string) *resourcev1.ResourceSlice {
	s.Spec.SharedCounters = append(s.Spec.SharedCounters, resourcev1.CounterSet{Name: set, Counters: map[string]resourcev1.Counter{counter: {Value: resource.MustParse(amount)}}})
	return s
}

func classes(selectors ...string) map[string]*resourcev1.DeviceClass {
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	for _, s := range selectors {
		c.Spec.Selectors = append(c.Spec.Selectors, cel(s))
	}
	return map[string]*resourcev1.DeviceClass{"gpu": c}
}

func cel(expression string) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
}

type requestOption func(*resourcev1.ExactDeviceRequest)

func exactly(name string, count int64, options ...requestOption) resourcev1.DeviceRequest {
	e := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}
	for _, o := range options {
		o(e)
	}
	return resourcev1.DeviceRequest{Name: name, Exactly: e}
}

func all(name string, options ...requestOption) resourcev1.DeviceRequest {
	r := exactly(name, 0, options...)
	r.Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
	return r
}

func where(expression string) requestOption {
	return func(e *resourcev1.ExactDeviceRequest) { e.Selectors = append(e.Selectors, cel(expression)) }
}

func admin(e *resourcev1.ExactDeviceRequest) { e.AdminAccess = yes() }

func tolerates(key string) requestOption {
	return func(e *resourcev1.ExactDeviceRequest) {
		e.Tolerations = append(e.Tolerations, resourcev1.DeviceToleration{Key: key, Operator: resourcev1.DeviceTolerationOpExists})
	}
}

func asks(name, amount string) requestOption {
	return func(e *resourcev1.ExactDeviceRequest) {
		if e.Capacity == nil {
			e.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{}}
		}
		e.Capacity.Requests[resourcev1.QualifiedName(name)] = resource.MustParse(amount)
	}
}

func firstOf(name string, alternatives ...resourcev1.DeviceRequest) resourcev1.DeviceRequest {
	r := resourcev1.DeviceRequest{Name: name}
	for _, a := range alternatives {
		e := a.Exactly
		r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{
			Name: a.Name, DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count,
			Tolerations: e.Tolerations, Capacity: e.Capacity,
		})
	}
	return r
}

func match(attribute string, requests ...string) resourcev1.DeviceConstraint {
	name := resourcev1.FullyQualifiedName(attribute)
	return resourcev1.DeviceConstraint{MatchAttribute: &name, Requests: requests}
}

func distinct(attribute string, requests ...string) resourcev1.DeviceConstraint {
	name := resourcev1.FullyQualifiedName(attribute)
	return resourcev1.DeviceConstraint{DistinctAttribute: &name, Requests: requests}
}

func claimOf(requests ...resourcev1.DeviceRequest) *resourcev1.DeviceClaim {
	return &resourcev1.DeviceClaim{Requests: requests}
}

func constrained(c *resourcev1.DeviceClaim, constraints ...resourcev1.DeviceConstraint) *resourcev1.DeviceClaim {
	c.Constraints = append(c.Constraints, constraints...)
	return c
}

func newClaim(t fataler, spec *resourcev1.DeviceClaim, byName map[string]*resourcev1.DeviceClass) *devices.Claim {
	t.Helper()
	c, err := devices.NewClaim("c", spec, byName)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantDevices has the names of the devices that the allocation must have, in order.
func wantDevices(t testing.TB, a *devices.Allocation, miss *devices.Miss, names ...string) {
	t.Helper()
	if a == nil {
		t.Fatalf("no allocation: %s", miss)
	}
	var got []string
	for _, r := range a.Results {
		got = append(got, r.ID.Device)
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("got %v, want %v", got, names)
	}
}

func wantMiss(t testing.TB, a *devices.Allocation, miss *devices.Miss, code devices.Code, sentence string) {
	t.Helper()
	if a != nil {
		t.Fatalf("allocated %v", a.Results)
	}
	if miss.Code != code || miss.String() != sentence {
		t.Errorf("got  %s: %s\nwant %s: %s", miss.Code, miss, code, sentence)
	}
}

var onGPU = corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
	MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "gpu", Operator: corev1.NodeSelectorOpExists}},
}}}

// fataler is a test, or a draw of a property.
type fataler interface {
	Helper()
	Fatal(...any)
}
