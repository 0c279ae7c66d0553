package cloudprovider_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
)

// sameAmounts compares quantities by amount: 1Gi and 1024Mi are the same.
var sameAmounts = cmp.Comparer(func(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, quantity := range a {
		other, ok := b[name]
		if !ok || quantity.Cmp(other) != 0 {
			return false
		}
	}
	return true
})

// SCH-158.
func TestAllocatable(t *testing.T) {
	tests := []struct {
		name     string
		capacity corev1.ResourceList
		overhead cloudprovider.Overhead
		want     corev1.ResourceList
	}{
		{"nothing kept", build.Amounts("cpu", "2"), cloudprovider.Overhead{}, build.Amounts("cpu", "2")},
		{
			"the three parts add up", build.Amounts("cpu", "2", "memory", "8Gi"),
			cloudprovider.Overhead{
				KubeReserved:      build.Amounts("cpu", "100m", "memory", "1Gi"),
				SystemReserved:    build.Amounts("cpu", "100m"),
				EvictionThreshold: build.Amounts("memory", "512Mi"),
			},
			build.Amounts("cpu", "1800m", "memory", "6656Mi"),
		},
		{
			"every size of huge pages reduces memory", build.Amounts("memory", "8Gi", "hugepages-2Mi", "1Gi", "hugepages-1Gi", "2Gi"),
			cloudprovider.Overhead{KubeReserved: build.Amounts("memory", "1Gi")},
			build.Amounts("memory", "4Gi", "hugepages-2Mi", "1Gi", "hugepages-1Gi", "2Gi"),
		},
		{
			"memory ends at zero", build.Amounts("memory", "2Gi", "hugepages-1Gi", "2Gi"),
			cloudprovider.Overhead{KubeReserved: build.Amounts("memory", "1Gi")},
			build.Amounts("memory", "0", "hugepages-1Gi", "2Gi"),
		},
		{
			"others end at zero", build.Amounts("cpu", "1"),
			cloudprovider.Overhead{SystemReserved: build.Amounts("cpu", "2")}, build.Amounts("cpu", "0"),
		},
		{
			"overhead of what the instance lacks is nothing", build.Amounts("cpu", "1"),
			cloudprovider.Overhead{KubeReserved: build.Amounts("ephemeral-storage", "1Gi")}, build.Amounts("cpu", "1"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := &cloudprovider.InstanceType{Capacity: tt.capacity, Overhead: tt.overhead}
			before := it.DeepCopy()
			got := it.Allocatable()
			if diff := cmp.Diff(tt.want, got, sameAmounts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for name := range got {
				got[name] = build.Amounts("x", "999")["x"]
			}
			if diff := cmp.Diff(before.Capacity, it.Capacity, sameAmounts); diff != "" {
				t.Errorf("the type shares its capacity (-want +got):\n%s", diff)
			}
		})
	}
}

// SCH-158, PRV-181: an offering's entries take the place of the type's, one by one.
func TestOfferingOverridesResources(t *testing.T) {
	it := &cloudprovider.InstanceType{
		Capacity: build.Amounts("cpu", "4", "memory", "16Gi"),
		Overhead: cloudprovider.Overhead{
			KubeReserved:      build.Amounts("cpu", "100m", "memory", "1Gi"),
			EvictionThreshold: build.Amounts("memory", "1Gi"),
		},
	}
	tests := []struct {
		name     string
		offering cloudprovider.Offering
		want     corev1.ResourceList
	}{
		{"none", cloudprovider.Offering{}, build.Amounts("cpu", "3900m", "memory", "14Gi")},
		{
			"capacity of one resource and a new one", cloudprovider.Offering{Capacity: build.Amounts("memory", "12Gi", "x.test/gpu", "1")},
			build.Amounts("cpu", "3900m", "memory", "10Gi", "x.test/gpu", "1"),
		},
		{
			"one entry of one part of the overhead",
			cloudprovider.Offering{Overhead: &cloudprovider.Overhead{KubeReserved: build.Amounts("memory", "3Gi")}},
			build.Amounts("cpu", "3900m", "memory", "12Gi"),
		},
		{
			"both",
			cloudprovider.Offering{
				Capacity: build.Amounts("cpu", "2"),
				Overhead: &cloudprovider.Overhead{SystemReserved: build.Amounts("cpu", "400m"), EvictionThreshold: build.Amounts("memory", "0")},
			},
			build.Amounts("cpu", "1500m", "memory", "15Gi"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, it.AllocatableOf(&tt.offering), sameAmounts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(build.Amounts("cpu", "3900m", "memory", "14Gi"), it.Allocatable(), sameAmounts); diff != "" {
		t.Errorf("the type was changed (-want +got):\n%s", diff)
	}
}

func TestInstanceTypeDeepCopySharesNothing(t *testing.T) {
	it := testType("x", offering("a", "spot", 1))
	it.Offerings[0].Capacity = build.Amounts("x.test/gpu", "1")
	it.Offerings[0].Overhead = &cloudprovider.Overhead{KubeReserved: build.Amounts("cpu", "1")}
	it.VolumeLimits = map[string]int32{"csi.cloud.test": 24}
	want := it.DeepCopy()
	copied := it.DeepCopy()
	if diff := cmp.Diff(it, copied, sameAmounts); diff != "" {
		t.Fatalf("the copy differs (-want +got):\n%s", diff)
	}
	delete(copied.Capacity, "cpu")
	delete(copied.Overhead.KubeReserved, "cpu")
	delete(copied.Offerings[0].Capacity, "x.test/gpu")
	delete(copied.Offerings[0].Overhead.KubeReserved, "cpu")
	copied.Offerings[0].Price = 2
	copied.VolumeLimits["csi.cloud.test"] = 1
	if diff := cmp.Diff(want, it, sameAmounts); diff != "" {
		t.Errorf("the original changed (-want +got):\n%s", diff)
	}
	if (*cloudprovider.InstanceType)(nil).DeepCopy() != nil {
		t.Error("a copy of nil is not nil")
	}
}
