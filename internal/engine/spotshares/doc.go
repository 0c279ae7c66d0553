// Package spotshares decides which pods of a workload may be on which spot nodes, so that no plan breaks the workload's limits.
//
// The question: how many pods of a workload may be on spot nodes, which pods are these, and on which spot pools may they be?
//
// The input is the workload's limits, its pods with their present places, and the spot pools that can be bought, each an instance type in
// a zone. The output is a [Division]: parts of the pods, and which spot pools pods of each part may use.
//
// The method: parts are disjoint, and so are their spot pools, and no part has more pods than may be on one pool. So every plan keeps the
// limits without counting pods: the part of a pod is a demand like a node selector. Pods of one workload are interchangeable, therefore
// it does not matter which of them are in which part: those on spot nodes keep their pools, then come pods that wait, then pods on other
// nodes, node by node. Spot pools that the workload does not use are assigned to the parts in turn, the pools with the lowest price for
// such a pod first, so that each part gets some of the cheapest.
//
// The cost: a sort of the workload's pods and of the spot pools. For pods without limits, only their annotations are read.
package spotshares
