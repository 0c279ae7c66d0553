// Package iam makes the IAM policies that the AWS provider needs and no more, the trust and policies of the machines'
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
// the first API generation bear karpenter.sh/provisioner-name in place of karpenter.sh/nodepool: with Settings.ServeAlpha there is a
// policy for them beside the others, which stays attached as long as one lives (API-425, API-432). Those from before release 0.28,
// which do not say which cluster manages them, are beyond these policies: they need the one they were launched with. Denials of permission
// boundaries and organisations are beyond what an account's policies can say.
//
// # Deliberate differences
//
//   - Letting the node role join the cluster, by an access entry or a mapping, is whoever's business the cluster is
//     (AWN-150).
//   - What the cluster makes is allowed in its own account alone, not in any (AWN-323). What it only refers to may be
//     another account's that shares it.
//   - Launch templates are used if they are the cluster's, and made if the request is tagged: the permission to launch
//     with a tagged request does not extend to launch templates (AWI-236).
//   - Instance profiles are those of the cluster's path, and of names that begin with the cluster's, not all (AWN-323).
//   - In each partition only its own names of EC2 are who roles may be passed to (AWI-238), and GovCloud has no price list.
//   - ec2:DescribeAvailabilityZones is allowed, as zones are read; actions that no call takes are not.
//   - Rules only let through events that mean something, lest every change of every instance in the account become a
//     message (AWN-292): the states that stop an instance, and scheduled changes of EC2.
//   - The queue takes messages from these five rules and the account's own SQS, not from any rule of any account (AWN-295).
package iam
