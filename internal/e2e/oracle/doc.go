// Package oracle asks kube-scheduler whether a plan would come true: each pod that scheduling.Plan promises a place is
// handed to kube-scheduler's own filter plugins, in the order in which the plan says pods can be bound, on the nodes as
// they would be created. A pod that a plugin turns away is a Refusal, and a fault of the planner.
//
//	faults := oracle.Purchases(snapshot, plan, query)
//	choices, err := oracle.Choices(snapshot, plan)
//	for _, choice := range choices {
//		refusals, err := oracle.Replay(ctx, snapshot, plan, choice)
//		…
//	}
//
// A planned node is not one node but many: the provider may take any instance type and zone that the NodeClaim
// leaves open. A Choice settles that for all nodes at once; Choices yields enough of them that the cheapest type and
// every minimal type of each node is tried in each zone left open.
//
// # Running
//
//	go test ./...                                                        2,000 random snapshots, as in CI
//	go test -v -run TestRandomSnapshots .                                the same, and how much was replayed
//	ORACLE_SNAPSHOTS=100000 go test -v -timeout 4h -run TestRandom .     the long run
//	ORACLE_SEED=7 go test -v -run TestRandom .                           other snapshots than CI's
//	ORACLE_FEATURES=limits,taints go test -v -run TestRandom .           only some constraints (snapshots.Feature)
//	ORACLE_FEATURES=-volumes,-ports go test -v -run TestRandom .         all constraints but some
//
// A snapshot that is refused is shrunk (-rapid.shrinktime says for how long) and written to testdata/found/latest.yaml, or
// to the folder ORACLE_FOUND, with the refusals on top. Fix the planner, then move the file to testdata/regressions under a
// name that says what was wrong: TestRegressions replays it forever. The query, where it is not the zero one, is in a
// comment of the file. A run over all features fails as well if one of the traits of traits_test.go never came up in a
// placement; -v lists how many snapshots showed each.
//
// # Plans of disruption
//
// A disruption.Plan promises that its commands can be carried out one after another, in the order of its waves: Rollout does
// so, and asks about each pod that has to move in the state that the commands before have left. So it looks at every prefix
// of the order. Parts of a plan are looked at once disruption.Global.Restrict has let them pass.
//
//	go test -v -run TestRollouts .                                       400 random fleets, both planners, as in CI
//	ORACLE_FLEETS=50000 ORACLE_SEED=7 go test -v -timeout 4h -run TestRollouts .    the long run; ORACLE_FEATURES holds too
//
// # From the queue
//
// kube-scheduler knows no plan: it takes pods from its queue and binds each to the node that it scores best. Queue does so once
// the plan's nodes are there, with each Preference.
//
//	go test -v -run TestRandomQueues .                                   300 random snapshots, as in CI
//	ORACLE_QUEUED=20000 ORACLE_SEED=7 go test -v -timeout 4h -run TestRandomQueues .    the long run; ORACLE_FEATURES holds too
//
// # What is acted out
//
// Nodes of the snapshot that come up are there as they will be once initialized; nodes that are leaving are gone. All
// planned nodes are there from the start, which is how kube-scheduler sees them once they have joined: topology spread
// counts their domains. DaemonSets have their pods wherever they belong. A volume claim that waits for its first consumer
// is bound where the first pod with it goes, to a volume that can be reached in the zone (or whatever the class's allowed
// topologies speak of) of that node. Volumes that are made by hand are there for planned nodes when these have joined;
// the nodes of the snapshot have to do with those there are. Labels that neither type nor offering settles are those
// the node's requirements leave.
//
// Nodes are sold as the snapshot's NodeOverlays have them. Placeholders of CapacityBuffers are bound like any pod, and
// PodTopologySpread knows the cluster's default constraints. What kube-scheduler never sees but anyone who launches the
// nodes does, Purchases checks: prices, reservations, minValues, and that static pools are left alone.
//
// Not acted out: resource claims, scheduling gates, preemption, numeric tolerations (off in kube-scheduler by default);
// kube-scheduler's scores except for LeastAllocated of Queue, which may well put a pod elsewhere than the plan.
//
// # Versions
//
// The plugins are those of Kubernetes 1.37; go.mod says why and how to move. The library itself is compiled against the
// k8s.io/api of that minor here, newer than the lowest it asks for.
package oracle
