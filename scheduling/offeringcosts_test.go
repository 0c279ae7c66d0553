package scheduling_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// An offering costs outside of plans what it costs in them, by every kind of term.
func TestOfferingCosts(t *testing.T) {
	types := []*cloudprovider.InstanceType{
		sold(typeOf("m", 0, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 1), offering("a", v1.CapacityTypeSpot, 0.4), offering("b", v1.CapacityTypeSpot, 0.5)),
		sold(typeOf("c", 0, "cpu=4", "memory=8Gi"), offering("a", v1.CapacityTypeOnDemand, 0.8), offering("b", v1.CapacityTypeSpot, 0.3)),
	}
	const terms = `terms:
- {name: discount, source: s, percent: -10, where: {requirements: [{key: karpenter.sh/capacity-type, operator: NotIn, values: [spot]}]}}
- {name: fixed, source: s, price: 0.7, where: {nodePools: [other]}}
- {name: risk, source: s, offerings: [{offering: {instanceType: m, zone: a, capacityType: spot}, amount: 0.2}]}
- {name: fee, source: s, perNode: 0.05, where: {requirements: [{key: beta.kubernetes.io/instance-type, operator: In, values: [m]}]}}
- {name: memory, source: s, perResource: {memory: 0.01}, where: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [b]}]}}
`
	costs, err := scheduling.NewOfferingCosts(&scheduling.Snapshot{CostModel: decoded(t, terms+"- {name: paid, source: s, commitment: {amount: 5}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range types {
		for i := range it.Offerings {
			o := &it.Offerings[i]
			s := cluster(types[0], types[1], pod("p", selector(capacityKey+"="+o.CapacityType(), corev1.LabelTopologyZone+"="+o.Zone(), corev1.LabelInstanceTypeStable+"="+it.Name)))
			s.CostModel = decoded(t, terms) // without the commitment, which a plan uses
			plan := solve(t, s)
			if len(plan.NewNodes) != 1 {
				t.Fatalf("%s: %d nodes", cloudprovider.KeyOf(it, o), len(plan.NewNodes))
			}
			n := plan.NewNodes[0]
			if got, want := costs.Of(n.Pool, it, o), n.InstanceTypes[0].Price; got != want {
				t.Errorf("%s: %v, and %v in the plan", cloudprovider.KeyOf(it, o), got, want)
			}
		}
	}
	if got := costs.Of(v1.NewPoolKey("other"), types[1], &types[1].Offerings[0]); got != 0.7 {
		t.Errorf("in another pool it costs %v, want 0.7", got)
	}
	var none *scheduling.OfferingCosts
	if got := none.Of(v1.PoolKey{}, types[0], &types[0].Offerings[0]); got != 1 || none.Of(v1.PoolKey{}, nil, nil) != 0 {
		t.Errorf("without terms it costs %v, want its price", got)
	}
	if empty, err := scheduling.NewOfferingCosts(&scheduling.Snapshot{}); empty != nil || err != nil {
		t.Error(empty, err)
	}
	var wrong *scheduling.SnapshotError
	if _, err := scheduling.NewOfferingCosts(&scheduling.Snapshot{CostModel: &scheduling.CostModel{Terms: []scheduling.CostTerm{{}}}}); !errors.As(err, &wrong) {
		t.Error(err)
	}
}
