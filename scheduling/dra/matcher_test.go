package dra_test

import (
	"strings"
	"sync"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/scheduling/dra"
)

func a100() *resourcev1.Device {
	product, version, yes, cores := "NVIDIA A100-SXM4-40GB", "8.0.0", true, int64(108)
	return &resourcev1.Device{
		Name: "gpu-0", AllowMultipleAllocations: &yes,
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"productName": {StringValue: &product}, "cudaComputeCapability": {VersionValue: &version}, "mig": {BoolValue: &yes}, "cores": {IntValue: &cores},
		},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
	}
}

func TestMatches(t *testing.T) {
	m := dra.New()
	for expression, want := range map[string]bool{
		`device.driver == "gpu.nvidia.com"`:                                                          true,
		`device.driver == "gpu.example.com"`:                                                         false,
		`device.attributes["gpu.nvidia.com"].productName.contains("A100")`:                           true,
		`device.attributes["gpu.nvidia.com"].cores > 100 && device.attributes["gpu.nvidia.com"].mig`: true,
		`device.attributes["gpu.nvidia.com"].cudaComputeCapability.isGreaterThan(semver("9.0.0"))`:   false,
		`device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0`:                  false,
		`"index" in device.attributes["gpu.nvidia.com"]`:                                             false,
		`device.allowMultipleAllocations`:                                                            true,
	} {
		for range 2 {
			got, err := m.Matches(expression, "gpu.nvidia.com", a100())
			if got != want || err != nil {
				t.Errorf("%s: %t, %v", expression, got, err)
			}
		}
	}
}

// What has no value, does not compile, costs too much or is too long is an error that says so.
func TestErrors(t *testing.T) {
	m := dra.New()
	nested := `"` + strings.Repeat("a", 60) + `".matches("` + strings.Repeat("(a+)+", 20) + `")`
	loops := strings.Repeat(`[1,2,3,4,5,6,7,8,9,10].all(x, `, 9) + nested + strings.Repeat(")", 9)
	for expression, want := range map[string]string{
		`device.attributes["gpu.nvidia.com"].index == 1`: "no such key: index",
		`device.attributes[`:                             "compilation failed",
		`device.driver`:                                  "must evaluate to bool",
		loops:                                            "cost limit exceeded",
		strings.Repeat(" ", 20000) + "true":              "the API server accepts at most 10240",
	} {
		for range 2 {
			if _, err := m.Matches(expression, "gpu.nvidia.com", a100()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60s: got %v, want %s", expression, err, want)
			}
		}
	}
	if _, err := m.Matches("true", "d", nil); err == nil {
		t.Error("no device is no error")
	}
}

// Devices that an expression can distinguish have answers of their own.
func TestAnswersAreRememberedByContent(t *testing.T) {
	m := dra.New()
	const expression = `device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0`
	large := a100()
	large.Capacity["memory"] = resourcev1.DeviceCapacity{Value: resource.MustParse("80Gi")}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			small, errSmall := m.Matches(expression, "gpu.nvidia.com", a100())
			big, errBig := m.Matches(expression, "gpu.nvidia.com", large)
			if small || !big || errSmall != nil || errBig != nil {
				t.Errorf("40Gi: %t, %v; 80Gi: %t, %v", small, errSmall, big, errBig)
			}
		})
	}
	group.Wait()
	if other, err := m.Matches(expression, "gpu.example.com", large); other || err == nil {
		t.Errorf("of another driver: %t, %v", other, err)
	}
}
