package migration_test

import (
	"context"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/drawknife/drawknife/aws/migration"
)

// A cluster with a node whose subnet the class no longer selects, in an account that answers from memory.
func Example() {
	in, account := cluster(), newAccount()
	account.instance.SubnetId = awssdk.String("subnet-9")
	report, err := migration.Verify(context.Background(), in, account.clients())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Findings {
		fmt.Println(f.Severity, f.Check, f.Object, f.Field)
		fmt.Println(f.Message)
	}
	// Output:
	// warning drift NodeClaim/default-1 status.subnets
	// instance i-0123456789abcdef0 differs from its class: status.subnets: has subnet-9, wants subnet-1
}
