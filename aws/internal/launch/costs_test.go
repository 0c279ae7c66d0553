package launch_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// costing adds to the prices of the types by name.
func costing(extra map[string]float64) cloudprovider.LaunchCost {
	return func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 { return o.Price + extra[t.Name] }
}

// What nodes are expected to cost decides what is asked for: the order, what is left out of too many types, and whether spot is worth it.
func TestChooseByCost(t *testing.T) {
	spot := []*cloudprovider.InstanceType{
		instanceType("c6.large", offering("spot", "a", 0.09)), instanceType("m7.large", offering("spot", "a", 0.11)), instanceType("r5.large", offering("on-demand", "a", 0.12)),
	}
	for name, c := range map[string]struct {
		cost cloudprovider.LaunchCost
		want []string // in order
	}{
		"by price":                          {nil, []string{"c6.large a spot", "m7.large a spot"}},
		"nothing is added":                  {costing(nil), []string{"c6.large a spot", "m7.large a spot"}},
		"often interrupted":                 {costing(map[string]float64{"c6.large": 0.025}), []string{"m7.large a spot", "c6.large a spot"}},
		"spot costs more than on-demand":    {costing(map[string]float64{"c6.large": 0.04}), []string{"m7.large a spot"}},
		"no spot is worth its price":        {costing(map[string]float64{"c6.large": 0.04, "m7.large": 0.02}), []string{"r5.large a on-demand"}},
		"what is no cost counts as a price": {func(*cloudprovider.InstanceType, *cloudprovider.Offering) float64 { return -1 }, []string{"c6.large a spot", "m7.large a spot"}},
	} {
		w := wish()
		w.Cost = c.cost
		choice, err := launch.Choose(spot, w)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, candidate := range choice.Candidates {
			got = append(got, candidate.Type.Name+" "+candidate.Offering.Zone()+" "+candidate.Offering.CapacityType())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	types, extra := many(launch.MaxInstanceTypes+1), map[string]float64{}
	extra[types[0].Name] = 100
	w := wish()
	w.Cost = costing(extra)
	choice, err := launch.Choose(types, w)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(choice.Candidates, func(c cloudprovider.Candidate) bool { return c.Type.Name == types[0].Name }) || len(choice.InstanceTypes()) != launch.MaxInstanceTypes {
		t.Errorf("%d types, or among them the one that costs most", len(choice.InstanceTypes()))
	}
}

// EC2 is told the costs, and to go by them if their order is another than that of prices. Costs that hardly differ make the same request.
func TestFleetByCost(t *testing.T) {
	types := []*cloudprovider.InstanceType{
		instanceType("c6.large", offering("spot", "a", 0.0917)), instanceType("m7.large", offering("spot", "a", 0.1103)),
	}
	for name, c := range map[string]struct {
		cost     cloudprovider.LaunchCost
		strategy string
		want     map[string]float64
	}{
		"prices":                 {nil, "price-capacity-optimized", map[string]float64{"c6.large": 0.0917, "m7.large": 0.1103}},
		"nothing is added":       {costing(nil), "price-capacity-optimized", map[string]float64{"c6.large": 0.0917, "m7.large": 0.1103}},
		"the same order":         {costing(map[string]float64{"c6.large": 0.001}), "price-capacity-optimized", map[string]float64{"c6.large": 0.0927, "m7.large": 0.1103}},
		"another order":          {costing(map[string]float64{"c6.large": 0.0301}), "capacity-optimized-prioritized", map[string]float64{"c6.large": 0.122, "m7.large": 0.1103}},
		"another, a while later": {costing(map[string]float64{"c6.large": 0.03006}), "capacity-optimized-prioritized", map[string]float64{"c6.large": 0.122, "m7.large": 0.1103}},
	} {
		w := newWorld(t)
		w.expect(gives("i-1"))
		if _, err := w.launcher.Launch(t.Context(), launch.Request{NodeClaim: nodeClaim(), NodeClass: nodeClass(), InstanceTypes: types, Cost: c.cost}); err != nil {
			t.Fatal(name, err)
		}
		in := w.requests[0]
		if got := string(in.SpotOptions.AllocationStrategy); got != c.strategy {
			t.Errorf("%s: strategy %s, want %s", name, got, c.strategy)
		}
		got := map[string]float64{}
		for _, config := range in.LaunchTemplateConfigs {
			for _, o := range config.Overrides {
				got[string(o.InstanceType)] = aws.ToFloat64(o.Priority)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: priorities (-want +got):\n%s", name, diff)
		}
	}
}
