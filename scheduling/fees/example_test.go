package fees_test

import (
	"fmt"
	"log"

	"github.com/drawknife/drawknife/scheduling/fees"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Two fees become terms of a cost model: a public address of each node, and 100 GB of its root volume.
func Example() {
	choices, err := fees.Parse("public-ipv4,root-volume=100")
	if err != nil {
		log.Fatal(err)
	}
	model, err := choices.AddTo(nil, &planning.Snapshot{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range model.Terms {
		fmt.Printf("%s: $%.4f an hour for each node\n", t.Name, *t.PerNode)
	}
	// Output:
	// public-ipv4: $0.0050 an hour for each node
	// root-volume: $0.0110 an hour for each node
}
