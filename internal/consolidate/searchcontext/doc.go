// Package searchcontext answers one question: which data do all searches for a plan of the whole fleet share?
//
// The input is a survey.Fleet, Settings, and perhaps the knowledge of an earlier plan (Known). The output is a Context. It contains the
// candidates with their prices, the values of their pods, the moves of their pods, and the blocks that keep candidates from being removed.
// A Context also makes trials on which pending pods already have their places. A Context never changes, so parallel searches share it.
//
// Each node and pod is examined once. Results of an earlier plan are used again for unchanged pods.
//
//	context      what searches share, and trials to begin with    context.go, whatif.go
//	candidates   one node, a group of them, what their pods do    candidate.go, podmoves.go
//	ranking      the order in which nodes take pods               ranking.go
package searchcontext
