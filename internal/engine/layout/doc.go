// Package layout finds the domains in which pods are and those in which they could be.
//
// The question: rules use domains of labels: in which domains are existing nodes, in which could new nodes be, and which domains can the
// pods of a class reach?
//
// The input is a [Cluster]: rules that pods state, classes and shapes, pools, nodes and DaemonSets. The output is the topology state of
// existing nodes with their pods ([Cluster.Count]), the domains that the pods of each shape can reach on new nodes ([Cluster.Reach]), and
// [Cells]: numbers for combinations of domains.
//
// The method: each node is in one cell, which is one domain for each label. Rules over domains larger than a node can't distinguish the
// nodes of a cell. All nodes of one group are counted together. The domains of a pool's new nodes follow from its profiles, and from the
// possible values of labels that the profiles leave open.
//
// The cost: one pass over the nodes and the pods that rules count and, for each shape with a spread rule, one pass over the rows and slots
// of its profiles. The cell of a new node is cached by pool and slot, and by instance type if types state such labels.
package layout
