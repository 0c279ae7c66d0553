// Package provisioning owns every step from a pod that waits to an instance that is gone: when to plan, what of a plan
// is launched, and what becomes of each NodeClaim.
//
// Everything here decides and nothing acts: a step is Next(observed state, now) → actions and when to look again. What
// carries the actions out are small interfaces of the caller's: the example controller implements them on Kubernetes.
//
//	pools    which pools take part in a pass, with which machines       pools.go
//	pass     what of a plan is ordered: claims, nominations, events     pass.go
//	launcher limits and governor asked, claims created                  launcher.go
//	lifecycle from a claim's creation to a node that is ready            lifecycle.go, launch.go, registration.go,
//	                                                                    initialization.go, liveness.go
//	termination of a claim and of its node: drain, evictions, volumes    termination.go, nodetermination.go, drain.go,
//	                                                                    evictionqueue.go
//	evictor  how pods are made to leave: at once, or their replacements   evictor.go, workload.go
//	         first
//	upkeep   garbage, consistency, health, static pools                  garbage.go, consistency.go, health.go, static.go
//	effects  what a state machine may ask for                           effects.go, events.go
//	batch    when a planning pass is due                                 batch.go
//	governor how much may change in how short a time                    governor.go
//	belief   what is thought of the cloud's stock, offering by offering  belief.go
//
// # Deliberate differences
//
// The behaviour is Karpenter's where that is not a defect. What differs, and why:
//
//   - A trigger is forgotten only when a pass that began after it has succeeded (PRV-033): none is lost.
//   - A claim is held to its pool's limits with everything that is planned, launching or live, one node each (PRV-040).
//   - Waits between attempts of a launch grow with the time it has been tried, not with a counter (PRV-050): they come to
//     the same, and a restart changes nothing. A request that is at fault itself is not repeated before its time-out.
//   - A claim whose launch was never answered is looked for in the cloud before its finalizer goes (PRV-051, PRV-065), and
//     a machine whose claim is gone is ended after half a minute (PRV-081): whatever the moment of a crash, nothing leaks.
//   - Nodes that joined and were never registered are removed with their claim (PRV-065), not left to others.
//   - A node that never is initialised can be given up (PRV-061), if the caller sets a time for that.
//   - Nothing is read again from time to time (PRV-029): what the watch tells counts at once, and what it should have told
//     and has not is named by cluster.View.Unconfirmed.
//   - An event of a pod that comes too soon after another to be stored is stored late (PRV-083), not dropped.
//   - Dynamic resource allocation is not reckoned with (PRV-060, PRV-160), as in package scheduling.
//   - Predictions of vertical pod autoscalers are not collected (PRV-165): nothing would read them.
package provisioning
