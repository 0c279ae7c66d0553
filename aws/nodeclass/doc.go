// Package nodeclass looks after EC2NodeClasses: it finds what their selectors select, has their instance profile made,
// finds out whether machines could be launched from them, keeps their drift hashes, and cleans up after them.
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
// # Deliberate differences
//
//   - Answers of EC2 are shared by all classes that ask the same (AWN-096, AWN-102, AWN-355).
//   - A condition that can't be told says why, unless it is known for the class as it is now (AWN-082, AWN-332). Its
//     message leaves out what differs from call to call, so that nothing is written again and again; the error that is
//     returned has the request's id.
//   - A placement group has a cadence of its own, and counts as it was while EC2 can't be asked (AWN-081, AWN-357).
//   - A class that breaks the rules of the API without an API server that says so is refused with the field
//     (InvalidSpec).
//   - A machine that was launched from the class as it is stands for dry runs (AWN-333).
//   - The loop is the caller's: what wakes it, how many classes at once, and how long it pauses after errors (AWN-151). What
//     other parts read of placement groups, reservations and the cluster they find out themselves, not through this loop
//     (AWN-156).
//   - Times that things are remembered for are constants of the parts that remember them: mostly the reference's, longer
//     for launch templates (AWN-328).
//   - Deprecated images are flagged and told in an event; there is no condition, since machines can be launched from them,
//     and they keep their place in the list, whose order is that of package amis (AWN-338).
//   - The key of a verdict leaves the order of lists and the package's own annotations out (AWN-159).
//   - The service range of a cluster that is not on EKS may come from anywhere (AWN-158, AWN-344).
//   - What a machine differs in can be told in full, field by field, and what is not known hides nothing (AWN-268,
//     AWN-353).
//
// # Concurrency
//
// A Reconciler and a Finder may be used by many goroutines at once, hold no lock during calls and start nothing. Rounds of
// one class must not overlap.
package nodeclass
