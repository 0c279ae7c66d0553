package iam_test

import (
	"fmt"

	"github.com/drawknife/drawknife/aws/iam"
)

// The policies of a cluster, and the one for the queue in full.
func Example() {
	setup, err := iam.Generate(iam.Settings{
		Region: "eu-central-1", AccountID: "111122223333", ClusterName: "demo", NodeRoles: []string{"demo-nodes"}, Queue: "demo",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range setup.ControllerPolicies {
		fmt.Println(p.Name, len(p.Document.Statement))
	}
	fmt.Print(setup.ControllerPolicies[3].Document)
	for _, rule := range setup.Rules {
		fmt.Println(rule.Name)
	}
	// Output:
	// demo-nodes 8
	// demo-instance-profiles 5
	// demo-discovery 4
	// demo-interruption 1
	// {
	//   "Version": "2012-10-17",
	//   "Statement": [
	//     {
	//       "Sid": "ReadInterruptions",
	//       "Effect": "Allow",
	//       "Action": [
	//         "sqs:DeleteMessage",
	//         "sqs:GetQueueUrl",
	//         "sqs:ReceiveMessage"
	//       ],
	//       "Resource": [
	//         "arn:aws:sqs:eu-central-1:111122223333:demo"
	//       ]
	//     }
	//   ]
	// }
	// demo-scheduled-change
	// demo-spot-interruption
	// demo-rebalance
	// demo-state-change
	// demo-reservation-interruption
}
