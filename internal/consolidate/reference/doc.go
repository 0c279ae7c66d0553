// Package reference answers one question: what would Karpenter's methods do with this fleet, one after another?
//
// Input is a survey.Fleet and options; output is a plan: commands, and for each node what becomes of it or what keeps it from each method.
// The methods are emptiness, drift of static pools, drift, consolidation of many nodes and of one (Karpenter's documentation, Disruption);
// the first that finds something ends the pass. disruption.Reference is this planner, and a search for a plan of the whole fleet uses its
// passes for what both do alike: empty nodes, static pools, and what a new node may be launched as.
//
// Whether nodes can go is asked of a trial.Trial, which hides them and places their pods. Emptiness and static drift ask nothing.
// Consolidation of many nodes tries as many sets as halving their number takes; consolidation of one, and drift, try each candidate until
// one can go, within a bound that is counted and not timed.
//
//	pass         the methods in their order, and verdicts       reference.go, plan.go
//	methods      emptiness, drift, consolidation                emptiness.go, driftmethods.go, consolidation.go
//	replacements what a new node may be launched as             replacement.go, balanced.go
//	what-ifs     where pods would go                            simulate.go
//	validation   whether a command is still good                validate.go, commands.go
package reference
