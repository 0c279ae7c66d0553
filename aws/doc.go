// Package aws is the AWS implementation of cloudprovider.CloudProvider: it knows what EC2 sells, launches machines for
// NodeClaims, and looks after them.
//
//	provider, err := aws.New(ctx, aws.Config{ClusterName: "demo"}, aws.Options{
//		NodeClasses: aws.NodeClasses{"default": class}, // or whatever reads EC2NodeClasses from your cluster
//		Cluster:     aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
//	})
//	if err != nil { … }
//	go provider.Run(ctx) // keeps types and prices fresh
//	types, err := provider.InstanceTypes(ctx, nodePool)
//	claim, err := provider.Create(ctx, nodeClaim)
//
// It also implements DriftDetector, Repairer, NodeClassStatus and RegistrationGate of package cloudprovider.
//
// Credentials and region come from where every AWS tool takes them (see sdk.Config). What the provider needs from the
// cluster it asks for through [Options]: node classes with their status, which tells the subnets, security groups, images
// and instance profile that were found, and what nodes are told of the cluster they join. It keeps no kube client and
// nothing in package variables; several providers can live in one process.
//
// The parts are packages of their own that can be used alone: discovery, prices, reservations, placement and zonalshift
// know EC2, offerings puts them together, launch and launchtemplates launch, instances looks after what runs.
package aws
