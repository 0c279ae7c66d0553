// Package match compares the node constraints of pods with nodes.
//
// The question: does a node meet a pod's constraints on labels and taints if some of the node's labels may not be decided yet?
//
// The input is pods' node selectors, affinity and tolerations, read by [Terms], and the labels of a node as a requirements.Set. A label of
// a planned node may still have several values. The output is [Needs]: a list of alternatives, of which a node must meet one.
//
// The method: needs are lists of requirements, sorted by key. Requirements on one key are not merged, because merged requirements would no
// longer say that the label must exist. [Needs.MetBy] reports whether the node may meet all needs. [AnySureBy] reports whether the node
// will meet one alternative, whatever values its labels get. [Needs.Conflict] reports whether no node can meet the needs. Taints are
// compared by kube-scheduler's rule.
//
// The cost: a comparison reads each requirement once. Requirements have few values.
package match
