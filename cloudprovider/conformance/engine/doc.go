// Package engine connects a provider to the planners, and lets them run a small cluster on it, with a stepped clock. The cluster scales up,
// uses other offerings when instances are out of stock, consolidates, and replaces instances that drift, are interrupted or break. It also
// recovers when objects vanish: a Node, a NodeClaim, an instance or the NodePool, at each step in turn.
//
//	func TestEngine(t *testing.T) {
//		engine.Run(t, newSubject, engine.DefaultOptions())
//	}
//
// Pass the same factory as to package conformance. The hook Advance is required: the scenarios do not wait in real time. The API server,
// the kubelets and the workloads are in memory; the instances come from the provider. A scenario is skipped, with the reason, if a hook or
// optional interface that it needs is missing.
//
// Stability: beta.
package engine
