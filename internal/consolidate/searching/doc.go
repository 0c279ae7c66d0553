// Package searching answers one question: which groups of nodes are tried, in which order, so that the fleet becomes as cheap as possible?
//
// The input is a search context, Settings, and perhaps commands of an earlier plan. The output is a Search. It has the accepted steps, as
// commands, and a block for each node that stays.
//
// It is a local search with undo (Aarts and Lenstra, Local Search in Combinatorial Optimization, 1997). Package removing tries a group. If
// the removal is worth it, the search accepts it. If not, the search rolls it back. Several strategies run in parallel, and the best result
// is refined: the nodes that it launches and the nodes that received pods also become candidates.
//
// Work is bounded by a number of what-ifs, each of which takes as long as placing the pods of its group. Work is not bounded by time, so a
// plan is the same on every computer, and with any parallelism.
//
// The state of a search is its decisions (decided.go) and its trial. attempts changes the state by accepting steps. Strategies only say
// what to try.
//
//	strategies  how a search proceeds, the best of several    planner.go, strategies.go, budgets.go
//	searches    what one strategy tries                       search.go, groups.go, subsets.go, merging.go, series.go
//	            nodes of gangs, which go together             gangs.go
//	attempts    what is accepted, what is not tried again     attempts.go, decided.go, failures.go
//	refining    new nodes as candidates, scouts               refine.go, lookahead.go, scouts.go
//	again       a search that goes on from an earlier plan    redo.go, partly.go
//	outcome     commands, and why nodes stay                  outcome.go
package searching
