// Package oracle asks kube-scheduler whether a plan would come true: each pod that scheduling.Plan promises a place is
// handed to kube-scheduler's own filter plugins, in the order in which the plan says pods can be bound, on the nodes as
// they would be created. A pod that a plugin turns away is a Refusal, and a fault of the planner.
//
//	for _, choice := range oracle.Choices(snapshot, plan) {
//		refusals, err := oracle.Replay(ctx, snapshot, plan, choice)
//		…
//	}
//
// A planned machine is not one node but many: the provider may take any instance type and zone that the NodeClaim
// leaves open. A Choice settles that for all machines at once; Choices yields enough of them that the cheapest type and
// every minimal type of each machine is tried in each zone left open.
//
// # Running
//
//	go test ./...                                                      2,000 random snapshots, as in CI
//	ORACLE_SNAPSHOTS=100000 go test -timeout 4h -run TestRandom .      the long run
//	ORACLE_SEED=7 go test -run TestRandom .                            other snapshots than yesterday's
//	ORACLE_FEATURES=resources,taints go test -run TestRandom .         only some constraints (see snapshots.Features)
//
// A snapshot that is refused is shrunk and written to testdata/found. Fix the planner, then move the file to
// testdata/regressions, where TestRegressions replays it for ever.
//
// # Versions
//
// The plugins are those of Kubernetes 1.37, the version the end-to-end control plane runs too: one build cache, and one
// line to change in two go.mod files when the next minor comes. The library itself is compiled against the k8s.io/api of
// that minor here, newer than the lowest it asks for. k8s.io/kubernetes requires its staging modules at v0.0.0, which
// does not exist; go.mod names those that are used at their real version, and replaces two that only tools listing the
// whole module graph come across.
package oracle
