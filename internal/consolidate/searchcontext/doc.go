// Package searchcontext answers one question: what do all searches for a plan of the whole fleet start from?
//
// The input is a survey.Fleet, Settings, and perhaps what an earlier plan knew. The output is a Context: candidates with their prices, the
// values of their pods, what these pods do when the node goes, and what keeps the node from being removed. It also has trials on which
// pending pods already have their places. It never changes, so parallel searches share it.
//
// Each node and pod is looked at once; what an earlier plan knew of unchanged pods is not computed again.
//
//	context      what searches share, and trials to begin with    context.go, whatif.go
//	candidates   one node, a group of them, what their pods do    candidate.go, podmoves.go
//	ranking      the order in which nodes take pods               ranking.go
package searchcontext
