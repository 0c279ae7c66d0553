package aws_test

import (
	"context"
	"fmt"

	"github.com/drawknife/drawknife/aws"
)

// Settings are looked at before anything is asked of AWS; all faults are told at once.
func Example() {
	_, err := aws.New(context.Background(),
		aws.Config{ClusterName: "demo", ReservedENIs: -1},
		aws.Options{Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example"}})
	fmt.Println(err)
	// Output:
	// permanent: configuration of the AWS provider: reservedENIs -1: must not be negative
	// aws: option NodeClasses: is required: instances are launched from them
}
