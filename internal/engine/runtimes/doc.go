// Package runtimes keeps pods off reservations that would end before the pods have ended.
//
// The question: which reservations end before a given pod would have ended?
//
// The input is the snapshot's time, the pods whose run time is known (from their activeDeadlineSeconds or from their gang), and the ends of
// the reservations on offer. The output is patterns of these pods with an additional requirement: their node must not use a reservation
// that ends too early.
//
// The method: such a requirement is a node affinity like any other, on the label that names a reservation. So planned nodes, their
// NodeClaims and existing nodes all follow it, and no other part of planning needs code for it.
//
// The cost: for a pod without a known run time, only one mark is read. A snapshot with such pods takes one pass over all offerings.
package runtimes
