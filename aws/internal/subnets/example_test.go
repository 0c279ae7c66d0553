package subnets_test

import (
	"fmt"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/subnets"
)

func Example() {
	ofClass := []awsv1.Subnet{{ID: "subnet-1", Zone: "us-east-1a"}, {ID: "subnet-2", Zone: "us-east-1a"}}
	tracker := subnets.New(subnets.Options{})
	tracker.Observe(map[string]int64{"subnet-1": 120, "subnet-2": 100})
	for range 3 {
		hold := tracker.Hold(ofClass, nil, 30)
		chosen := hold.Subnets()["us-east-1a"]
		fmt.Println(chosen.ID)
		hold.Settle(chosen.ID) // an instance was launched in it
	}
	// Output:
	// subnet-1
	// subnet-2
	// subnet-1
}
