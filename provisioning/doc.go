// Package provisioning implements every step from a pending pod to a terminated instance: when to plan, which nodes of a plan to
// launch, and the life of each NodeClaim.
//
// The package only decides: a step is Next(observed state, now) → actions, and when to call it again. The caller implements small
// interfaces that carry out the actions; the example controller does so on Kubernetes.
//
// From a pending pod to a launch, in this order:
//
//  1. PoolStatus for each NodePool, and its result written: a pool launches nothing until its conditions say that it is valid and its
//     node class ready.
//  2. ResolvePools: the pools with their instance types, for a scheduling.Snapshot.
//  3. scheduling.Compile and Solve, and Decide: what to launch.
//  4. Launcher for the NodeClaims, then Lifecycle for each until its node is ready.
//
// The files:
//
//	pools    which pools take part in a pass, with which instances       pools.go
//	pass     what of a plan is ordered: claims, nominations, events     pass.go
//	launcher limits and rate limiter asked, claims created              launcher.go
//	lifecycle from a claim's creation to a node that is ready            lifecycle.go, launch.go, launchgroup.go,
//	                                                                    registration.go, initialization.go
//	termination of a claim and of its node: drain, evictions, volumes    termination.go, nodetermination.go, drain.go,
//	                                                                    evictionqueue.go
//	evictor  how pods are made to leave: at once, or their replacements   evictor.go, workload.go
//	         first
//	upkeep   garbage, consistency, health, static pools                  garbage.go, claimupkeep.go, health.go, static.go
//	effects  what a state machine may ask for                           effects.go
//	batch    when a planning pass is due                                 batch.go
//	rates    how much may change in how short a time                     ratelimiter.go
//	stock    estimate of the cloud's stock, offering by offering         stockestimate.go, stockfile.go
//	costs    what plans count with, for the order of launches            launch.go
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// Stability: beta.
package provisioning
