// Package trial tries changes on a model: it records on which nodes pods are now, caches results that follow from these placements, and
// undoes changes.
//
// The question: which changes have been made so far, which nodes can take more pods, and at which stages and sites could pods get new
// nodes?
//
// The input is a model. The output is a [Trial]: a state (package state) that starts with the nodes of the snapshot and without
// placements. It also contains the options of the current call, the sites and assignments for placing classes, an index of nodes with room,
// and the results of device allocations. [Trial.Mark] and [Trial.Rollback] undo changes; [Trial.Hide] removes a node.
//
// The method: a trial does not choose places. Packages that import it embed a trial and decide: they place one class, solve for all pending
// pods, or launch nodes in place of others. Each change is made through the state, whose log undoes it. Caches of the trial depend only on
// the model, or the state updates them ([Trial] is notified when room changes).
//
// Running gangs that require one domain are moved by one of the joint moves that [WaysOf] returns. Their pods then become pending as pods
// of the class for the target domain.
//
// The cost: the time for a change is proportional to the data that it changes. Type roomIndex finds the first node with room, in a given
// order, in logarithmic time. It has a segment tree for each pair of resources and each kind of request.
package trial
