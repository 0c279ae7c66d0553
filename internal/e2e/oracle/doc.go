// Package oracle asks kube-scheduler whether a plan would work. It passes each pod for which scheduling.Plan promises a place to
// kube-scheduler's own filter plugins. It passes them in the order in which the plan says that pods can be bound, and with the nodes as
// they would be created. If a plugin refuses a pod, this is a Refusal: a defect of the planner.
//
//	faults := oracle.Purchases(snapshot, plan, query)
//	choices, err := oracle.Choices(snapshot, plan)
//	for _, choice := range choices {
//		refusals, err := oracle.Replay(ctx, snapshot, plan, choice)
//		…
//	}
//
// The provider may create a planned node in many ways: with any instance type and any zone that the NodeClaim allows. A Choice selects one
// of these ways for each node. Choices returns enough of them to try the cheapest type and every minimal type of each node in each allowed
// zone.
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
// If a snapshot leads to a refusal, it is shrunk (for the time -rapid.shrinktime). Then the snapshot is written, with the refusals at the
// top, to testdata/found/latest.yaml, or to the folder that ORACLE_FOUND names. Correct the planner, and move the file to
// testdata/regressions, with a name that says what was wrong. From then on, TestRegressions replays the file. If the query is not the zero
// value, a comment in the file contains the query. A run over all features also fails if one of the traits in traits_test.go was never part
// of a placement. With -v, it logs how many snapshots had each trait.
//
// # Plans of disruption
//
// A disruption.Plan promises that its commands can be carried out one after another, in the order of its waves. Rollout does this. Rollout
// checks each pod that must move, in the state that the earlier commands have left. In this way, it checks every prefix of the order.
// Before a part of a plan is checked, disruption.Global.Restrict must accept it.
//
//	go test -v -run TestRollouts .                                       400 random fleets, both planners, as in CI
//	ORACLE_FLEETS=50000 ORACLE_SEED=7 go test -v -timeout 4h -run TestRollouts .    the long run; ORACLE_FEATURES holds too
//
// # From the queue
//
// kube-scheduler knows nothing of plans. It takes pods from its queue, and binds each to the node with the best score. Queue simulates this
// for each Preference, with the plan's nodes present.
//
//	go test -v -run TestRandomQueues .                                   300 random snapshots, as in CI
//	ORACLE_QUEUED=20000 ORACLE_SEED=7 go test -v -timeout 4h -run TestRandomQueues .    the long run; ORACLE_FEATURES holds too
//
// # What is acted out
//
// Nodes of the snapshot that are not ready yet are present as they will be once initialized. Nodes that are being removed are missing. All
// planned nodes are present from the start. kube-scheduler sees them in this way after they have joined: topology spread counts their
// domains. DaemonSets have pods on all nodes where they belong. A PersistentVolumeClaim that waits for its first consumer is bound when the
// first pod that uses it is bound. It gets a volume that can be reached in the zone of that node (or in the topology that the class
// allows). For planned nodes, manually created volumes exist after the nodes have joined. For nodes of the snapshot, only the existing
// volumes can be used. If neither type nor offering determines a label, the label gets a value that the node's requirements allow.
//
// Prices and amounts of nodes are those after the snapshot's NodeOverlays. Placeholders of CapacityBuffers are bound like other pods.
// PodTopologySpread uses the cluster's default constraints. Purchases checks conditions that kube-scheduler never sees but that matter when
// nodes are launched: prices, reservations, minValues, and that no node is added to static pools.
//
// These are not simulated: resource claims, scheduling gates, preemption, and numeric tolerations (off in kube-scheduler by default).
// kube-scheduler's scores are not simulated either, except LeastAllocated in Queue. They may put a pod elsewhere than planned.
//
// # Versions
//
// The plugins are those of Kubernetes 1.37. go.mod says why, and how to change to another release. Here the library is compiled with the
// k8s.io/api of this release, which is newer than the lowest version that the library requires.
package oracle
