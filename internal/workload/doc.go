// Package workload makes the deterministic, EC2-like inputs that the benchmarks plan: 806 instance types in three zones,
// and pods in the mixes named a to e in docs/benchmarks.md. The same seed gives the same bytes everywhere; Digest pins
// them.
//
//	s := workload.Snapshot(workload.Catalog(), workload.Deployments(10_000), nil)
package workload
