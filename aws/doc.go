// Package aws is the AWS implementation of cloudprovider.CloudProvider: it knows EC2's instance types and prices, launches
// instances for NodeClaims, and manages them.
//
//	provider, err := aws.New(ctx, aws.Config{ClusterName: "demo"}, aws.Options{
//		NodeClasses: aws.NodeClasses{"default": class}, // or whatever reads EC2NodeClasses from your cluster
//		Cluster:     aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
//	})
//	if err != nil { … }
//	go provider.Run(ctx) // keeps types and prices fresh
//	result, err := provider.ReconcileNodeClass(ctx, aws.ObservedNodeClass{NodeClass: class}) // then write result.NodeClass
//	types, err := provider.InstanceTypes(ctx, nodePool)
//	claim, err := provider.Create(ctx, nodeClaim)
//	list, err := provider.ReceiveInterruptions(ctx) // what AWS is about to do to instances
//
// It also implements DriftDetector, Repairer, NodeClassStatus, RegistrationGate and InterruptionSource of package
// cloudprovider.
//
// Credentials and region are found in the same way as by every AWS tool (see sdk.Config). Through [Options] the provider reads from the
// cluster: node classes, whose status has the resolved subnets, security groups, images and instance profile, and the details of the
// cluster that nodes need to join it. It has no Kubernetes client and no package variables; one process can have several providers.
//
// The public packages below this one work without a provider: catalog and instancetype know instance types, launchtemplate makes
// launch templates, prices reads prices, convert reads older manifests, iam writes policies, sdk makes clients. Packages that only
// the provider needs are in aws/internal: discovery, reservations, placement and zonalshift read EC2, offerings combines their
// results, launch and launchtemplates launch instances, instances manages running ones, nodeclass (with amis and instanceprofile)
// reconciles node classes, and interruption receives interruptions.
//
// A controller also calls: Lead on the replica that leads, ReconcileNodeClass for each class, CollectOrphans and
// CollectInstanceProfiles from time to time, ReviewReservations once a minute, TagNode for each node that joins. Troubles lists
// what could not be read from AWS.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// Stability: beta.
package aws
