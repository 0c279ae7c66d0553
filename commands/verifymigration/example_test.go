package verifymigration

import (
	"context"
	"fmt"
	"os"
)

// Another program runs the command with arguments of its own, and gets the exit status.
func Example() {
	status := Run(context.Background(), []string{"--region", "eu-central-1"}, os.Stdin, os.Stdout, os.Stdout)
	fmt.Println("exit status", status)
	// Output:
	// verifymigration: --cluster-name is missing: give the name of the EKS cluster
	// Run verifymigration --help for its flags.
	// exit status 1
}
