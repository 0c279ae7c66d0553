// Package disruption decides which nodes to remove or to replace, why, and in which order: empty ones, those whose pods
// cost less elsewhere, those that have drifted; and follows each decision until it is carried out or taken back.
//
//	fleet, err := disruption.Survey(disruption.Input{View: state.Snapshot(query), Executing: executing})
//	if err != nil {
//		return err // which budget or object can't be read
//	}
//	for node, why := range fleet.Blocked {
//		log.Info("not a candidate", "node", node, "why", why)
//	}
//	plan, err := planner.Plan(ctx, fleet) // a *Reference
//	for _, verdict := range plan.Verdicts {
//		log.Info(verdict.String()) // what becomes of the node, or each thing that keeps it
//	}
//
// Everything here is a pure function of what it is handed: there is no clock, no I/O and no sleeping. Money is USD per
// hour.
//
//	fleet        all nodes: candidates, and what keeps the others          fleet.go, eligibility.go, candidate.go, block.go
//	quiet        consolidateAfter and the condition Consolidatable         quiet.go
//	cost         what disturbing a node costs, what it saves               cost.go
//	budgets      how much may be disrupted: of NodePools and beyond        budget.go, calendar.go, ledger.go, window.go
//	back-off     pools whose replacements fail                             backoff.go
//	drift        the condition Drifted, and hashes                         drift.go, hashes.go
//	forced       what must go: broken, expired, interrupted nodes          repair.go, forced.go
//	planner      what planners answer: commands and verdicts               planner.go, command.go
//	reference    Karpenter's methods, one after another                    reference.go, emptiness.go, driftmethods.go,
//	                                                                       consolidation.go, replacement.go, balanced.go
//	global       the whole fleet in one plan                               global.go, ground.go, globalsearch.go, globalgroups.go,
//	                                                                       flexible.go, globalplan.go, globalvalidate.go
//	what-if      where pods would go                                       simulate.go
//	validation   whether a command is still good                           validate.go
//	approval     an external system that may delay or refuse commands      approval.go
//	execution    taint, launch, wait, delete, or take all of it back       execution.go, effects.go, queue.go
//	pace         when the next pass is due, when planning is of no use     pace.go, idle.go
//	told         events, and metrics with what is counted in them, as data event.go, planevents.go, metric.go,
//	                                                                       samples.go, pooluse.go
//
// # Deliberate differences
//
// The behaviour is Karpenter's where that is not a defect. What differs, and why:
//
//   - All methods see one picture of the cluster (DIS-061): a Fleet.
//   - Whether consolidateAfter has passed is reckoned from the objects, not read from the condition Consolidatable, which
//     may lag behind (DIS-064, DIS-104). That a controller sees pods for the first time is no pod event (DIS-068).
//   - Order is total: where ratios are equal the less disturbing node goes first, then the name decides (DIS-131).
//   - A schedule that never comes opens no window (DIS-203); a budget that can't be read lets nothing go for the reasons
//     that it is about, and no others (DIS-207).
//   - Pods that wait for a node are placed before anything is removed. Neither one that has no place nor one that needs a
//     new node keeps others from being consolidated (DIS-137, DIS-160), and nodes can be removed while no pool can launch
//     any (DIS-154, DIS-318).
//   - Consolidation asks for as few new nodes as can be: where prices rise with size, two small ones for one large would
//     otherwise be no command at all (DIS-137).
//   - Which of the nodes there are takes a pod is the scheduler's choice, by room and not by name (DIS-155).
//   - Searches are bounded by the number of what-ifs, not by the clock (DIS-110, DIS-117, DIS-121), so that a plan does not
//     depend on how fast it was made. One that ends early is not taken for "nothing to do" (DIS-112).
//   - A batch never has more members than it may (DIS-108).
//   - What could be spot or on demand and has no spot offering that is cheaper is launched on demand (DIS-142).
//   - The disruption of a Balanced pool is summed up anew each time, pods that stay on their node left out (DIS-165).
//   - A pool of drifted nodes whose replacements fail is left alone for a while (DIS-098, DIS-231).
//   - Waiting until a command is validated stops nobody: Command.NotBefore says when (DIS-178).
//   - A replacement that came up for a command that failed is removed again, unless pods run on it (DIS-194).
//   - A machine that the provider takes away at a time it names has that time as its deadline (DIS-271).
//   - Annotations of the first generations, do-not-evict on pods and do-not-consolidate on nodes, are still honoured
//     (DIS-300, DIS-311).
package disruption
