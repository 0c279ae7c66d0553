package cloudprovider

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Total returns the sum of all parts, per resource. The caller owns the list.
func (o Overhead) Total() corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, part := range []corev1.ResourceList{o.KubeReserved, o.SystemReserved, o.EvictionThreshold} {
		for name, quantity := range part {
			sum := total[name]
			sum.Add(quantity)
			total[name] = sum
		}
	}
	return total
}

// Allocatable returns the amounts that pods can use on an instance of this type: capacity minus overhead. It assumes that the offering does
// not override resources. Memory is also reduced by the capacity of huge pages. No amount is below zero. The caller owns the list.
func (t *InstanceType) Allocatable() corev1.ResourceList {
	return allocatable(t.Capacity, t.Overhead)
}

// CapacityOf returns the capacity of an instance bought by the offering. It is the type's capacity; if the offering has an entry for a
// resource, that entry replaces the type's entry. The caller owns the list.
func (t *InstanceType) CapacityOf(o *Offering) corev1.ResourceList {
	if o == nil {
		return replaceEntries(t.Capacity, nil)
	}
	return replaceEntries(t.Capacity, o.Capacity)
}

// OverheadOf returns the overhead of an instance bought by the offering: the type's overhead. In each part of the overhead, the offering's
// entry for a resource replaces the type's entry. The caller owns the lists.
func (t *InstanceType) OverheadOf(o *Offering) Overhead {
	var replacement Overhead
	if o != nil && o.Overhead != nil {
		replacement = *o.Overhead
	}
	return Overhead{
		KubeReserved:      replaceEntries(t.Overhead.KubeReserved, replacement.KubeReserved),
		SystemReserved:    replaceEntries(t.Overhead.SystemReserved, replacement.SystemReserved),
		EvictionThreshold: replaceEntries(t.Overhead.EvictionThreshold, replacement.EvictionThreshold),
	}
}

// AllocatableOf returns the amounts that pods can use on an instance bought by the offering, by the same formula as Allocatable. The caller
// owns the list.
func (t *InstanceType) AllocatableOf(o *Offering) corev1.ResourceList {
	if o == nil || !o.OverridesResources() {
		return t.Allocatable()
	}
	return allocatable(t.CapacityOf(o), t.OverheadOf(o))
}

// OverridesResources reports whether the offering has its own capacity or overhead, which replaces parts of the type's.
func (o *Offering) OverridesResources() bool { return len(o.Capacity) > 0 || o.Overhead != nil }

func allocatable(capacity corev1.ResourceList, overhead Overhead) corev1.ResourceList {
	kept := overhead.Total()
	left := make(corev1.ResourceList, len(capacity))
	var hugePages resource.Quantity
	for name, quantity := range capacity {
		rest := quantity.DeepCopy()
		if k, ok := kept[name]; ok {
			rest.Sub(k)
		}
		left[name] = rest
		// Huge pages are reserved in the instance's memory at boot, so ordinary pods can't use that memory.
		if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			hugePages.Add(quantity)
		}
	}
	if memory, ok := left[corev1.ResourceMemory]; ok && !hugePages.IsZero() {
		memory.Sub(hugePages)
		left[corev1.ResourceMemory] = memory
	}
	for name, quantity := range left {
		if quantity.Sign() < 0 {
			left[name] = *resource.NewQuantity(0, quantity.Format)
		}
	}
	return left
}

// replaceEntries returns a new list: base, overridden by the entries of replacement. The result is nil if base and replacement are nil.
func replaceEntries(base, replacement corev1.ResourceList) corev1.ResourceList {
	if base == nil && replacement == nil {
		return nil
	}
	list := make(corev1.ResourceList, max(len(base), len(replacement)))
	maps.Copy(list, base.DeepCopy())
	maps.Copy(list, replacement.DeepCopy())
	return list
}
