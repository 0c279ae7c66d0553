// Package workload makes the deterministic, EC2-like inputs that the benchmarks plan:
//
//   - 806 instance types in three zones, and pods in the mixes named a to e in docs/benchmarks.md;
//   - the mixes f and g of Karpenter's own benchmark, on the 400 types of that benchmark; the mixes fa and fe, which have only one rule of
//     f; and the mix gpu;
//   - ordinary clusters (Ordinary): one to three instance families and 120 deployments of round requests.
//
// The same seed gives the same bytes on every computer. Tests compare the Digest of the mixes a to e and of the ordinary clusters with
// recorded values.
//
//	s := workload.Snapshot(workload.Catalog(), workload.Deployments(10_000), nil)
package workload
