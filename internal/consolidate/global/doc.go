// Package global answers one question: which nodes should go, and what should be launched instead, for the least money that is worth the
// disturbance, when the whole fleet is planned at once?
//
// Input are a survey.Fleet, Options without anything left to fill in, and perhaps the Memory of an earlier plan; output are a plan of many
// commands in waves with a verdict for each node, and a Memory for the next. disruption.Global is this planner.
//
// It is made of rooms, each with a question of its own: searchcontext weighs the candidates, searching looks for steps by a local search with
// undo, ordering puts their commands in waves. docs/algorithm.md explains it with figures. A plan takes what its search takes, which
// Options.Work bounds by a number of what-ifs. If little has changed since the plan of the Memory, only that is looked at.
//
//	plan      commands, waves, verdicts                       plan.go, settings.go, options.go
//	memory    what a plan leaves for the next                 memory.go, memoryuntil.go, again.go
package global
