package planner

import (
	"sort"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/drawknife/drawknife/api/requirements"
	dkv1 "github.com/drawknife/drawknife/api/v1"
	dkcp "github.com/drawknife/drawknife/cloudprovider"
)

// vocabulary returns the labels that Karpenter's providers have registered in the variables of Karpenter's packages.
func vocabulary() requirements.Vocabulary {
	extra := requirements.Vocabulary{WellKnown: v1.WellKnownLabels.UnsortedList(), Aliases: map[string]string{}}
	sort.Strings(extra.WellKnown)
	for alias, key := range v1.NormalizedLabels {
		extra.Aliases[alias] = key
	}
	return requirements.CoreVocabulary().Merge(extra)
}

func catalog(in []*cloudprovider.InstanceType) ([]*dkcp.InstanceType, error) {
	out := make([]*dkcp.InstanceType, 0, len(in))
	for _, t := range in {
		reqs, err := set(t.Requirements)
		if err != nil {
			return nil, err
		}
		n := &dkcp.InstanceType{Name: t.Name, Requirements: reqs, Capacity: t.Capacity, Overhead: overhead(t.Overhead), Devices: devicesOf(t)}
		for _, o := range t.Offerings {
			if reqs, err = set(o.Requirements); err != nil {
				return nil, err
			}
			offering := dkcp.Offering{
				Requirements: reqs, Price: o.Price, Available: o.Available, ReservationCapacity: o.ReservationCapacity, Capacity: o.CapacityOverride,
			}
			if o.OverheadOverride != nil {
				instead := overhead(o.OverheadOverride)
				offering.Overhead = &instead
			}
			n.Offerings = append(n.Offerings, offering)
		}
		out = append(out, n)
	}
	return out, nil
}

func overhead(o *cloudprovider.InstanceTypeOverhead) dkcp.Overhead {
	if o == nil {
		return dkcp.Overhead{}
	}
	return dkcp.Overhead{KubeReserved: o.KubeReserved, SystemReserved: o.SystemReserved, EvictionThreshold: o.EvictionThreshold}
}

func set(rs scheduling.Requirements) (requirements.Set, error) {
	var out requirements.Set
	for _, entry := range rs.NodeSelectorRequirements() {
		if entry.Operator == "DoesNotExist" || entry.Operator == "Exists" {
			entry.Values = nil
		}
		ours, err := convert[dkv1.NodeSelectorRequirementWithMinValues](entry)
		if err != nil {
			return out, err
		}
		one, err := requirements.ParseSet([]dkv1.NodeSelectorRequirementWithMinValues{*ours})
		if err != nil {
			return out, err
		}
		out = out.Merge(one)
	}
	return out, nil
}
