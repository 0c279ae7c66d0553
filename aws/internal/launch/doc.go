// Package launch launches one EC2 instance for a NodeClaim: it chooses compatible instance types, requests a fleet of one instance,
// and returns the result.
//
//	launcher, err := launch.New(launch.Options{EC2: api, Templates: templates, Cluster: "demo"})
//	if err != nil { … }
//	instance, err := launcher.Launch(ctx, launch.Request{NodeClaim: claim, NodeClass: class, InstanceTypes: types})
//	if cloudprovider.LaunchAbandoned(err) {
//		// no suitable offering has room; the next catalogue shows what was found out of stock
//	}
//
// The steps of a launch: [Choose], which is pure, narrows the types down; the tracker of subnets gives
// one subnet a zone; launch templates are ensured; one CreateFleet call of type instant names every pair of type and zone
// as an override and lets EC2 choose; its answer is an instance, or errors that are remembered by package unavailable
// and returned as one error of a kind.
//
// # Once and once only
//
// Every request has a client token made from the claim's UID, so that EC2 answers a repeated request, after a timeout
// for instance, with the instance that exists already (CP-CREATE-02, CP-CREATE-09). The instance has the claim's name
// and UID as tags from its launch on. By these it is found when the token does not help any more (CP-CREATE-08).
//
// # One call for many
//
// [Launcher.LaunchTogether] launches several claims that are alike by one call: all or nothing for claims that are of use only together, or
// as many as EC2 has for a burst. EC2 gives all instances of a call the same tags, so no instance can have the tags of its own claim from
// the start: they have the UIDs of all claims, and are assigned to these by a rule that is the same in all processes ([Assign]). A lost
// answer loses nothing here either. Karpenter merges equal calls without such a rule, and can't find the instances again after a crash.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
package launch
