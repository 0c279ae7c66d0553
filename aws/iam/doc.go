// Package iam makes the IAM policies that the AWS provider needs and no more, the trust and policies of the instances'
// role, the queue of interruption events and the rules of EventBridge that fill it. It makes no AWS calls: it returns
// documents for whatever tool manages the account.
//
//	setup, err := iam.Generate(iam.Settings{
//		Region: "eu-central-1", AccountID: "111122223333", ClusterName: "demo", NodeRoles: []string{"demo-nodes"}, Queue: "demo",
//	})
//	if err != nil { … }
//	for _, file := range setup.Files() {
//		err := os.WriteFile(file.Name, file.Data, 0o644) // for aws iam create-policy --policy-document file://…
//	}
//
// The controller's policies follow from a table of the calls that the code can make, each with the actions it takes and
// where it takes them. A test holds the table against the interfaces of package aws/sdk and against the requests that
// the code builds. Calls returns it: a call that AWS refuses names an action, which is found there. With fewer features switched on there are fewer calls and so fewer permissions.
//
// Each policy has at most MaxPolicySize characters. What does not fit goes into another one of the same name with a
// number, so that the names of the others stay.
//
// # What is not here
//
// Keys: EBS
// volumes, images and queues that are encrypted with a customer's own key need grants on that key. Instances of
// the first API generation have karpenter.sh/provisioner-name instead of karpenter.sh/nodepool: with Settings.ServeAlpha there is a
// policy for them in addition, which stays attached as long as one lives. Those from before release 0.28,
// which do not say which cluster manages them, are beyond these policies: they need the one they were launched with. Denials of permission
// boundaries and organisations are beyond what an account's policies can say.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// Stability: beta.
package iam
