// Package removing answers one question: can this group of nodes be removed, where do its pods go, and is the removal worth it?
//
// The input is a group of candidates, the places where its pods may go, and the Conditions of the search. The trial contains the search's
// earlier decisions. The output is a Step that was executed on the trial, or a block that keeps the group from being removed. The caller
// rolls the trial back or accepts the step.
//
// The nodes are hidden on the trial. Their pods are placed on nodes that stay, and on new nodes if necessary. A lower bound on the cost of
// new nodes rejects most groups before a new node is opened. Most of the work is placing the pods of the group. A full placement like
// provisioning's counts as 50 what-ifs.
//
//	steps      what becomes of a group       step.go, conditions.go
//	trying     on the trial                  trier.go, limits.go
//	launching  new nodes for waiting pods    newnodes.go
package removing
