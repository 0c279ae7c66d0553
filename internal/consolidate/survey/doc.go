// Package survey answers one question: which nodes may be disrupted, what keeps the others, and how many may go at a time?
//
// The input is a view of the cluster at one time, with commands under way, budgets, earlier starts, and the nodes and pools that are
// paused after failures. The output is a Fleet, with candidates and their weights, a block for each other node, and what keeps each
// candidate from each method; and a BudgetTracker, which takes and returns the use of all disruption budgets at once. For each type that
// users hold, package disruption has a type of its own.
//
// Fleet checks each node once, in time proportional to nodes and their pods. Taking from budgets takes as many steps as there are budgets
// for the node, plus the disruptions that budgets with a window remember.
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
