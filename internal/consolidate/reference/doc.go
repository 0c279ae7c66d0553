// Package reference answers one question: what would Karpenter's methods do with this fleet, one after another?
//
// The input is a survey.Fleet and options. The output is a plan. It has commands and, for each node, its command or the blocks that keep it
// from each method. The methods are emptiness, drift of static pools, drift, multi-node consolidation and single-node consolidation
// (Karpenter's documentation, Disruption). The first method that finds something ends the pass. disruption.Reference is this planner. The
// planner of the whole fleet (package global) uses passes of this package for the tasks of both planners: empty nodes, static pools, and
// the instance types of new nodes.
//
// A trial.Trial hides nodes and places their pods. The trial shows whether nodes can be removed. Emptiness and static drift need no trial.
// Multi-node consolidation tries one set in each step of a bisection. Single-node consolidation and drift try one candidate after another
// until one can be removed. The limits of this work are numbers of tries, not times.
//
//	pass         the methods in their order, and verdicts       reference.go, plan.go
//	methods      emptiness, drift, consolidation                emptiness.go, driftmethods.go, consolidation.go
//	             nodes of gangs, which go together              gangs.go
//	replacements what a new node may be launched as             replacement.go, balanced.go
//	what-ifs     where pods would go                            simulate.go
//	validation   whether a command is still good                validate.go, commands.go
package reference
