// Package nodepool computes which nodes a NodePool can launch, and which labels they have.
//
// The question: which rows of instance types, bought in which slots, can meet a demand on the pool? Which labels of such a node are still
// open, and which values can they get? Do the pool's limits and minValues allow the node?
//
// The input is a NodePool with its requirements, labels, taints and limits, a catalog of what can be bought, and the DaemonSets that would
// run. The output is a [Pool]. It has a [Table] of rows (a row is a variant with those slots in which the same DaemonSets run) with the
// room for pods; a [Profile] for each distinct demand (a set of rows and a set of slots); [Assignment]s of the labels that neither the
// instance type nor the offering decides; and the cheapest purchase with room for a load ([Pool.CheapestWithin]).
//
// The method: the rows or slots that meet a requirement are a set, so a demand is an AND of sets. Equal demands share a profile. Purchases
// are sorted by price once for each table. A segment tree, each node of which has the maximum room in its subtree, finds the purchases with
// enough room and skips the others. Amounts are integer vectors.
//
// The cost: a table takes one pass over the catalog and the DaemonSets; a profile takes one pass over the table's rows. The search for the
// cheapest purchase takes logarithmic time for each cheaper purchase that has room but is not suitable. The assignments of several labels
// are all combinations of their values, up to [MaxAssignments]. If there are more combinations, each profile has its own assignment.
package nodepool
