// Command iam writes what a cluster needs in an AWS account: the policies of the controller's role and who may assume it, the
// trust policy of the instances' role and how instances with it join, the queue of interruption events and the rules that fill it.
// It needs no account and no network, and changes nothing: it writes files for AWS's command line or another tool.
//
//	go run ./examples/iam --cluster-name demo --region eu-central-1 --account-id 111122223333 --node-roles demo-nodes --queue demo
//
// prints which file is for what; --out DIR writes them, -o json prints all of it as one JSON document, whose shape is that of
// iam.Setup. --serve-alpha adds a policy for machines of Provisioners, by the tags that they bear. docs/eks.md uses it step by step. The exit status is 0, 1 for bad
// usage, 5 for files that can't be written, or 130 when it is interrupted.
package main
