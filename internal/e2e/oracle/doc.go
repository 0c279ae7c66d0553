// Package oracle asks kube-scheduler whether a plan would work. It passes each pod for which scheduling.Plan promises a place to
// kube-scheduler's own filter plugins. It does this in the order in which the plan says that pods can be bound, with the nodes as they
// would be created. If a plugin refuses the pod, this is a Refusal, and a defect of the planner.
//
//	faults := oracle.Purchases(snapshot, plan, query)
//	choices, err := oracle.Choices(snapshot, plan)
//	for _, choice := range choices {
//		refusals, err := oracle.Replay(ctx, snapshot, plan, choice)
//		…
//	}
//
// The provider may create a planned node in many ways: with any instance type and zone that the NodeClaim allows. A Choice selects one of
// these ways for each node. Choices returns enough of them to try the cheapest type and every minimal type of each node in each allowed
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
// If a snapshot leads to a refusal, it is shrunk (for the time -rapid.shrinktime). Then it is written, with the refusals at the top, to
// testdata/found/latest.yaml or to the folder that ORACLE_FOUND names. Correct the planner, then move the file to testdata/regressions
// under a name that says what was wrong. From then on, TestRegressions replays it. If the query is not the zero value, a comment of the
// file contains it. A run over all features also fails if one of the traits in traits_test.go was never part of a placement. With -v, it
// logs how many snapshots had each trait.
//
// # Plans of disruption
//
// A disruption.Plan promises that its commands can be carried out one after another, in the order of its waves. Rollout does this. It
// checks each pod that must move in the state that the earlier commands have left. So it checks every prefix of the order. Parts of a plan
// are checked after disruption.Global.Restrict has accepted them.
//
//	go test -v -run TestRollouts .                                       400 random fleets, both planners, as in CI
//	ORACLE_FLEETS=50000 ORACLE_SEED=7 go test -v -timeout 4h -run TestRollouts .    the long run; ORACLE_FEATURES holds too
//
// # From the queue
//
// kube-scheduler knows nothing of plans: it takes pods from its queue and binds each to the node with the best score. Queue simulates this
// with the plan's nodes present, for each Preference.
//
//	go test -v -run TestRandomQueues .                                   300 random snapshots, as in CI
//	ORACLE_QUEUED=20000 ORACLE_SEED=7 go test -v -timeout 4h -run TestRandomQueues .    the long run; ORACLE_FEATURES holds too
//
// # What is acted out
//
// Nodes of the snapshot that are not ready yet are present as they will be once initialized. Nodes that are being removed are missing. All
// planned nodes are present from the start, as kube-scheduler sees them once they have joined: topology spread counts their domains.
// DaemonSets have pods on all nodes where they belong. A PersistentVolumeClaim that waits for its first consumer is bound when the first
// pod that uses it is bound. It gets a volume that can be reached in the zone of that node (or in the topology that the class allows).
// For planned nodes, volumes that are created manually exist once the nodes have joined. For nodes of the snapshot, only the existing
// volumes can be used. Labels that neither type nor offering determines get values that the node's requirements allow.
//
// Prices and amounts of nodes are those after the snapshot's NodeOverlays. Placeholders of CapacityBuffers are bound like other pods.
// PodTopologySpread uses the cluster's default constraints. Purchases checks what kube-scheduler never sees but what matters when nodes are
// launched: prices, reservations, minValues, and that static pools are left alone.
//
// These are not simulated: resource claims, scheduling gates, preemption, and numeric tolerations (off in kube-scheduler by default).
// kube-scheduler's scores are not simulated either, except LeastAllocated in Queue; they may put a pod elsewhere than planned.
//
// # Versions
//
// The plugins are those of Kubernetes 1.37; go.mod says why, and how to change to another release. Here the library is compiled with
// k8s.io/api of this release, which is newer than the lowest version that the library requires.
package oracle
