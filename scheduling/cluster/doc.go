// Package cluster maintains a view of a live cluster, event by event, and returns a scheduling.Snapshot of it at any time.
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
// The view depends only on the objects, not on the order of their events: a Node may come before its NodeClaim or after it, a pod before
// its node, and a deletion without a known object. The view equals a new view that is made from the same objects. State is safe for
// concurrent use. An event costs a few map accesses. A snapshot costs time for the changes since the previous snapshot, and for a copy of
// the list of nodes.
//
//	events   changes of objects                                              event.go, kind.go
//	state    objects by name, nodes by provider ID, pods by node             state.go, entries.go, pods.go
//	groups   which pods are gangs                                            groups.go
//	lists    sorted lists that are not copied for each event                 sortedlist.go
//	view     the snapshot, and what disruption needs in addition to it       view.go, snapshot.go
//	shape    the assumed form of a node until it is launched                 shape.go
//	barrier  whether everything that the API has was seen                    barrier.go
//
// # Deliberate differences
//
// The package behaves like Karpenter, except for defects of Karpenter and these differences:
//
//   - A claim without an instance does not stop planning: planning assumes the minimum that its instance types have in common. The barrier
//     only waits for objects that the API has and the view does not.
//   - A Node that is being deleted counts as leaving, even if its claim is not being deleted: nothing can undo a deletion.
//   - A node launched for pods is nominated for them once it is initialised (State.NominateNew): otherwise, if consolidateAfter is shorter
//     than kube-scheduler takes to bind them, consolidation would remove new nodes as empty.
//   - View.Revision replaces Karpenter's consolidation timestamp, and changes for the same reasons. Unlike a timestamp, a number does not
//     depend on the clock.
//   - If several objects have one provider ID, a fixed rule chooses one, not the order of events; the others are in View.LeftOut.
//   - View.Unconfirmed lists claims that the caller created and that the watch has not shown. After 15 seconds the caller reads such a
//     claim from the API and reports the result.
//
// Stability: beta.
package cluster
