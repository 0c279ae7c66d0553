// Package state records on which nodes pods are while planners try changes.
//
// The question: which pods are on each node now, which amounts are free, which pods are pending, and how can changes be undone?
//
// The input is a [World], which is never changed: nodes with their pods, classes of pods, pools, and the rules between pods. The output is
// the [State] after the changes. Changes are: nodes are hidden or closed, new nodes are opened or exchanged, and pods are placed. Free
// amounts and the counters of rules, limits, reservations and shared volumes are updated with each change. The state does not choose places
// and does not check them.
//
// The method is a log of changes: [State.Undo] undoes them one by one, the last first, up to a [Mark]. [Log.Commit] clears the log. A
// [Record] contains the placements since a mark, so that they can be repeated after an undo. [Pods] contains, for each placement of pods of
// one class, the pods that were placed.
//
// The cost: a change and its undo take the same time. Each updates one vector of resources and the counters of the rules that concern the
// pods.
//
//	room         free amounts of existing nodes, usable nodes           room.go, hide.go, seal.go
//	placements   the pods on each host                                  placements.go, place.go, pods.go
//	new nodes    opened, exchanged, abandoned                           nodes.go
//	counters     of rules, limits, reservations and shared volumes      rules.go, limits.go, volumes.go
//	undoing      the log, marks, and repeated changes                   log.go, undo.go, record.go
package state
