// Package reference answers one question: what would Karpenter's methods do with this fleet, one after another?
//
// The input is a survey.Fleet and options; the output is a plan: commands, and for each node its fate or what keeps it from each method.
// The methods are emptiness, drift of static pools, drift, consolidation of many nodes and of one (Karpenter's documentation,
// Disruption); the first that finds something ends the pass. disruption.Reference is this planner. A search for a plan of the whole fleet
// uses its passes for what both do: empty nodes, static pools, and the instance types of new nodes.
//
// A trial.Trial, which hides nodes and places their pods, decides whether nodes can go. Emptiness and static drift need no trial.
// Consolidation of many nodes tries as many sets as bisection takes; consolidation of one node, and drift, try each candidate until one can
// go, within a limit that counts tries and not time.
//
//	pass         the methods in their order, and verdicts       reference.go, plan.go
//	methods      emptiness, drift, consolidation                emptiness.go, driftmethods.go, consolidation.go
//	             nodes of gangs, which go together              gangs.go
//	replacements what a new node may be launched as             replacement.go, balanced.go
//	what-ifs     where pods would go                            simulate.go
//	validation   whether a command is still good                validate.go, commands.go
package reference
