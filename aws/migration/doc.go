// Package migration checks, before a cluster moves from Karpenter to drawknife, which changes the move would cause. It compares the launch
// templates, hashes and other data that Karpenter wrote with the data that drawknife would write for the same objects. It only reads.
//
//	report, err := migration.Verify(ctx, migration.Input{
//		Cluster:     launchtemplate.Cluster{Name: "demo", Endpoint: "https://…", ServiceCIDR: "172.20.0.0/16"},
//		NodeClasses: classes, NodePools: pools, NodeClaims: claims,
//	}, migration.Clients{EC2: clients.EC2(sdk.Normal), Migration: clients.EC2Migration(sdk.Normal), IAM: clients.IAMMigration(sdk.Normal)})
//	if err != nil { … }
//	err = report.WriteText(os.Stdout)
//
// The checks are:
//
//	objects         each NodePool and EC2NodeClass passes drawknife's validation
//	user-data       the class's own user data has the parts that Karpenter's reader finds in it
//	launch-template drawknife's launch template has the content of Karpenter's, read by the meaning of its user data
//	iam             the controller's role may do what drawknife does (SimulatePrincipalPolicy)
//	instance-types  which instance types a NodePool gains or loses
//	drift           which NodeClaims drawknife would replace
//
// A check that could not be made is in Report.NotChecked with the reason. Karpenter deletes launch templates minutes after the last launch.
// If a class has no launch template, the user data of a running instance is compared instead.
//
// The package needs no Kubernetes client: the caller reads the objects. Functions are safe for concurrent use.
//
// Stability: beta.
package migration
