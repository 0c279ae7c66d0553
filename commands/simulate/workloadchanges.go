package simulate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// workloadSize is how much of a cluster a workload takes: its pods, with their requests.
type workloadSize struct {
	Pods int
	// CPU (in cores) and Memory (in GiB) are the requests of its pods.
	CPU, Memory float64
}

func (z *workloadSize) add(pod *corev1.Pod) {
	requests := scheduling.PodRequests(pod)
	z.Pods++
	z.CPU += requests.Cpu().AsApproximateFloat64()
	z.Memory += requests.Memory().AsApproximateFloat64() / (1 << 30)
}

// workloadChange is a workload whose size differs.
type workloadChange struct {
	workload      workload
	before, after workloadSize
}

// change is "added", "removed" or "changed".
func (c workloadChange) change() string {
	switch {
	case c.before.Pods == 0:
		return "added"
	case c.after.Pods == 0:
		return "removed"
	}
	return "changed"
}

// compareWorkloads returns the workloads whose number of pods or whose requests differ, by namespace and name.
func compareWorkloads(before, after *scheduling.Snapshot) []workloadChange {
	was, is := sizesOf(before), sizesOf(after)
	var list []workloadChange
	for w, size := range was {
		if is[w].differs(size) {
			list = append(list, workloadChange{w, size, is[w]})
		}
	}
	for w, size := range is {
		if _, known := was[w]; !known {
			list = append(list, workloadChange{w, workloadSize{}, size})
		}
	}
	slices.SortFunc(list, func(a, b workloadChange) int { return a.workload.compare(b.workload) })
	return list
}

// differs compares sizes. Sums of equal numbers in another order may differ in the last digits.
func (z workloadSize) differs(other workloadSize) bool {
	near := func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }
	return z.Pods != other.Pods || !near(z.CPU, other.CPU) || !near(z.Memory, other.Memory)
}

// sizesOf returns the sizes of all workloads; DaemonSets and static pods are not counted.
func sizesOf(snapshot *scheduling.Snapshot) map[workload]workloadSize {
	sizes, deployments := map[workload]workloadSize{}, deploymentsOf(snapshot)
	add := func(pod *corev1.Pod) {
		w := workloadOf(pod, deployments)
		z := sizes[w]
		z.add(pod)
		sizes[w] = z
	}
	for _, pod := range snapshot.Pods {
		add(pod)
	}
	for i := range snapshot.Nodes {
		for _, pod := range snapshot.Nodes[i].Pods {
			if !pods.OwnedByDaemonSet(pod) && !pods.Static(pod) && !pods.Terminal(pod) {
				add(pod)
			}
		}
	}
	return sizes
}
