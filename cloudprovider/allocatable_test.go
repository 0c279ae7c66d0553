package cloudprovider_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
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
		{"nothing kept", quantities("cpu", "2"), cloudprovider.Overhead{}, quantities("cpu", "2")},
		{
			"the three parts add up", quantities("cpu", "2", "memory", "8Gi"),
			cloudprovider.Overhead{
				KubeReserved:      quantities("cpu", "100m", "memory", "1Gi"),
				SystemReserved:    quantities("cpu", "100m"),
				EvictionThreshold: quantities("memory", "512Mi"),
			},
			quantities("cpu", "1800m", "memory", "6656Mi"),
		},
		{
			"every size of huge pages reduces memory", quantities("memory", "8Gi", "hugepages-2Mi", "1Gi", "hugepages-1Gi", "2Gi"),
			cloudprovider.Overhead{KubeReserved: quantities("memory", "1Gi")},
			quantities("memory", "4Gi", "hugepages-2Mi", "1Gi", "hugepages-1Gi", "2Gi"),
		},
		{
			"memory ends at zero", quantities("memory", "2Gi", "hugepages-1Gi", "2Gi"),
			cloudprovider.Overhead{KubeReserved: quantities("memory", "1Gi")},
			quantities("memory", "0", "hugepages-1Gi", "2Gi"),
		},
		{
			"others end at zero", quantities("cpu", "1"),
			cloudprovider.Overhead{SystemReserved: quantities("cpu", "2")}, quantities("cpu", "0"),
		},
		{
			"overhead of what the machine lacks is nothing", quantities("cpu", "1"),
			cloudprovider.Overhead{KubeReserved: quantities("ephemeral-storage", "1Gi")}, quantities("cpu", "1"),
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
				got[name] = quantities("x", "999")["x"]
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
		Capacity: quantities("cpu", "4", "memory", "16Gi"),
		Overhead: cloudprovider.Overhead{
			KubeReserved:      quantities("cpu", "100m", "memory", "1Gi"),
			EvictionThreshold: quantities("memory", "1Gi"),
		},
	}
	tests := []struct {
		name     string
		offering cloudprovider.Offering
		want     corev1.ResourceList
	}{
		{"none", cloudprovider.Offering{}, quantities("cpu", "3900m", "memory", "14Gi")},
		{
			"capacity of one resource and a new one", cloudprovider.Offering{Capacity: quantities("memory", "12Gi", "x.test/gpu", "1")},
			quantities("cpu", "3900m", "memory", "10Gi", "x.test/gpu", "1"),
		},
		{
			"one entry of one part of the overhead",
			cloudprovider.Offering{Overhead: &cloudprovider.Overhead{KubeReserved: quantities("memory", "3Gi")}},
			quantities("cpu", "3900m", "memory", "12Gi"),
		},
		{
			"both",
			cloudprovider.Offering{
				Capacity: quantities("cpu", "2"),
				Overhead: &cloudprovider.Overhead{SystemReserved: quantities("cpu", "400m"), EvictionThreshold: quantities("memory", "0")},
			},
			quantities("cpu", "1500m", "memory", "15Gi"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, it.AllocatableOf(&tt.offering), sameAmounts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(quantities("cpu", "3900m", "memory", "14Gi"), it.Allocatable(), sameAmounts); diff != "" {
		t.Errorf("the type was changed (-want +got):\n%s", diff)
	}
}

func TestInstanceTypeDeepCopySharesNothing(t *testing.T) {
	it := testType("x", offering("a", "spot", 1))
	it.Offerings[0].Capacity = quantities("x.test/gpu", "1")
	it.Offerings[0].Overhead = &cloudprovider.Overhead{KubeReserved: quantities("cpu", "1")}
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
