// Package nodeclass reconciles EC2NodeClasses: it resolves their selectors, creates instance profiles, checks whether instances can
// be launched, updates drift hashes, and cleans up after deleted classes.
//
//	reconciler, err := nodeclass.New(nodeclass.Options{EC2: api, Images: resolver, Templates: store, …})
//	if err != nil { … }
//	for { // the caller's own loop: on each change of a class, and after RequeueAfter
//		result, err := reconciler.Reconcile(ctx, nodeclass.Observed{NodeClass: class, NodeClaims: claims, NodePools: pools})
//		… // write result.NodeClaims, then result.NodeClass if it has changed, then look at err
//	}
//
// The flow of one round:
//
//	finalizer ─ hashes ─ images ─ reservations ─ placement group ─ subnets ─ security groups ─ profile ─ validation ─ write
//	    └ being deleted: claims left? ─ profiles ─ launch templates ─ verdict ─ take the finalizer off
//
// A Reconciler reads and writes AWS, never Kubernetes: it gets Kubernetes objects as input and returns the changes to write. A round may be
// interrupted or repeated, and writing its result may fail with a conflict: the next round starts from the current state.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// # Concurrency
//
// Many goroutines may use a Reconciler and a Finder at once. Both hold no lock during calls, and start no goroutine. Rounds of one class
// must not overlap.
package nodeclass
