package offerings_test

import (
	"context"
	"fmt"
	"log"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/prices"
)

// The instances of a node class, with the built-in prices, after EC2 had no room in one zone.
func Example() {
	facts, err := catalog.Embedded()
	if err != nil {
		log.Fatal(err)
	}
	board, err := prices.NewBoard(prices.Options{Region: "us-east-1", Static: prices.Static(facts, "us-east-1")})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := board.Refresh(context.Background()); err != nil { // reads nothing: there is no feed
		log.Fatal(err)
	}
	memory := unavailable.New(unavailable.Options{Now: start})
	memory.Observe(unavailable.Failure{Code: "InsufficientInstanceCapacity", CapacityType: "on-demand", InstanceType: "m5.large", Zone: "us-east-1a"})

	class := &awsv1.EC2NodeClass{}
	class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "us-east-1a"}, {ID: "subnet-2", Zone: "us-east-1b"}}
	view, err := offerings.NewView(facts, class, offerings.Options{})
	if err != nil {
		log.Fatal(err)
	}
	market := offerings.Market{Catalog: facts, Prices: board.Book(), Unavailable: memory.Snapshot(), Time: start()}

	var store offerings.Store
	types, err := store.Types(market, view)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(types), "types")
	explained, err := offerings.Explain(market, view, "m5.large")
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range explained[:3] {
		fmt.Printf("%s %s $%.3f %q\n", e.Key.Zone, e.Key.CapacityType, e.Price, e.Reason)
	}
	// Output:
	// 1345 types
	// us-east-1a on-demand $0.096 "out of stock"
	// us-east-1a spot $0.096 ""
	// us-east-1b on-demand $0.096 ""
}
