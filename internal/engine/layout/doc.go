// Package layout knows in which domains pods are, and in which they could be.
//
// The question: which domains of the labels that rules look at are the nodes in that are there, which could new ones be in, and which of
// them can the pods of a class reach?
//
// Input are a [Cluster]: rules that pods state, classes and shapes, pools, nodes and DaemonSets. Output is the state of the nodes that are
// there, with their pods counted ([Cluster.Count]), the domains that the pods of each shape can reach on new nodes ([Cluster.Reach]), and
// [Cells]: numbers for combinations of domains.
//
// The method: each node is in one cell, one domain for each label; rules over domains larger than a node can't tell the nodes of a cell
// apart. Nodes of one group are counted as one. What new nodes of a pool may be in follows from its profiles and the ways to decide
// the labels that they leave open.
//
// The cost: a pass over nodes and over those of their pods that rules notice; for each shape under a spread rule one over the rows and slots
// of its profiles. A new node's cell is remembered by pool and slot, and by instance type where types state such labels.
package layout
