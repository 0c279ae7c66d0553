// Package trial is a what-if on a model: where pods are now, what is remembered of that, and how it is undone.
//
// The question: what has been tried so far, on which nodes may more pods go, and in which stages and sites could they get new ones?
//
// Input is a model. Output is a [Trial]: a state (package state) that starts with the nodes of the snapshot and nothing placed, with the
// options of the present call, the sites and assignments that are known while classes are placed, an index of nodes with room, and what
// is known of allocations of devices. [Trial.Mark] and [Trial.Rollback] go back; [Trial.Hide] takes a node away.
//
// The method: a trial knows nothing of who chooses places. Rooms above embed it and decide: placing one class, solving all that waits,
// launching nodes instead of others. Each change goes through the state, whose log undoes it; what is remembered here is either about
// the model alone, or watches the state ([Trial] is told when room changes).
//
// Gangs that run and have to be in one domain are moved in one of the ways that [WaysOf] lists: their pods wait as what they would be there.
//
// The cost: a change costs what it touches. [RoomIndex] finds the first node with room in a given order in logarithmic time, by a
// segment tree for each two resources and kind of request.
package trial
