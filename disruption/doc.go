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
//	ledger, err := disruption.NewLedger(fleet)
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
//   - A machine that the provider takes away at a time it names has that time as its deadline (DIS-271).
//   - Annotations of the first generations, do-not-evict on pods and do-not-consolidate on nodes, are still honoured
//     (DIS-300, DIS-311).
package disruption
