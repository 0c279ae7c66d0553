// Package paying answers one question: is a command's saving worth its disturbance?
//
// The input is an Exchange (the removed nodes and the planned nodes for their pods) and Terms: the time over which savings count, and the
// cost of a disturbance. The output is the saving of the exchange, its value, and a block if the exchange is not worth it. The work is
// proportional to the number of nodes. For new nodes, the work also includes finding their allowed types (package allowedtypes).
package paying
