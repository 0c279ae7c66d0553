// Package disruption decides which nodes to remove or replace, why, and in which order. The nodes are empty, have drifted, or have pods
// that cost less on other nodes. It follows each command until it is carried out or undone.
//
//	fleet, err := disruption.Survey(disruption.Input{View: state.Snapshot(query), Executing: executing}) // or ViewOf a snapshot
//	if err != nil {
//		return err // which budget or object can't be read
//	}
//	for node, why := range fleet.Blocked {
//		log.Info("not a candidate", "node", node, "why", why)
//	}
//	planner := &disruption.Global{} // or a Reference, which plans as Karpenter does
//	plan, err := planner.Plan(ctx, fleet)
//	for _, verdict := range plan.Verdicts {
//		log.Info(verdict.String()) // what happens to the node, or why it stays
//	}
//
// Everything here is a pure function of its arguments: there is no clock, no I/O and no sleeping. Money is USD per hour.
//
//	words        candidates, blocks, budgets, commands, verdicts           vocabulary.go, package decision
//	fleet        all nodes: candidates, and what keeps the others          survey.go, internal/consolidate/survey
//	quiet        consolidateAfter and the condition Consolidatable         consolidatable.go
//	budgets      how much may be disrupted: of NodePools and beyond        budgettracker.go
//	back-off     pools whose replacements fail                             backoff.go
//	drift        the condition Drifted, and hashes                         drift.go
//	forced       nodes to remove at once: broken, expired, interrupted  forced.go
//	planner      plans: commands and verdicts                              planner.go
//	reference    Karpenter's methods, one after another                    referenceplanner.go, internal/consolidate/reference
//	global       the whole fleet in one plan                               global.go, internal/consolidate/global
//	memory       what Global keeps for its next plan                       global.go
//	proofs       why nothing cheaper exists                                internal/consolidate/proof
//	replay       whether parts of a plan are still valid                   internal/consolidate/replay
//	approval     an external system that may delay or refuse commands      approval.go, refusals.go
//	execution    record, mark, launch, wait, delete; or undo               execution.go, executionmarks.go, effects.go, queue.go
//	recovery     commands that earlier processes left unfinished           record.go, recover.go, history.go
//	pace         when to plan again                                        pace.go
//	reports      events, and samples of metrics, as data                   planevents.go, samples.go
//
// # Deliberate differences
//
// The behavior is Karpenter's, without Karpenter's defects. The differences and their reasons:
//   - All methods use the same snapshot of the cluster: a Fleet.
//   - Whether consolidateAfter has passed is computed from the objects, not read from the condition Consolidatable, which
//     may lag behind. A controller that sees existing pods for the first time records no pod event.
//   - The order of candidates is total: candidates with equal ratios are sorted by disruption, then by name.
//   - A schedule that never occurs opens no window. An invalid budget blocks disruption for its own reasons, and does not
//     affect other reasons.
//   - Pending pods are placed before any node is removed. A pod without a place does not block consolidation, nor does a pod
//     that needs a new node. Nodes can be removed while no pool can launch any.
//   - Consolidation launches as few new nodes as possible. Where prices rise with size, replacing one large node by two
//     small ones would otherwise never be found.
//   - The planner chooses the existing node for a pod by free room, not by name.
//   - Searches are limited by the number of what-ifs, not by time, so that a plan does not depend on the speed of the
//     computer. A search that ends early does not count as "nothing to do".
//   - A batch never has more members than its maximum.
//   - If a replacement could be spot or on-demand and has no cheaper spot offering, it is launched on-demand.
//   - The disruption of a Balanced pool is computed each time, without pods that stay on their node.
//   - Missing instance types are checked as often as other drift, not every half hour: the check needs no API call.
//   - If replacements for the drifted nodes of a pool fail, drift does not replace nodes of this pool for a while.
//   - Nothing is blocked while a command waits for its validation: Command.NotBefore says when it may start. A command that
//     is no longer valid is dropped when it would start; the next pass plans again, with all candidates and every method.
//     Rejections are reported for every method.
//   - If a what-if fails, the planner has a defect or its context has ended. Then there is no plan, and the pass is repeated
//     later: a half-finished search would look like a complete one.
//   - Planning does not pause during launches. A claim without a provider ID is part of the snapshot, as a node that may not
//     come up, and a view lists the objects that it lacks (cluster.View.Unconfirmed). No planner moves pods to such a node,
//     and none launches a node for pods that fit there: these pods wait (BlockDependsOnUninitialized). So nothing is
//     launched twice, even after a restart.
//   - A pod that claims devices moves only to a node with free devices for it, as package scheduling allocates them. A node
//     stays if the claims of one of its pods can't be allocated by that package.
//   - A pod whose volume is local to its node may only move to a new node, because kube-scheduler does not allow any other existing node.
//   - Events name the members of the executed command as candidates, not those of each batch that was tried. Events of
//     repair are published on the objects that they are about. Every disruption is counted with all labels, and each kind of
//     failure under its own name.
//   - The replacement of a failed command is removed, unless pods run on it.
//   - Commands survive a restart: each is recorded on its members' NodeClaims before its first effect, and on its
//     replacements' when they are created. A new process calls Recover: a command with all its replacements continues, with
//     its deadline; any other is undone and planned again. Budgets with a rate and cool-downs are stored with the NodePools.
//     See docs/disruption.md for what happens when the process ends at each step.
//   - If the provider says when it will stop a node, that time is the node's deadline.
//   - The annotations of early releases still work: do-not-evict on pods and do-not-consolidate on nodes.
//   - Pools of older API versions are converted to v1 and follow the rules of the newest Karpenter release; no switch
//     restores older behavior. So expiry is forced instead of being a method, emptiness needs no condition Empty, only
//     consolidation requires labels, commands run in parallel, and nodes of v1beta1 pools get the taint of v1. Conversion
//     keeps disabled consolidation disabled. The API server decides which versions are served. Pools created as v1alpha5
//     keep the behavior that operators of such clusters rely on: see internal/consolidate/survey and v1.DisruptionMarker.
//   - Three quirks of Karpenter are kept: a node whose pods have no positive cost is empty, an empty list of reasons covers
//     no reason, and each pod is checked against its PodDisruptionBudget alone. All others are listed here.
//
// Global has further intended differences. It plans empty, drifted and under-used nodes together, in many commands. A command may replace
// several nodes by several others. Pods are placed first on the nodes that are most worth keeping. A command must save a minimum amount,
// and earn back its cost within a time. After a command or a forced removal, there is a cool-down. Global estimates how long drains under
// PodDisruptionBudgets take. Drift does not replace nodes before their consolidateAfter has passed. A command is validated by checking that
// its pods still have their places, not by planning again.
//
// Stability: beta.
package disruption
