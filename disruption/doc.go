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
//	fleet        all nodes: candidates, and what keeps the others          fleet.go, eligibility.go, candidate.go, block.go
//	quiet        consolidateAfter and the condition Consolidatable         quiet.go
//	cost         what disturbing a node costs, what it saves               cost.go
//	budgets      how much may be disrupted: of NodePools and beyond        budget.go, calendar.go, ledger.go, window.go
//	generations  what pools born in the first one bring with them          firstgeneration.go
//	back-off     pools whose replacements fail                             backoff.go
//	drift        the condition Drifted, and hashes                         drift.go, hashes.go
//	forced       what must go: broken, expired, interrupted nodes          repair.go, forced.go
//	planner      what planners answer: commands and verdicts               planner.go, command.go
//	reference    Karpenter's methods, one after another                    reference.go, emptiness.go, driftmethods.go,
//	                                                                       consolidation.go, replacement.go, balanced.go
//	global       the whole fleet in one plan                               global.go, ground.go, globalsearch.go, globalgroups.go,
//	                                                                       globalattempt.go, globallaunch.go, globalworth.go,
//	                                                                       globalrefine.go, globalfamilies.go, globalcommands.go,
//	                                                                       flexible.go, globalplan.go, waves.go
//	                                                                       selection.go, globalbudgets.go, robustness.go
//	proofs       why nothing cheaper can be                                floorprices.go, floorsimplex.go
//	replay       whether any part of a plan is still good                  restrict.go
//	what-if      where pods would go                                       simulate.go
//	validation   whether a command is still good                           validate.go
//	approval     an external system that may delay or refuse commands      approval.go
//	execution    mark, launch, wait, delete, or take all of it back        execution.go, executionmarks.go, effects.go, queue.go
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
//   - Whether an instance type is gone is looked at as often as all else about drift, not every half hour: that asks nobody
//     (DIS-226).
//   - A pool of drifted nodes whose replacements fail is left alone for a while (DIS-098, DIS-231).
//   - Waiting until a command is validated stops nobody: Command.NotBefore says when (DIS-178). One that is void is dropped
//     when it would begin, and the next pass plans anew, with all candidates and every method (DIS-113, DIS-120). Rejections
//     are told of whatever the method (DIS-114).
//   - A what-if that fails is a fault of the planner, or its context has ended: the plan is none then, and the pass is
//     repeated later (DIS-119). Half a search would look like a whole one.
//   - Planning does not pause while launches are under way (DIS-072): a claim without a provider ID is part of the picture, as
//     a machine that takes no pods of others, and a view that lacks an object says which (cluster.View.Unconfirmed).
//   - Devices of dynamic resource allocation are not reckoned with (DIS-161), as in package scheduling.
//   - A pod whose volume is local to its node may move to a new node alone (DIS-162): onto another that is there
//     kube-scheduler does not let it.
//   - Events say of the command that is carried out that its members are candidates, not of each batch that was tried
//     (DIS-143); those of repair go to the objects that they are about (DIS-281). Every disruption is counted with all labels,
//     those of failures each under its own name (DIS-285, DIS-287).
//   - A replacement that came up for a command that failed is removed again, unless pods run on it (DIS-194).
//   - A machine that the provider takes away at a time it names has that time as its deadline (DIS-271).
//   - Annotations of the first generations, do-not-evict on pods and do-not-consolidate on nodes, are still honoured
//     (DIS-300, DIS-311).
//   - Pools of older generations are planned in their v1 form, and all pools by the rules of the newest release: there is no
//     switch that brings back how earlier ones went about it (DIS-129, DIS-291, DIS-313). So expiry is forced and no method
//     (DIS-296, DIS-297, DIS-312), emptiness needs no condition Empty (DIS-298), labels are asked for by consolidation alone
//     (DIS-301), commands run side by side (DIS-304), and nodes of pools of v1beta1 get the taint of v1 (DIS-302). Conversion
//     keeps consolidation that was switched off switched off (DIS-305). Which generations are served is the API server's
//     business (DIS-306). Pools born in the first generation keep what operators of such clusters rely on: see
//     firstgeneration.go, quiet.go and v1.DisruptionMarker.
//   - Of the quirks that the specification's index asks a decision on (DIS-316), these are kept: nodes whose pods have no
//     positive cost are empty (DIS-085), an empty list of reasons speaks of none (DIS-205), each pod is asked about its
//     budget alone (DIS-045). The others have their entry here.
//
// Global differs in more, and on purpose: it plans empty, drifted and under-used nodes at once, in many commands (DIS-076,
// DIS-094); it launches several nodes for several (DIS-137, DIS-147); it puts pods first on the nodes best kept (DIS-155); it
// asks for a least saving, a pay-back time and a cool-down, which forced removals start too (DIS-148); it reckons how long drains under PodDisruptionBudgets
// take (DIS-045); drift leaves nodes alone that wait for their consolidateAfter (DIS-097); and a command is validated by
// whether its pods still have their places, not by planning again (DIS-181).
package disruption
