// Package trial is a what-if on a model: where pods are now, what is cached about that, and how changes are undone.
//
// The question: which changes have been tried so far, which nodes can take more pods, and in which stages and sites could pods get new
// nodes?
//
// The input is a model. The output is a [Trial]: a state (package state) that starts with the nodes of the snapshot and without
// placements. It also contains the options of the current call, the sites and assignments for placing classes, an index of nodes with
// room, and results of device allocations. [Trial.Mark] and [Trial.Rollback] undo changes; [Trial.Hide] removes a node.
//
// The method: a trial does not choose places. Packages on higher floors embed it and decide: they place one class, solve for all pending
// pods, or launch nodes instead of others. Each change is made through the state, whose log undoes it. Caches of the trial either depend
// only on the model, or are updated by the state ([Trial] is notified when room changes).
//
// Running gangs that require one domain are moved in one of the ways of [WaysOf]: their pods become pending as the variant for that domain.
//
// The cost: the work for a change is proportional to the data that it changes. [RoomIndex] finds the first node with room in a given
// order in logarithmic time, by a segment tree for each two resources and kind of request.
package trial
