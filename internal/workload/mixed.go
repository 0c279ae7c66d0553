package workload

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Mixed returns the pods of Karpenter's own scheduling benchmark, on its 400 instance types. A fifth of the pods is plain, a fifth is
// spread over zones, a fifth is spread over hosts, a fifth has affinity by zone, and a fifth has anti-affinity by hostname. The labels of
// pods and the selectors of spread constraints are drawn independently, as in that benchmark. So some pods don't match their own selectors.
// The seed determines sizes and labels.
func Mixed(n int, seed uint64) *scheduling.Snapshot {
	s := snapshot(plainTypes(400))
	r := rng(seed, 4)
	fifth := n / 5
	for i := range n {
		pod := drawn(fmt.Sprintf("mixed-%05d", i), r)
		pod.Labels = map[string]string{"my-label": letter(r)}
		switch {
		case fifth == 0:
		case i/fifth == 1:
			spread(pod, LabelZone, letter(r))
		case i/fifth == 2:
			spread(pod, corev1.LabelHostname, letter(r))
		case i/fifth == 3:
			pod.Labels = map[string]string{"my-affinity": letter(r)}
			pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{itself(pod, LabelZone)},
			}}
		case i/fifth == 4:
			pod.Labels = map[string]string{"app": "nginx"}
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{itself(pod, corev1.LabelHostname)},
			}}
		}
		s.Pods = append(s.Pods, pod)
	}
	return s
}

// Preferring returns the pods with preferences of Karpenter's own scheduling benchmark. All pods are equal. They prefer the first zone,
// zones different from each other (which is impossible), and hostnames different from each other.
func Preferring(n int, seed uint64) *scheduling.Snapshot {
	s := snapshot(plainTypes(400))
	first := drawn("", rng(seed, 5))
	first.Labels = map[string]string{"app": "nginx"}
	first.Spec.Affinity = &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: LabelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"test-zone-1"}},
			}},
		}}},
		PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 10, PodAffinityTerm: itself(first, LabelZone)},
			{Weight: 1, PodAffinityTerm: itself(first, corev1.LabelHostname)},
		}},
	}
	for i := range n {
		pod := first.DeepCopy()
		pod.Name = fmt.Sprintf("preferring-%05d", i)
		s.Pods = append(s.Pods, pod)
	}
	return s
}

func letter(r *rand.Rand) string { return string(rune('a' + r.IntN(7))) }

// drawn returns a pod with random CPU and memory requests.
func drawn(name string, r *rand.Rand) *corev1.Pod {
	cpu := []int64{100, 250, 500, 1000, 1500}
	mem := []int64{100, 256, 512, 1024, 2048, 4096}
	return object(&Pod{Name: name, CPUm: cpu[r.IntN(len(cpu))], MemMi: mem[r.IntN(len(mem))]})
}

func spread(pod *corev1.Pod, key, selects string) {
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"my-label": selects}},
	}}
}

// itself returns a pod affinity term, with the topology key, that selects all pods with the same labels as the pod.
func itself(pod *corev1.Pod, key string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}}
}

// plainTypes returns n instance types like those of Karpenter's benchmark. The i-th type has i CPUs, 2i GiB and room for 10i pods. It
// reserves a tenth of a CPU and 10 MiB for the system. It costs ten cents per hour for each CPU and for each 10^9 bytes of memory. It has
// on-demand offerings in three zones, and spot offerings for the same price in two of these zones.
func plainTypes(n int) []*cloudprovider.InstanceType {
	types := make([]*cloudprovider.InstanceType, n)
	for i := range types {
		size := int64(i + 1)
		memory := size * 2 << 30
		t := &cloudprovider.InstanceType{
			Name: fmt.Sprintf("plain-%d", size),
			Requirements: requirements.NewSet(
				requirements.In(corev1.LabelInstanceTypeStable, fmt.Sprintf("plain-%d", size)),
				requirements.In(corev1.LabelArchStable, "amd64"),
				requirements.In(corev1.LabelOSStable, "linux"),
			),
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewQuantity(size, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
				corev1.ResourcePods:   *resource.NewQuantity(size*10, resource.DecimalSI),
			},
			Overhead: cloudprovider.Overhead{KubeReserved: corev1.ResourceList{
				corev1.ResourceCPU:    resource.MustParse("100m"),
				corev1.ResourceMemory: resource.MustParse("10Mi"),
			}},
		}
		for _, o := range []struct{ capacityType, zone string }{
			{"spot", "test-zone-1"}, {"spot", "test-zone-2"},
			{"on-demand", "test-zone-1"}, {"on-demand", "test-zone-2"}, {"on-demand", "test-zone-3"},
		} {
			t.Offerings = append(t.Offerings, cloudprovider.Offering{
				Requirements: requirements.NewSet(requirements.In(LabelZone, o.zone), requirements.In(LabelCapacityType, o.capacityType)),
				Price:        0.1*float64(size) + 0.1*float64(memory)/1e9,
				Available:    true,
			})
		}
		types[i] = t
	}
	return types
}
