// Package searchcontext answers one question: what do all searches for a plan of the whole fleet start from?
//
// The input is a survey.Fleet, Settings, and perhaps what an earlier plan knew; the output is a Context: candidates with what a search
// weighs, which is their prices, what their pods are worth, what these do when the node goes, and what keeps it from being removed; and
// trials on which pods that wait anyway have their places. It never changes, so parallel searches share it.
//
// Each node and pod is looked at once; what an earlier plan knew of unchanged pods is not computed again.
//
//	context      what searches share, and trials to begin with    context.go, whatif.go
//	candidates   one node, a group of them, what their pods do    candidate.go, podmoves.go
//	ranking      the order in which nodes take pods               ranking.go
package searchcontext
