package main

import (
	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// instanceTypes converts the types of a catalog to those that a provider returns to the scheduler.
func instanceTypes(catalog []instanceType) []*cloudprovider.InstanceType {
	types := make([]*cloudprovider.InstanceType, len(catalog))
	for i, t := range catalog {
		types[i] = &cloudprovider.InstanceType{
			Name:         t.Name,
			Requirements: typeRequirements(t),
			Capacity:     t.Capacity,
			Overhead:     t.Overhead.convert(),
		}
		if types[i].Overhead == nil {
			types[i].Overhead = &cloudprovider.InstanceTypeOverhead{}
		}
		for _, o := range t.Offerings {
			types[i].Offerings = append(types[i].Offerings, &cloudprovider.Offering{
				Requirements: scheduling.NewNodeSelectorRequirementsWithMinValues(o.Requirements...),
				Price:        o.Price, Available: o.Available, ReservationCapacity: o.ReservationCapacity,
				CapacityOverride: o.Capacity, OverheadOverride: o.Overhead.convert(),
			})
		}
	}
	return types
}

// typeRequirements returns the requirements that the type states. For keys that only the offerings state, it returns the values of all
// available offerings. From these, the scheduler knows which zones exist.
func typeRequirements(t instanceType) scheduling.Requirements {
	all := scheduling.NewNodeSelectorRequirementsWithMinValues(t.Requirements...)
	values := make(map[string][]string)
	for _, o := range t.Offerings {
		for _, r := range o.Requirements {
			if !all.Has(r.Key) && o.Available {
				values[r.Key] = append(values[r.Key], r.Values...)
			}
		}
	}
	for _, key := range []string{corev1.LabelTopologyZone, v1.CapacityTypeLabelKey} {
		if !all.Has(key) && values[key] == nil {
			all.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist))
		}
	}
	for _, key := range sortedKeys(values) {
		all.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, values[key]...))
	}
	return all
}

func (o *overhead) convert() *cloudprovider.InstanceTypeOverhead {
	if o == nil {
		return nil
	}
	return &cloudprovider.InstanceTypeOverhead{
		KubeReserved: o.KubeReserved, SystemReserved: o.SystemReserved, EvictionThreshold: o.EvictionThreshold,
	}
}
