// Package nodeclass looks after EC2NodeClasses: it finds what their selectors select, has their instance profile made,
// finds out whether instances could be launched from them, keeps their drift hashes, and cleans up after them.
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
// A Reconciler reads and writes AWS, never Kubernetes: it is told what there is and says what is to be written. A round
// that was cut short, whose writes conflicted or that ran twice does no harm: the next starts from what there is then.
//
// # Differences from Karpenter
//
// docs/differences.md lists what this package does otherwise than Karpenter, and why.
//
// # Concurrency
//
// A Reconciler and a Finder may be used by many goroutines at once, hold no lock during calls and start nothing. Rounds of
// one class must not overlap.
package nodeclass
