// Package allowedtypes answers one question: which instance types may the new nodes of a command have, so that the command saves money with
// each of these types?
//
// The input is the common properties of the removed nodes, the planned nodes with the types that would hold their pods, and the largest
// total cost. The output is the planned nodes with the remaining types, or a block that says why a node has no remaining type.
//
// The largest total cost is divided among the new nodes in proportion to their prices. A type remains if, with each offering that the
// launch may use, it costs less than its node's share. The rules for capacity types are those of disruption.Reference. The work is
// proportional to the number of nodes times the number of types. Types are priced only once for all nodes of a pool with the same
// requirements.
//
//	shares   the largest cost of each new node               finder.go
//	offers   the types that cost no more        offers.go
package allowedtypes
