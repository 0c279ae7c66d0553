package instancetype_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

// FuzzKubelet reads quantities and percentages of a kubelet block. Whatever is accepted leaves something for pods, and
// no threshold is negative.
func FuzzKubelet(f *testing.F) {
	f.Add("100Mi", "10%", "100m", "1Gi")
	f.Add("99.999999999%", "100%", "0", "1e3")
	f.Add("0%", "0.000000001%", "", "-1")
	f.Add("9223372036854775807", "1E", "1n", "9E")
	c := invented(f, catalog.Type{Name: "m5.large"})
	f.Fuzz(func(t *testing.T, memory, disk, cpu, reserved string) {
		types, err := instancetype.ResolveSettings(c, instancetype.Settings{Kubelet: instancetype.Kubelet{
			EvictionHard:   map[string]string{"memory.available": memory, "nodefs.available": disk},
			KubeReserved:   map[string]string{"cpu": cpu},
			SystemReserved: map[string]string{"memory": reserved},
		}})
		if err != nil {
			return
		}
		for _, it := range types {
			for name, q := range it.Overhead.EvictionThreshold {
				if q.Sign() < 0 {
					t.Errorf("threshold of %s is %s", name, q.String())
				}
			}
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				left, have := it.Allocatable()[name], it.Capacity[name]
				if left.Sign() <= 0 || left.Cmp(have) > 0 {
					t.Errorf("%s of %s are left of %s", left.String(), name, have.String())
				}
			}
		}
	})
}
