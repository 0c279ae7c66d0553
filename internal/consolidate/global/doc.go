// Package global answers one question: if the whole fleet is planned at once, which removals and launches of nodes save most and are worth
// their disturbance?
//
// The input is a survey.Fleet, complete Options, and perhaps the Memory of an earlier plan. The output is a plan of many commands in waves,
// with a verdict for each node, and a Memory for the next plan. disruption.Global is this planner.
//
// Each step has its own package: searchcontext prepares the candidates, searching finds steps by a local search with undo, and ordering
// puts the commands in waves. docs/algorithm.md explains the method with numbers. The search takes nearly all the time of a plan.
// Options.Work limits the number of what-ifs of the search. If little has changed since the plan of the Memory, the search examines only
// the changes.
//
//	plan      commands, waves, verdicts                       plan.go, settings.go, options.go
//	memory    what a plan leaves for the next                 memory.go, memoryuntil.go, again.go
package global
