// Package provisioning implements every step from a pending pod to a terminated instance: when to plan, which nodes of a plan to
// launch, and the life of each NodeClaim.
//
// The package only makes decisions: each step is a function of the observed state and the time. The function returns the actions to carry
// out, and when to call it again. The caller implements small interfaces that carry out the actions; the example controller does so on
// Kubernetes.
//
// From a pending pod to a launch, in this order:
//
//  1. Call PoolStatus for each NodePool, and write its result: a pool launches nothing until its conditions say that it is valid and its
//     node class is ready.
//  2. Call ResolvePools, which returns the pools with their instance types for a scheduling.Snapshot.
//  3. Call scheduling.Compile, Solve and Decide, which return what to launch.
//  4. Call Launcher.Launch, which creates the NodeClaims, and then Lifecycle.Next for each NodeClaim until its node is ready.
//
// The files:
//
//	pools    which pools take part in a pass, with which instances       pools.go
//	pass     what is ordered from a plan: claims, nominations, events    pass.go
//	launcher checks limits and rate limiter, creates claims             launcher.go
//	lifecycle from a claim's creation to a node that is ready            lifecycle.go, launch.go, launchgroup.go,
//	                                                                    registration.go, initialization.go
//	termination of a claim and of its node: drain, evictions, volumes    termination.go, nodetermination.go, drain.go,
//	                                                                    evictionqueue.go
//	evictor  how pods are evicted: at once, or after their replacements   evictor.go, workload.go
//	         are ready
//	upkeep   garbage, consistency, health, static pools                  garbage.go, claimupkeep.go, health.go, static.go
//	effects  what a state machine may ask for                           effects.go
//	batch    when a planning pass is due                                 batch.go
//	rates    limits how fast nodes are launched                          ratelimiter.go
//	stock    estimates whether launches of an offering find capacity      stockestimate.go, stockfile.go
//	costs    gives providers the costs that plans use                    launch.go
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// Stability: beta.
package provisioning
