// Package nodepool computes which nodes a NodePool may launch, and which labels they have.
//
// The question: which rows of instance types, bought in which slots, can meet a demand on the pool? Which labels are still open then, and
// which values can they get? Do the pool's limits and minValues allow that?
//
// The input is a NodePool with its requirements, labels, taints and limits, a catalog of what is on sale, and the DaemonSets that would
// run. The output is a [Pool]. It has a [Table] of rows (a variant in those slots where the same DaemonSets run) with the room for pods,
// a
// [Profile] for each distinct demand (a set of rows and a set of slots), [Assignment]s of the labels that neither the instance type nor the
// offering decides, and the cheapest purchase with room for a load ([Pool.CheapestWithin]).
//
// The method: a requirement is a set of rows or of slots, so a demand is an AND of sets, and equal demands share a profile. Purchases are
// sorted by price once for each table. A segment tree with the most room below each of its nodes finds the purchases with enough room and
// skips the others. Amounts are integer vectors.
//
// The cost: a table takes one pass over catalog and DaemonSets, a profile one pass over the table's rows. Finding the cheapest purchase
// takes one logarithmic step for each cheaper purchase without room. Assignments of several labels are a product, limited to
// [MaxAssignments]; beyond that, each profile has its own.
package nodepool
