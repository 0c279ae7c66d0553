package judge

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	podresource "k8s.io/component-helpers/resource"

	"github.com/drawknife/drawknife/cloudprovider"
)

// amounts are amounts of resources as integers, in the order of Judge.resources. CPU is in thousandths of a core, memory is in bytes, and
// other resources are counted in units.
type amounts []int64

// findResources sets the list of all resources that pods of the workload request.
func (j *Judge) findResources() {
	found := map[corev1.ResourceName]bool{corev1.ResourcePods: true}
	collect := func(pod *corev1.Pod) {
		for name := range podresource.PodRequests(pod, podresource.PodResourcesOptions{}) {
			found[name] = true
		}
	}
	for _, pod := range j.s.Pods {
		collect(pod)
	}
	for i := range j.s.Nodes {
		for _, pod := range j.s.Nodes[i].Pods {
			collect(pod)
		}
	}
	for _, pod := range j.daemons {
		collect(pod)
	}
	j.resources = slices.Sorted(maps.Keys(found))
}

// vector converts a list to amounts. Amounts that pods request are rounded up, as in Kubernetes. The amounts of nodes are whole numbers, so
// they are not rounded.
func (j *Judge) vector(list corev1.ResourceList) amounts {
	v := make(amounts, len(j.resources))
	for i, name := range j.resources {
		q, stated := list[name]
		switch {
		case !stated:
		case name == corev1.ResourceCPU:
			v[i] = q.MilliValue()
		default:
			v[i] = q.Value()
		}
	}
	return v
}

// requests returns the requests of a pod, plus 1 of the resource "pods".
func (j *Judge) requests(pod *corev1.Pod) amounts {
	list := maps.Clone(podresource.PodRequests(pod, podresource.PodResourcesOptions{}))
	v := j.vector(list)
	v[slices.Index(j.resources, corev1.ResourcePods)] = 1
	return v
}

func (a amounts) subtract(b amounts) {
	for i := range a {
		a[i] -= b[i]
	}
}

func (a amounts) add(b amounts) {
	for i := range a {
		a[i] += b[i]
	}
}

// lacking returns the index of the first resource of which the receiver has less than the parameter b requires, or -1 if the receiver has
// enough of all resources.
func (a amounts) lacking(b amounts) int {
	for i := range a {
		if b[i] > 0 && a[i] < b[i] {
			return i
		}
	}
	return -1
}

// allocatable returns the resources that pods can use on a node of the type with this offering: its capacity without the overhead and
// without memory reserved for huge pages.
func allocatable(it *cloudprovider.InstanceType, o *cloudprovider.Offering) corev1.ResourceList {
	out := maps.Clone(it.Capacity)
	maps.Copy(out, o.Capacity)
	memory := out[corev1.ResourceMemory]
	for name, q := range out {
		if len(name) > len(corev1.ResourceHugePagesPrefix) && name[:len(corev1.ResourceHugePagesPrefix)] == corev1.ResourceHugePagesPrefix {
			memory.Sub(q)
		}
	}
	if _, stated := out[corev1.ResourceMemory]; stated {
		out[corev1.ResourceMemory] = memory
	}
	replaced := func(base, by corev1.ResourceList) corev1.ResourceList {
		base = maps.Clone(base)
		if base == nil {
			base = corev1.ResourceList{}
		}
		maps.Copy(base, by)
		return base
	}
	var by cloudprovider.Overhead
	if o.Overhead != nil {
		by = *o.Overhead
	}
	for _, kept := range []corev1.ResourceList{
		replaced(it.Overhead.KubeReserved, by.KubeReserved),
		replaced(it.Overhead.SystemReserved, by.SystemReserved),
		replaced(it.Overhead.EvictionThreshold, by.EvictionThreshold),
	} {
		for name, q := range kept {
			if have, stated := out[name]; stated {
				have.Sub(q)
				out[name] = have
			}
		}
	}
	return out
}
