// Package match compares the node constraints of pods with nodes.
//
// The question: does a node meet a pod's constraints on labels and taints if some of the node's labels may not be decided yet?
//
// The input is pods' node selectors, affinity and tolerations, read by [Terms], and the labels of a node as a requirements.Set: for a
// planned node a label may still have several values. The output is [Needs]: alternatives, of which a node must meet one.
//
// The method: needs are lists of requirements, sorted by key. They are never merged, because merging would lose that a label must exist.
// [Needs.MetBy] asks whether the node may meet all needs, [AnySureBy] whether it will meet one alternative whatever values its labels get,
// [Needs.Conflict] whether no node can. Taints are compared by kube-scheduler's rule.
//
// The cost: a comparison reads each requirement once, and requirements have few values.
package match
