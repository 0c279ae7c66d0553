// Package iam makes exactly the IAM policies that the AWS provider needs, the trust and policies of the instances' role, the queue of
// interruption events and the rules of EventBridge that fill it. It makes no AWS calls: it returns documents for the tool that manages the
// account.
//
//	setup, err := iam.Generate(iam.Settings{
//		Region: "eu-central-1", AccountID: "111122223333", ClusterName: "demo", NodeRoles: []string{"demo-nodes"}, Queue: "demo",
//	})
//	if err != nil { … }
//	for _, file := range setup.Files() {
//		err := os.WriteFile(file.Name, file.Data, 0o644) // for aws iam create-policy --policy-document file://…
//	}
//
// The controller's policies are computed from a table of the calls that the code can make, each with its actions and resources. A test
// compares the table with the interfaces of package aws/sdk and with the requests that the code builds. Calls returns this table. If AWS
// refuses a call, its error names an action, which users can look up in the table. If fewer features are enabled, the policies contain
// fewer permissions.
//
// Each policy has at most MaxPolicySize characters. Statements that exceed this size go into another policy with the same name and a
// number, so that the names of the other policies don't change.
//
// # What is not here
//
// Encryption keys: EBS volumes, images and queues that are encrypted with a customer's own key need grants on that key. Instances of
// v1alpha5 have the tag karpenter.sh/provisioner-name instead of karpenter.sh/nodepool: with Settings.ServeAlpha there is an additional
// policy for them, which must stay attached while such an instance exists. These policies do not cover instances from before release 0.28,
// which do not have the name of their cluster: keep the policy with which they were launched. Permission boundaries and policies of
// organisations can deny calls in addition.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// Stability: beta.
package iam
