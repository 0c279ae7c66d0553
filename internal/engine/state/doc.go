// Package state keeps what is where while planners try things out.
//
// The question: what do nodes carry and have free now, which pods wait, and how does all that become again what it was?
//
// Input is a [World], which is never changed: nodes with their pods, classes of pods, pools, and the rules between pods. Output is the
// [State] after what was done to it: nodes hidden and closed, new nodes opened and exchanged, pods placed; amounts free, counters of the
// rules, of limits, reservations and shared volumes follow. It knows nothing of who chooses places, and checks none.
//
// The method is a log of changes: [State.Undo] takes them back one by one, last first, to a [Mark]; [Log.Commit] forgets the log. A
// [Record] is what was placed since a mark, to be done again after it was undone, and [Pods] tells, of pods that are alike, which were put
// where.
//
// The cost: a change and its undoing take the same, one vector of resources and the counters of the rules that concern the pods.
//
//	room         what existing nodes have free, and which take pods     room.go, hide.go, seal.go
//	placements   which pods are on which host                           placements.go, place.go, pods.go
//	new nodes    opened, exchanged, given up                            nodes.go
//	counters     of rules, limits, reservations and shared volumes      rules.go, limits.go, volumes.go
//	undoing      the log, marks, and what is done again                 log.go, undo.go, record.go
package state
