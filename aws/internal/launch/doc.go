// Package launch turns a NodeClaim into one EC2 instance: it chooses among the instance types that suit, asks EC2 for a
// fleet of one, and says what came of it.
//
//	launcher, err := launch.New(launch.Options{EC2: api, Templates: templates, Cluster: "demo"})
//	if err != nil { … }
//	instance, err := launcher.Launch(ctx, launch.Request{NodeClaim: claim, NodeClass: class, InstanceTypes: types})
//	if cloudprovider.LaunchAbandoned(err) {
//		// nothing that suits has room; the next catalogue shows what was found out of stock
//	}
//
// The way of a launch: [Choose], which is pure, narrows the types down; the ledger of subnets gives
// one subnet a zone; launch templates are ensured; one CreateFleet call of type instant names every pair of type and zone
// as an override and lets EC2 choose; its answer is an instance, or errors that are remembered by package unavailable
// and returned as one error of a kind.
//
// # Once and once only
//
// Every request bears a client token made from the claim's UID, so that EC2 answers a repeated request, after a time-out
// for instance, with the instance that is there already (CP-CREATE-02, CP-CREATE-09). The instance bears the claim's name
// and UID as tags from its first moment, by which it is found when even the token does not help any more (CP-CREATE-08).
// Claims are therefore launched by one call each: a merged call, as the reference makes of equal ones,
// could tell neither. The budget of package sdk spreads a burst over time instead; no call for tags follows a launch.
//
// # Differences from Karpenter
//
// docs/differences.md lists what this package does otherwise than Karpenter, and why.
package launch
