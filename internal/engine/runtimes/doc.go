// Package runtimes keeps pods off reservations that end before the pods would be done.
//
// The question: which reservations end before a pod would be done?
//
// Input are the snapshot's time, the pods whose run time is known, from their activeDeadlineSeconds or from their gang, and the ends of
// the reservations on sale. Output are patterns of these pods that also require the reservation of their node to be none of these.
//
// The method: such a requirement is a node affinity like any other, on the label that names a reservation. So planned nodes, their claims
// and existing nodes all follow it, and no other part of planning needs to know.
//
// The cost: pods without a known run time cost nothing beyond one look at a mark. A snapshot with such pods costs one look at each offering.
package runtimes
