// Package cluster keeps a live view of a cluster, event by event, and gives a scheduling.Snapshot of it at any moment.
//
//	state, err := cluster.New(cluster.Options{Vocabulary: provider.Describe().Vocabulary})
//	if err != nil {
//		return err
//	}
//	err = state.Apply(cluster.Upsert(pod), cluster.Delete(node)) // from informers, in any order
//	…
//	if state.Synced() {
//		view := state.Snapshot(cluster.Query{Time: now, NodePools: pools.NodePools, Catalogs: pools.Catalogs})
//		model, err = model.Update(view.Snapshot)
//	}
//
// The view depends on the objects alone, not on the order in which they came: a Node may come before its NodeClaim
// or after it, a pod before the node it is bound to, a deletion of what was never known. It equals one that is made from
// scratch of the same objects. State is safe for concurrent use; an event costs a few map accesses, a snapshot what
// has changed since the one before and a copy of the list of nodes.
//
//	events   what State is told                                              event.go, kind.go
//	state    objects by name, machines by provider ID, pods by node          state.go, machines.go, pods.go
//	groups   which pods are gangs                                            groups.go
//	lists    sorted lists that change without being copied event by event    sortedlist.go
//	view     the snapshot, and what disruption needs in addition to it               view.go, snapshot.go
//	shape    what a node counts as until it is launched           shape.go
//	barrier  whether everything that the API has was seen                    barrier.go
//
// # Deliberate differences
//
// The behaviour is Karpenter's where that is not a defect. What differs, and why:
//
//   - A claim that has no instance yet does not stop planning: planning assumes for it what any of its instance types
//     has. The barrier is for what the API has and the view does not.
//   - A Node that is being deleted is leaving, also while its claim is not: nothing can undo a deletion.
//   - A node that was ordered for pods is nominated for them once it is initialised (State.NominateNew): with a
//     consolidateAfter shorter than kube-scheduler takes to bind them, new nodes would go as empty.
//   - What moves the consolidation timestamp moves View.Revision: a number needs no refresh by the clock.
//   - Of objects that lay claim to one provider ID one is taken, by a rule, not the one that came last; the others are in
//     View.LeftOut.
//   - A claim that was created here and that the watch never showed is named (View.Unconfirmed); the caller looks it
//     up 15 seconds later and says what it found.
//
// Stability: beta.
package cluster
