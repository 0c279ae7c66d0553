package scheduling_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/redact"
)

func deviceObjects() *scheduling.Snapshot {
	s := cluster()
	model, all := "H100", true
	name := func(n string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: n, Namespace: "default"} }
	spec := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "gpu.example.com", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.attributes["gpu.example.com"].model == "H100"`}}},
		Capacity:  &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("40Gi")}},
	}}}}}
	s.ResourceClaims = []*resourcev1.ResourceClaim{{ObjectMeta: name("claim"), Spec: spec, Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{
		Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "gpu", Driver: "gpu.example.com", Pool: "pool", Device: "gpu-0"}}},
	}}}}
	s.ResourceClaimTemplates = []*resourcev1.ResourceClaimTemplate{{ObjectMeta: name("template"), Spec: resourcev1.ResourceClaimTemplateSpec{Spec: *spec.DeepCopy()}}}
	s.DeviceClasses = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu.example.com"}}}
	s.ResourceSlices = []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "slice"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", Pool: resourcev1.ResourcePool{Name: "pool", Generation: 1, ResourceSliceCount: 1}, AllNodes: &all,
		Devices: []resourcev1.Device{{
			Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
		}},
	}}}
	return s
}

// Objects of Dynamic Resource Allocation that contradict each other are refused with the path of the fault.
func TestDeviceObjectsAreChecked(t *testing.T) {
	much := resource.MustParse("1e30")
	for name, c := range map[string]struct {
		change func(*scheduling.Snapshot)
		want   string
	}{
		"good":            {func(*scheduling.Snapshot) {}, ""},
		"a null claim":    {func(s *scheduling.Snapshot) { s.ResourceClaims[0] = nil }, "resourceClaims[0]"},
		"a null template": {func(s *scheduling.Snapshot) { s.ResourceClaimTemplates[0] = nil }, "resourceClaimTemplates[0]"},
		"a null class":    {func(s *scheduling.Snapshot) { s.DeviceClasses[0] = nil }, "deviceClasses[0]"},
		"a null slice":    {func(s *scheduling.Snapshot) { s.ResourceSlices[0] = nil }, "resourceSlices[0]"},
		"a claim twice":   {func(s *scheduling.Snapshot) { s.ResourceClaims = append(s.ResourceClaims, s.ResourceClaims[0]) }, "resourceClaims"},
		"a template twice": {func(s *scheduling.Snapshot) {
			s.ResourceClaimTemplates = append(s.ResourceClaimTemplates, s.ResourceClaimTemplates[0])
		}, "resourceClaimTemplates"},
		"a class twice":     {func(s *scheduling.Snapshot) { s.DeviceClasses = append(s.DeviceClasses, s.DeviceClasses[0]) }, "deviceClasses"},
		"a slice twice":     {func(s *scheduling.Snapshot) { s.ResourceSlices = append(s.ResourceSlices, s.ResourceSlices[0]) }, "resourceSlices"},
		"a slice of nobody": {func(s *scheduling.Snapshot) { s.ResourceSlices[0].Spec.Driver = "" }, "resourceSlices[slice].spec"},
		"a capacity": {func(s *scheduling.Snapshot) {
			s.ResourceSlices[0].Spec.Devices[0].Capacity["memory"] = resourcev1.DeviceCapacity{Value: much}
		}, "resourceSlices[slice].spec.devices[gpu-0].capacity[memory]"},
		"a request": {func(s *scheduling.Snapshot) {
			s.ResourceClaims[0].Spec.Devices.Requests[0].Exactly.Capacity.Requests["memory"] = much
		}, "resourceClaims[default/claim].spec.devices.requests[gpu].capacity.requests[memory]"},
		"a request twice": {func(s *scheduling.Snapshot) {
			r := &s.ResourceClaimTemplates[0].Spec.Spec.Devices
			r.Requests = append(r.Requests, r.Requests[0])
		}, "resourceClaimTemplates[default/template].spec.spec.devices.requests"},
		"an instance type": {func(s *scheduling.Snapshot) {
			for _, list := range s.Catalogs {
				list[0] = list[0].DeepCopy()
				list[0].Devices = []cloudprovider.DevicePool{{Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "-"}}}}
			}
		}, "catalogs[types][0].devices[0].devices[0].name"},
	} {
		t.Run(name, func(t *testing.T) {
			s := deviceObjects()
			c.change(s)
			_, err := scheduling.Compile(s)
			var e *scheduling.SnapshotError
			if errors.As(err, &e) != (c.want != "") || e != nil && e.Path != c.want {
				t.Errorf("got %v, want a fault of %q", err, c.want)
			}
		})
	}
}

// What is saved is read back, and what is anonymised still fits together.
func TestDeviceObjectsAreKept(t *testing.T) {
	s := deviceObjects()
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	back, err := scheduling.DecodeSnapshot(&b)
	if err != nil {
		t.Fatal(err)
	}
	quantities := cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
	for _, c := range []struct{ was, is any }{
		{s.ResourceClaims, back.ResourceClaims}, {s.ResourceClaimTemplates, back.ResourceClaimTemplates}, {s.DeviceClasses, back.DeviceClasses}, {s.ResourceSlices, back.ResourceSlices},
		{s.ResourceClaims, redact.Strip(s).ResourceClaims}, {s.ResourceSlices, redact.Strip(s).ResourceSlices},
	} {
		if diff := cmp.Diff(c.was, c.is, quantities); diff != "" {
			t.Error(diff)
		}
	}
	s.Pods = []*corev1.Pod{pod("p", func(p *corev1.Pod) {
		claim := "claim"
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: &claim}}
	})}
	a := redact.Anonymize(s, nil)
	claim, device := a.ResourceClaims[0], &a.ResourceSlices[0].Spec.Devices[0]
	request, result := claim.Spec.Devices.Requests[0], claim.Status.Allocation.Devices.Results[0]
	switch {
	case claim.Name == "claim" || *a.Pods[0].Spec.ResourceClaims[0].ResourceClaimName != claim.Name:
		t.Errorf("the pod names %s, the claim is %s", *a.Pods[0].Spec.ResourceClaims[0].ResourceClaimName, claim.Name)
	case request.Exactly.DeviceClassName != a.DeviceClasses[0].Name:
		t.Error("the class is another one")
	case result.Device != device.Name || result.Pool != a.ResourceSlices[0].Spec.Pool.Name || result.Request != request.Name || result.Driver != "gpu.example.com":
		t.Errorf("the claim has %+v, the slice %s", result, device.Name)
	case request.Exactly.Selectors[0].CEL.Expression != `device.attributes["gpu.example.com"].model == "H100"` || *device.Attributes["model"].StringValue != "H100":
		t.Error("the selector does not select what it did")
	}
}
