// Package workload makes the deterministic, EC2-like inputs that the benchmarks plan: 806 instance types in three zones,
// and pods in the mixes named a to e in docs/benchmarks.md; beside them f and g, the mixes of Karpenter's own benchmark on
// its own 400 types. The same seed gives the same bytes everywhere; Digest pins those of a to e.
//
//	s := workload.Snapshot(workload.Catalog(), workload.Deployments(10_000), nil)
package workload
