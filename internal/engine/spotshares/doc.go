// Package spotshares decides which pods of a workload may run on which spot nodes, so that no plan breaks the workload's limits.
//
// The question: how many pods of a workload may be on spot nodes, which pods are these, and on which spot pools may they be?
//
// The input is the workload's limits, its pods with their current places, and the spot pools from which nodes can be bought. A spot pool is
// an instance type in a zone. The output is a [Division] of the pods into parts. It says which spot pools the pods of each part may use.
//
// The method: parts have no pods and no spot pools in common, and no part has more pods than are allowed on one pool. Therefore every plan
// keeps the limits without counting pods: the part of a pod acts like a node selector. Pods of one workload are interchangeable, so it does
// not matter which of them are in which part. Pods on spot nodes keep their spot pools. After that, pending pods are assigned to parts, and
// then pods on other nodes, node by node. Spot pools that the workload does not use are assigned to the parts in turn. The pools with the
// lowest price for a pod of the workload come first, so that each part gets some of the cheapest pools.
//
// The cost: sorting the workload's pods and the spot pools. If no pods have limits, only their annotations are read.
package spotshares
