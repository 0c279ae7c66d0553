// Package amis finds the images that the AMI terms of a node class select: by alias, id, name, owner, tags or SSM
// parameter, the newest of each kind.
//
//	resolver, err := amis.New(clients.EC2(sdk.Background), clients.SSM(sdk.Background), amis.Options{})
//	if err != nil { … }
//	result, err := resolver.Resolve(ctx, class.Spec.AMISelectorTerms, "1.33")
//	class.Status.AMIs = result.AMIs // empty: nothing was found, and result.Outcomes say why
//
// Each image comes with the instance types on which it boots, as requirements: its architecture, and for images of an alias also the
// accelerators that they support. There is one image for each distinct set of requirements, and the list is in the order of preference.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// # Concurrency
//
// A Resolver may be used by many goroutines at once, holds no lock during calls, and starts no goroutines.
package amis
