// Package runtimes keeps pods off reservations that would end before the pods have ended.
//
// The question: which reservations end before a given pod would have ended?
//
// The input is the snapshot's time, the pods whose run time is known (from their activeDeadlineSeconds or from their gang), and the ends of
// the reservations on offer. The output is patterns of these pods with an additional requirement: their node must not use a reservation
// that ends too early.
//
// The method: such a requirement is a node affinity like any other, on the label that names a reservation. Therefore the planner applies it
// to planned nodes, their NodeClaims and existing nodes without further code for run times.
//
// The cost: for a pod without a known run time, only one mark is read. If a snapshot has pods with a known run time, all its offerings are
// read once.
package runtimes
