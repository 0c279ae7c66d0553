// Package aws is the AWS implementation of cloudprovider.CloudProvider: it knows what EC2 sells, launches machines for
// NodeClaims, and looks after them.
//
//	provider, err := aws.New(ctx, aws.Config{ClusterName: "demo"}, aws.Options{
//		NodeClasses: aws.NodeClasses{"default": class}, // or whatever reads EC2NodeClasses from your cluster
//		Cluster:     aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
//	})
//	if err != nil { … }
//	go provider.Run(ctx) // keeps types and prices fresh
//	result, err := provider.ReconcileNodeClass(ctx, nodeclass.Observed{NodeClass: class}) // then write result.NodeClass
//	types, err := provider.InstanceTypes(ctx, nodePool)
//	claim, err := provider.Create(ctx, nodeClaim)
//	list, err := provider.ReceiveInterruptions(ctx) // what AWS is about to do to machines
//
// It also implements DriftDetector, Repairer, NodeClassStatus, RegistrationGate and InterruptionSource of package
// cloudprovider.
//
// Credentials and region come from where every AWS tool takes them (see sdk.Config). What the provider needs from the
// cluster it asks for through [Options]: node classes with their status, which tells the subnets, security groups, images
// and instance profile that were found, and what nodes are told of the cluster they join. It keeps no kube client and
// nothing in package variables; several providers can live in one process.
//
// The parts are packages of their own that can be used alone: discovery, prices, reservations, placement and zonalshift
// know EC2, offerings puts them together, launch and launchtemplates launch, instances looks after what runs, nodeclass
// (with amis and instanceprofile) after node classes, and interruption hears of interruptions.
//
// What a controller calls besides: Lead on the replica that leads, ReconcileNodeClass for each class, CollectOrphans and
// CollectInstanceProfiles every now and then, ReviewReservations once a minute, TagNode for each node that joins. Troubles
// tells what AWS does not answer.
//
// # Deliberate differences
//
// What this package and its parts do otherwise than the reference, beside what the parts' own comments say:
//
//   - Indexes over claims and nodes are the caller's informers' (AWI-009): package interruption asks a function.
//   - Launches are not merged into one CreateFleet (AWI-193, AWI-196): each has a token of its own that keeps it from being
//     launched twice, and tags that name its claim.
//   - A node class that is missing or being deleted is one that is not ready, not a lack of capacity (AWN-080).
//   - Late tags are merged and paced by the budget of package sdk, without pauses (AWN-263). TagNode annotates no claim:
//     whoever keeps claims notes there which are done (AWN-262).
//   - Pools of the first generation are served with Config.ServeAlpha: package aws/convert says what is not as it was then.
//   - Nothing is served from a cache that could hold a machine that is gone (AWI-205).
//   - Settings are fields of Config and Options, not of a context (AWI-229, AWN-315); what is refreshed how often is said by the
//     parts (AWI-227), and kubelet expressions are refused without a gate (AWI-228).
//   - A kubelet block in the annotation that conversion from v1beta1 leaves on a pool or claim counts in place of the class's
//     (API-377), which releases from 1.1 on do not heed. It takes no part in the drift hash, which is the class's own.
//   - Times that things are remembered for are those of the parts, several of them longer and told by what happened
//     (AWI-230). The calls at rest and for each launch are counted by tests, not taken from a table (AWI-232).
//   - What plays EC2 in tests is moto behind a proxy that makes its faults (AWI-240). The reference's published tables
//     are not among the data: allocatable is held against the golden table, labels against rules (AWI-245).
package aws
