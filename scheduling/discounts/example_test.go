package discounts_test

import (
	"context"
	"fmt"
	"log"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/discounts"
)

// Five pods need a node each. Three nodes are paid for already and are on demand; the others are spot, with the discount.
func Example() {
	s, paid := snapshot(5), account()
	terms, err := discounts.Terms(paid, paid.Available("web", discounts.Use(paid, s), nil, now))
	if err != nil {
		log.Fatal(err)
	}
	s.CostModel = &scheduling.CostModel{Terms: terms}
	model, err := scheduling.Compile(s)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	count := map[string]int{}
	for _, node := range plan.NewNodes {
		count[node.InstanceTypes[0].CapacityType]++
	}
	fmt.Printf("%d on demand, %d spot, for %.3f USD/h\n", count["on-demand"], count["spot"], plan.HourlyCost)
	for _, c := range plan.Commitments {
		fmt.Printf("%s: %.2f of %.2f %s\n", c.Name, c.Planned, c.Amount, c.Unit)
	}
	// Output:
	// 3 on demand, 2 spot, for 0.126 USD/h
	// commitment ri/a: 1.00 of 1.00 instances
	// commitment sp/1: 0.30 of 0.30 USD/h
}
