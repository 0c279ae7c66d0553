// Package reconcilers adds drawknife to a controller-runtime manager. It watches a cluster, plans instances for pending pods and launches
// them through a CloudProvider. It manages each instance from the creation of its NodeClaim to its termination.
//
//	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: reconcilers.Scheme()})
//	if err != nil {
//		return err
//	}
//	if err := reconcilers.Add(manager, reconcilers.Options{Provider: provider}); err != nil {
//		return err
//	}
//	return manager.Start(ctx)
//
// The packages scheduling, provisioning and disruption decide; this package carries their decisions out on Kubernetes:
//
//	feed       informers → scheduling/cluster.State                            feed.go, unconfirmed.go
//	planner    batches, passes, launches                                       planner.go, triggers.go, orders.go, store.go, buffers.go
//	claims     a NodeClaim's life and end                                      claims.go
//	nodes      a Node's end: drain, volumes, instance                          nodes.go, evictions.go
//	pools      what a NodePool shows; static pools                             pools.go, static.go
//	overlays   what a NodeOverlay shows                                        overlays.go
//	disruption plans and commands that remove nodes                            disruption*.go
//	conditions Consolidatable and Drifted of a NodeClaim                       drift.go
//	forced     interruptions of the cloud, repair of broken nodes              interruption.go, repair.go, forced.go
//	upkeep     garbage in the cloud and in the cluster, pod events             garbage.go, podevents.go
//	actor      one function per effect that a state machine may ask for        actor.go, patches.go
//	recorder   events, not repeated too often                                  recorder.go, transitions.go, annotations.go
//	metrics    what the controller does, and what there is                     metrics.go, objectmetrics.go, conditionmetrics.go, zones.go,
//	                                                                           podtimes.go, buildinfo.go
//
// Everything that writes runs only on the elected leader. State in memory may be lost: after a restart, it is computed again, which only
// takes time. Package provisioning's tests stop a controller at every effect in a node's life, and start another controller.
package reconcilers
