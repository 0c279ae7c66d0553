// Package spotshares decides which pods of a workload may be on which spot nodes, so that no plan breaks the workload's limits.
//
// The question: of the pods of a workload, how many may be on spot nodes, on which spot pools, and which pods are these?
//
// Input are the workload's limits, its pods with the places that they have, and the spot pools that are on sale, each an instance type in a zone.
// Output is a [Division]: parts of the pods, and which spot pools pods of each part may use.
//
// The method: parts are disjoint, and so are their spot pools, and no part has more pods than may be on one pool. So a plan keeps the
// limits whatever it places and moves, pod by pod, without counting anything: the parts are demands like a node selector. Pods of one workload are
// interchangeable, therefore it does not matter which of them are in which part: those on spot nodes keep their pools, then come pods that
// wait, then pods on other nodes, node by node. Spot pools that the workload does not use are assigned to the parts in turn, the ones with the lowest price
// for such a pod first, so that each part has some of the cheapest.
//
// The cost: a sort of the workload's pods and of the spot pools. Pods without limits cost one look at their annotations.
package spotshares
