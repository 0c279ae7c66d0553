package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/scheduling"
)

// Apart returns the pods of Mixed with only one of the rules of Mixed. A fifth of the pods, of all sizes, form one group with anti-affinity
// by hostname. The other pods have no rules between pods.
func Apart(n int, seed uint64) *scheduling.Snapshot {
	s := Mixed(n, seed)
	for _, pod := range s.Pods {
		pod.Spec.TopologySpreadConstraints = nil
		if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
			pod.Spec.Affinity = nil
		}
	}
	return s
}

// ApartEC2 has the pods of Apart and the types of Catalog.
func ApartEC2(n int, seed uint64) *scheduling.Snapshot {
	s := Snapshot(Catalog(), nil, nil)
	s.Pods = Apart(n, seed).Pods
	return s
}

// GPUs returns n pods on the types of Catalog. Two of five pods request 1, 2, 4 or 8 whole GPUs. Pods with more GPUs also request more CPU
// and memory. The other three of five pods have the sizes of the pods of Deployments. No pod has rules between pods.
func GPUs(n int, seed uint64) *scheduling.Snapshot {
	r := rng(seed, 6)
	sizes := shapes(rng(seed, 1))
	s := Snapshot(Catalog(), nil, nil)
	for i := range n {
		p := Pod{Name: fmt.Sprintf("gpu-%05d", i), App: "gpu"}
		gpus := int64(0)
		if r.IntN(5) < 2 {
			gpus = []int64{1, 1, 1, 1, 2, 2, 4, 8}[r.IntN(8)]
			p.CPUm = gpus * []int64{500, 1000, 2000, 4000, 6000}[r.IntN(5)]
			p.MemMi = p.CPUm * []int64{2, 4, 8}[r.IntN(3)] * 1024 / 1000
		} else {
			size := sizes[r.IntN(len(sizes))]
			p.CPUm, p.MemMi = size[0], size[1]
		}
		pod := object(&p)
		if gpus > 0 {
			list := &pod.Spec.Containers[0].Resources
			list.Requests["nvidia.com/gpu"] = *resource.NewQuantity(gpus, resource.DecimalSI)
			list.Limits = corev1.ResourceList{"nvidia.com/gpu": list.Requests["nvidia.com/gpu"]}
		}
		s.Pods = append(s.Pods, pod)
	}
	return s
}
