package market_test

import (
	"slices"
	"testing"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/engine/market"
)

func instanceType(name, cpu string, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	return &cloudprovider.InstanceType{
		Name: name, Requirements: requirements.NewSet(requirements.In("size", name)), Offerings: offerings,
		Capacity: build.Amounts("cpu", cpu),
	}
}

// two types: the large one is not on spot in b.
func types() []*cloudprovider.InstanceType {
	small := instanceType("small", "2", build.Offering("a", "on-demand", 0.1), build.Offering("a", "spot", 0.04), build.Offering("b", "on-demand", 0.11), build.Offering("b", "spot", 0.03))
	large := instanceType("large", "4", build.Offering("a", "on-demand", 0.2), build.Offering("a", "spot", 0.07), build.Offering("b", "on-demand", 0.22))
	return []*cloudprovider.InstanceType{small, large}
}

// A catalog has each type once, by name, and each way to buy one as a slot; requirements are sets over one of both.
func TestCatalog(t *testing.T) {
	c := market.NewCatalog("c", types())
	if c.Types[0].Name != "large" || len(c.Variants) != 2 || len(c.Slots) != 4 {
		t.Fatalf("%d variants of %s first, %d slots", len(c.Variants), c.Types[0].Name, len(c.Slots))
	}
	if !slices.IsSortedFunc(c.Slots, func(a, b market.Slot) int { return slices.Compare([]string{a.Zone}, []string{b.Zone}) }) {
		t.Error("slots are not in the order of zones")
	}
	spot := c.SlotMask(requirements.In(v1.CapacityTypeLabelKey, "spot"))
	small := c.VariantMask(requirements.In("size", "small"))
	if spot.Count() != 2 || small.Count() != 1 || !small.Has(1) {
		t.Errorf("spot is %v, small %v", spot, small)
	}
	if none := c.VariantMask(requirements.Exists("gpu")); !none.Empty() {
		t.Errorf("types have a label that none states: %v", none)
	}
	for variant, want := range map[int]string{0: "a", 1: "b"} {
		if slot, _ := c.Cheapest(variant, c.AllSlots, spot); slot < 0 || c.Slots[slot].Zone != want {
			t.Errorf("variant %d is cheapest on spot in slot %d, want zone %s", variant, slot, want)
		}
	}
	for s := range c.Slots {
		if gone := c.Slots[s].Zone == "b" && c.Slots[s].CapacityType == "spot"; (c.Price(0, s) == market.NoPrice) != gone {
			t.Errorf("large costs %d in %s, %s", c.Price(0, s), c.Slots[s].Zone, c.Slots[s].CapacityType)
		}
	}
}

// Terms apply in their order, to what they name, and lines add up to the price.
func TestTerms(t *testing.T) {
	discount, fee := -10.0, 0.005
	costs := &market.Costs{Terms: []market.Term{
		{Name: "discount", Source: "contract", Percent: &discount, Where: []requirements.Requirement{requirements.In(v1.CapacityTypeLabelKey, "on-demand")}},
		{Name: "fee", Source: "bill", PerNode: &fee},
	}}
	inPool, _ := costs.PoolTerms(v1.PoolKey{})
	c := market.NewCatalog("c", types()).Reprice(costs, inPool, "catalog")
	for s := range c.Slots {
		want := map[string]int64{"aon-demand": 95_000_000, "aspot": 45_000_000, "bon-demand": 104_000_000, "bspot": 35_000_000}[c.Slots[s].Zone+c.Slots[s].CapacityType]
		if got := c.Price(1, s); got != want {
			t.Errorf("small costs %d in %s, %s, want %d", got, c.Slots[s].Zone, c.Slots[s].CapacityType, want)
		}
		sum := int64(0)
		for _, l := range c.Lines(1, s, nil) {
			sum += market.NanoUSD(l.Amount)
		}
		if sum != want {
			t.Errorf("lines add up to %d, want %d", sum, want)
		}
	}
}

// A commitment is used up by the node that saves most for what it uses, the last one in part.
func TestCommitmentsAreFilled(t *testing.T) {
	costs := &market.Costs{
		Terms:       []market.Term{{Name: "plan", Commitment: &market.Commitment{Amount: market.Whole}}},
		Commitments: []int{0},
	}
	node := func(name string, plain, used int64) *market.Covered {
		return &market.Covered{InstanceType: name, Plain: plain, By: []market.Coverage{{Price: 0, Used: used}}, Rest: market.Whole}
	}
	nodes := []*market.Covered{node("poor", 100, market.Whole/2), node("good", 300, market.Whole*3/4)}
	left := costs.FillNew([]int64{market.Whole}, nodes)
	if left[0] != 0 || nodes[1].Saved() != 300 || nodes[0].Saved() != 50 {
		t.Errorf("left %d, saved %d and %d, want 0, 50 and 300", left[0], nodes[0].Saved(), nodes[1].Saved())
	}
}
