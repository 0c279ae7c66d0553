// Package survey answers three questions: which nodes may be disrupted, why must each of the other nodes stay, and how many nodes may be
// disrupted at a time? A reason why a node must stay is called a block.
//
// The input is a view of the cluster at one time, with the commands that are being executed, budgets, the times of earlier disruptions, and
// the nodes and pools that are paused after failures. The output is a Fleet and a BudgetTracker. A Fleet has the candidates with their
// weights, a block for each other node, and the blocks that keep each method from removing a candidate. A BudgetTracker reserves amounts of
// the disruption budgets, and returns them. For each type that users of drawknife need, package disruption has a type that wraps it.
//
// Fleet checks each node once, in time proportional to nodes and their pods. Reserving budget for a node takes as many steps as the node
// has budgets, plus the number of disruptions in the windows of these budgets.
//
// The rules are those of Karpenter's documentation (Disruption: budgets, consolidateAfter, do-not-disrupt), with the differences that
// docs/differences.md names.
//
//	fleet        candidates, and what keeps the others          fleet.go, eligibility.go, candidates.go, podkey.go
//	ties         candidates that only go together: gangs         gangs.go
//	quiet        since when a node is quiet                      quietsince.go
//	budgets      of NodePools, and all that were handed in      poolbudgets.go, budgettracker.go, window.go, pooluse.go
//	generations  what pools created as v1alpha5 bring with them firstgeneration.go
//	pauses       nodes and pools left alone after failures      nodepauses.go, poolpauses.go
package survey
