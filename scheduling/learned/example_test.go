package learned_test

import (
	"fmt"

	"github.com/drawknife/drawknife/scheduling/learned"
)

// A node of a type that is said to have one GPU of 24Gi has published two of 22Gi: plans count on these.
func Example() {
	snapshot := fleet(gpus(1, "24Gi")...)
	join(snapshot, "node-a", gpus(2, "22Gi")...)
	var corrector learned.Corrector
	corrections, _ := corrector.Learn(snapshot)
	for _, c := range corrections {
		fmt.Printf("%s: %s has %s\n", c.InstanceType, c.Driver, c.Difference)
	}
	corrector.Apply(snapshot, corrections)
	// Output:
	// large: gpu.example.com has 2 devices in place of 1 device; memory 22Gi in place of 24Gi
}
