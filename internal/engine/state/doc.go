// Package state records where pods are while planners try changes.
//
// The question: which pods do nodes have now, how much is free, which pods are pending, and how can changes be undone?
//
// The input is a [World], which is never changed: nodes with their pods, classes of pods, pools, and the rules between pods. The output
// is the
// [State] after the changes: nodes hidden and closed, new nodes opened and exchanged, pods placed. Free amounts and the counters of rules,
// limits, reservations and shared volumes follow. The state does not choose places, and does not check them.
//
// The method is a log of changes: [State.Undo] undoes them one by one, last first, up to a [Mark]; [Log.Commit] clears the log. A [Record]
// contains the placements since a mark, to repeat them after an undo. [Pods] returns, for equal pods, which of them were put where.
//
// The cost: a change and its undo cost the same, one vector of resources and the counters of the rules that concern the pods.
//
//	room         what existing nodes have free, and which take pods     room.go, hide.go, seal.go
//	placements   which pods are on which host                           placements.go, place.go, pods.go
//	new nodes    opened, exchanged, given up                            nodes.go
//	counters     of rules, limits, reservations and shared volumes      rules.go, limits.go, volumes.go
//	undoing      the log, marks, and what is done again                 log.go, undo.go, record.go
package state
