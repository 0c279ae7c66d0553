// Package global answers one question: which nodes should go, and what should be launched instead, to save the most money that is worth the
// disturbance, if the whole fleet is planned at once?
//
// The input is a survey.Fleet, complete Options, and perhaps the Memory of an earlier plan; the output is a plan of many commands in
// waves with a verdict for each node, and a Memory for the next plan. disruption.Global is this planner.
//
// It consists of packages that each answer one question: searchcontext weighs the candidates, searching looks for steps by a local search
// with undo, ordering puts their commands in waves. docs/algorithm.md explains it with figures. Nearly all the time of a plan goes into the
// search, which Options.Work bounds by a number of what-ifs. If little has changed since the plan of the Memory, only the changes are
// searched.
//
//	plan      commands, waves, verdicts                       plan.go, settings.go, options.go
//	memory    what a plan leaves for the next                 memory.go, memoryuntil.go, again.go
package global
