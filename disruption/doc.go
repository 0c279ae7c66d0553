// Package disruption decides which nodes to remove or to replace, why, and in which order: empty ones, those whose pods
// cost less elsewhere, those that have drifted; and follows each decision until it is carried out or taken back.
//
//	fleet, err := disruption.Survey(disruption.Input{View: state.Snapshot(query), Executing: executing}) // or ViewOf a snapshot
//	if err != nil {
//		return err // which budget or object can't be read
//	}
//	for node, why := range fleet.Blocked {
//		log.Info("not a candidate", "node", node, "why", why)
//	}
//	planner := &disruption.Global{} // or a Reference, which goes about it as Karpenter does
//	plan, err := planner.Plan(ctx, fleet)
//	for _, verdict := range plan.Verdicts {
//		log.Info(verdict.String()) // what becomes of the node, or each thing that keeps it
//	}
//
// Everything here is a pure function of what it is handed: there is no clock, no I/O and no sleeping. Money is USD per
// hour.
//
//	words        candidates, blocks, budgets, commands, verdicts           vocabulary.go, package decision
//	fleet        all nodes: candidates, and what keeps the others          survey.go, internal/consolidate/survey
//	quiet        consolidateAfter and the condition Consolidatable         consolidatable.go
//	budgets      how much may be disrupted: of NodePools and beyond        budgettracker.go
//	back-off     pools whose replacements fail                             backoff.go
//	drift        the condition Drifted, and hashes                         drift.go, hashes.go
//	forced       what must go: broken, expired, interrupted nodes          repair.go, forced.go
//	planner      what planners answer: commands and verdicts               planner.go
//	reference    Karpenter's methods, one after another                    referenceplanner.go, internal/consolidate/reference
//	global       the whole fleet in one plan                               global.go, internal/consolidate/global
//	memory       what a plan of it leaves for the next                     planagain.go
//	proofs       why nothing cheaper can be                                internal/consolidate/proof
//	replay       whether any part of a plan is still good                  internal/consolidate/replay
//	approval     an external system that may delay or refuse commands      approval.go, digest.go, refusals.go
//	execution    write down, mark, launch, wait, delete; or take it back   execution.go, executionmarks.go, effects.go, queue.go
//	recovery     what a process that begins finds of those before it       record.go, recover.go, history.go
//	pace         when the next pass is due, when planning is of no use     pace.go, idle.go
//	told         events, and samples of metrics, as data                   planevents.go, samples.go
//
// # Deliberate differences
//
// The behaviour is Karpenter's where that is not a defect. What differs, and why:
//
//   - All methods see one picture of the cluster: a Fleet.
//   - Whether consolidateAfter has passed is computed from the objects, not read from the condition Consolidatable, which may lag behind.
//     A controller that sees existing pods for the first time records no pod event.
//   - The order is total: of equal ratios the node with less disruption goes first, then the name decides.
//   - A schedule that never comes opens no window. An invalid budget allows nothing for its own reasons, and does not affect other reasons.
//   - Pods that wait for a node are placed before anything is removed. Neither one that has no place nor one that needs a
//     new node keeps others from being consolidated, and nodes can be removed while no pool can launch any.
//   - Consolidation asks for as few new nodes as can be: where prices rise with size, two small ones for one large would
//     otherwise be no command at all.
//   - The planner chooses which existing node takes a pod, by room and not by name.
//   - Searches are bounded by the number of what-ifs, not by the clock, so that a plan does not depend on how fast it was
//     made. A search that ends early does not count as "nothing to do".
//   - A batch never has more members than it may.
//   - What could be spot or on demand and has no spot offering that is cheaper is launched on demand.
//   - The disruption of a Balanced pool is computed each time, without pods that stay on their node.
//   - Missing instance types are checked as often as other drift, not every half hour: the check needs no call.
//   - A pool of drifted nodes whose replacements fail is left alone for a while.
//   - Nothing is blocked while a command waits for its validation: Command.NotBefore says when it may start. A void command is dropped
//     when it would start, and the next pass plans again, with all candidates and every method. Rejections are reported for every method.
//   - If a what-if fails, the planner has a defect or its context has ended: there is no plan then, and the pass is repeated later. Half
//     a search would look like a complete one.
//   - Planning does not pause while launches are under way: a claim without a provider ID is part of the picture, as a place
//     that nobody may rely on yet, and a view that lacks an object says which (cluster.View.Unconfirmed). No planner moves
//     pods there, and none launches for pods that have room there: they wait (BlockDependsOnUninitialized), so that nothing is
//     launched twice, not even by a process that forgot what the last one launched.
//   - A pod that claims devices moves only to a node that has them for it, as package scheduling counts devices. A node with a
//     pod whose claims it can't count stays.
//   - A pod whose volume is local to its node may only move to a new node: kube-scheduler does not let it go on another existing one.
//   - Events name the members of the command that is carried out as candidates, not those of each batch that was tried; events of repair
//     go to the objects that they are about. Every disruption is counted with all labels, those of failures each
//     under its own name.
//   - The replacement of a failed command is removed again, unless pods run on it.
//   - Commands outlive their process: each is written on its members' NodeClaims before its first effect and on its
//     replacements' as they are created. A process that begins calls Recover: a command whose replacements are all there goes
//     on, with the deadline that it had; any other is taken back and planned again. What budgets with a rate and cool-downs
//     remember is kept with the NodePools. See docs/disruption.md for what happens when the process ends at each step.
//   - If the provider names the time at which it stops a node, that is the node's deadline.
//   - Annotations of the first generations, do-not-evict on pods and do-not-consolidate on nodes, are still honoured.
//   - Pools of older generations are planned in their v1 form, and all pools by the rules of the newest release: there is no
//     switch that brings back how earlier ones went about it. So expiry is forced and no method, emptiness needs no condition
//     Empty, labels are asked for by consolidation alone, commands run side by side, and nodes of pools of v1beta1 get the
//     taint of v1. Conversion keeps consolidation that was switched off switched off. Which generations are served is the API
//     server's business. Pools born in the first generation keep what operators of such clusters rely on: see
//     internal/consolidate/survey and v1.DisruptionMarker.
//   - Of Karpenter's quirks these are kept: nodes whose pods have no positive cost are empty, an empty list of reasons speaks
//     of none, each pod is asked about its budget alone. The others have their entry here.
//
// Global has further intended differences. It plans empty, drifted and under-used nodes together, in many commands. A command may replace
// several nodes by several others. Pods first go to the nodes most worth keeping. A command needs a minimum saving and must pay back within a
// time; after a command, or a forced removal, there is a cool-down. Global estimates how long drains under PodDisruptionBudgets take. Drift
// leaves nodes alone until their consolidateAfter has passed. A command is validated by checking that its pods still have their places, not
// by planning again.
//
// Stability: beta.
package disruption
