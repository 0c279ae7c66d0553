// Command iam writes the documents that a cluster needs in an AWS account: policies and trust policy of the controller's role, trust policy
// and cluster access of the instances' role, the queue of interruption events, and the event rules that fill it. It needs no account and no
// network, and changes nothing in AWS: it writes files for the AWS command line or another tool.
//
//	go run ./examples/iam --cluster-name demo --region eu-central-1 --account-id 111122223333 --node-roles demo-nodes --queue demo
//
// The command prints the purpose of each file. --out DIR writes the files; -o json prints everything as one JSON document in the form of
// iam.Setup. --serve-alpha adds a policy for instances of Provisioners, which have other tags. docs/eks.md uses the command step by step.
// The exit status is 0 after success, 1 for bad usage, 5 if a file or the output can't be written, or 130 if interrupted.
package main
