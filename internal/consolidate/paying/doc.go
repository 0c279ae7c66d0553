// Package paying answers one question: is a command's saving worth its disturbance?
//
// The input is an Exchange, which is the nodes that go with the planned nodes that are launched for their pods, and Terms: over which
// time savings count, and what a disturbance costs. The output is its saving, its value, and a block if that is not enough. It takes as
// long as adding up the nodes; for new nodes it also finds the types that they may be launched as (package allowedtypes).
package paying
