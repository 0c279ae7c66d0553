// Package aws is the AWS implementation of cloudprovider.CloudProvider: it knows what EC2 sells, launches instances for
// NodeClaims, and looks after them.
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
// Credentials and region come from where every AWS tool takes them (see sdk.Config). What the provider needs from the
// cluster it asks for through [Options]: node classes with their status, which tells the subnets, security groups, images
// and instance profile that were found, and what nodes are told of the cluster they join. It keeps no kube client and
// nothing in package variables; several providers can live in one process.
//
// The public packages below this one work without a provider: catalog and instancetype know instance types, launchtemplate makes
// launch templates, prices reads prices, convert reads older manifests, iam writes policies, sdk makes clients. What only the
// provider needs is in aws/internal, a package for each question: discovery, reservations, placement and zonalshift know EC2,
// offerings puts them together, launch and launchtemplates launch, instances manages what runs, nodeclass (with amis and
// instanceprofile) reconciles node classes, and interruption receives interruptions.
//
// What a controller calls besides: Lead on the replica that leads, ReconcileNodeClass for each class, CollectOrphans and
// CollectInstanceProfiles every now and then, ReviewReservations once a minute, TagNode for each node that joins. Troubles
// tells what AWS does not answer.
//
// # Differences from Karpenter
//
// docs/differences.md lists what this package does otherwise than Karpenter, and why.
//
// Stability: beta.
package aws
