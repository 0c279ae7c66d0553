package scheduling_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/drawknife/drawknife/scheduling"
)

// A cost model is a file that says what nodes cost beyond their list prices; the plan then shows how each price came about
// and what the commitments were used for.
func ExampleCostModel() {
	costs, err := scheduling.DecodeCostModel(strings.NewReader(`
terms:
- name: reserved instances
  source: order 4711
  where:
    requirements:
    - {key: node.kubernetes.io/instance-type, operator: In, values: [m.2xlarge]}
  commitment: {amount: 1}
- name: monitoring
  source: price list of the vendor, per host
  perNode: 0.02
`))
	if err != nil {
		log.Fatal(err)
	}
	s := exampleSnapshot()
	s.CostModel = costs
	model, err := scheduling.Compile(s)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	for _, node := range plan.NewNodes {
		option := node.InstanceTypes[0]
		fmt.Printf("%s: %s for %.2f USD/h\n", node.Name, option.Name, option.Price)
		for _, term := range option.Terms {
			fmt.Printf("  %+.2f %s (%s)\n", term.Amount, term.Name, term.Source)
		}
	}
	for _, c := range plan.Commitments {
		fmt.Printf("%s: %v of %v %s used\n", c.Name, c.Existing+c.Planned, c.Amount, c.Unit)
	}
	fmt.Printf("no plan costs less than %.2f\n", plan.LowerBound)
	// Output:
	// default-1: m.2xlarge for 0.02 USD/h
	//   +0.39 list price (catalog "all")
	//   -0.39 reserved instances (order 4711)
	//   +0.02 monitoring (price list of the vendor, per host)
	// reserved instances: 1 of 1 nodes used
	// no plan costs less than 0.02
}
