package iam_test

import (
	"context"
	"fmt"
	"os"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/iam"
)

// Everything that a cluster needs, for eksctl.
func Example() {
	run := iam.Command().Begin()
	if err := run.Flags.Parse([]string{
		"--cluster-name", "demo", "--region", "eu-central-1", "--account-id", "111122223333", "--node-roles", "demo-nodes", "-o", "eksctl",
	}); err != nil {
		fmt.Println(err)
		return
	}
	streams := commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stdout}
	status := run.Do(context.Background(), nil, streams)
	fmt.Println("status", status)
	// Output:
	// # eksctl does not create managed policies, roles of instances, queues or rules. Create them first, from the CloudFormation template of the
	// # same settings, with CreateControllerRole=false and CreateAccessEntries=false.
	// accessConfig:
	//   accessEntries:
	//   - principalARN: arn:aws:iam::111122223333:role/demo-nodes
	//     type: EC2_LINUX
	// addons:
	// - name: eks-pod-identity-agent
	// apiVersion: eksctl.io/v1alpha5
	// iam:
	//   podIdentityAssociations:
	//   - namespace: kube-system
	//     permissionPolicyARNs:
	//     - arn:aws:iam::111122223333:policy/demo-nodes
	//     - arn:aws:iam::111122223333:policy/demo-instance-profiles
	//     - arn:aws:iam::111122223333:policy/demo-discovery
	//     roleName: demo-drawknife
	//     serviceAccountName: drawknife
	// kind: ClusterConfig
	// metadata:
	//   name: demo
	//   region: eu-central-1
	// status 0
}
