// Package paying answers one question: is what a command saves worth what it disturbs?
//
// Input are an Exchange, which is the nodes that go with the planned nodes that are launched for their pods, and Terms: over which time
// savings count, and what a disturbance costs. Output are what it saves, what it is worth, and a block if that is not enough. It takes as
// long as adding up the nodes; for new nodes also what package allowedtypes takes to find the types that they may be launched as.
package paying
