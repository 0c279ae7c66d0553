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
// These are the steps of a launch. [Choose], which is pure, selects types. The tracker of subnets chooses one subnet for each zone. Launch
// templates are ensured. One CreateFleet call of type instant names every pair of type and zone as an override, and EC2 chooses. The answer
// is an instance, or errors, which package unavailable remembers and which are returned as one error with a kind.
//
// # Once and once only
//
// Every request has a client token made from the claim's UID, so that EC2 answers a repeated request, after a timeout
// for instance, with the instance that exists already (CP-CREATE-02, CP-CREATE-09). The instance has the claim's name
// and UID as tags from its launch on. These tags identify the instance when the token no longer helps (CP-CREATE-08).
//
// # One call for many
//
// [Launcher.LaunchTogether] launches several equal claims by one call: all or nothing for claims that are useful only together, or as many
// as EC2 can launch for a burst. EC2 gives all instances of a call the same tags, so no instance can have only the tags of its own claim
// when it is launched. Instead the instances have the UIDs of all claims, and are assigned to the claims by a rule that is the same in all
// processes ([Assign]). Even if an answer is lost, the instances are found by these tags. Karpenter merges equal calls without such a rule,
// and can't find the instances again after a crash.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
package launch
