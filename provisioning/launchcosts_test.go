package provisioning_test

import (
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
)

// Launches count what the last plan counted, and a launch that has begun keeps its costs.
func TestLaunchCosts(t *testing.T) {
	it := build.InstanceType("m5.large", build.Spot("a", 0.04))
	fee := func(usd float64) *scheduling.CostModel {
		return &scheduling.CostModel{Terms: []scheduling.CostTerm{{Name: "fee", Source: "test", PerNode: &usd}}}
	}
	costs, pool := &provisioning.LaunchCosts{}, v1.NewPoolKey("default")
	if costs.Of(pool) != nil || (*provisioning.LaunchCosts)(nil).Of(pool) != nil {
		t.Error("there are costs before any plan")
	}
	costs.Observe(&scheduling.Snapshot{CostModel: fee(0.01)})
	first := costs.Of(pool)
	costs.Observe(&scheduling.Snapshot{CostModel: fee(0.02)})
	second := costs.Of(pool)
	if a, b := first(it, &it.Offerings[0]), second(it, &it.Offerings[0]); a != 0.05 || b != 0.06 {
		t.Errorf("%v, then %v", a, b)
	}
	for name, model := range map[string]*scheduling.CostModel{"none": nil, "refused": {Terms: []scheduling.CostTerm{{}}}} {
		costs.Observe(&scheduling.Snapshot{CostModel: fee(0.02)})
		if costs.Observe(&scheduling.Snapshot{CostModel: model}); costs.Of(pool) != nil {
			t.Errorf("%s: the costs of an earlier plan count", name)
		}
	}
}
