// Package removing answers one question: can this group of nodes go, where do its pods go then, and does that pay?
//
// The input is a group of candidates, the places where its pods may go, and the Conditions of the search; the trial contains earlier
// decisions. The output is a Step, which the trial then contains, or a block that says what keeps the group. The caller rolls the trial
// back, or accepts the step.
//
// The nodes are hidden on the trial, their pods placed on nodes that stay, and on new ones if that is not enough. A lower bound on the cost
// of new nodes rejects most groups before any node is opened. It takes as long as placing the pods of the group; a full placement like
// provisioning's counts as 50 what-ifs.
//
//	steps      what becomes of a group       step.go, conditions.go
//	trying     on the trial                  trier.go, limits.go
//	launching  new nodes for waiting pods    newnodes.go
package removing
