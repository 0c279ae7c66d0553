// Package nodepool knows which nodes a NodePool may launch, and what they carry.
//
// The question: which rows of instance types, bought in which slots, can meet a demand on the pool; which labels are still open then, and
// in which ways can they be decided; and do its limits and minValues allow that?
//
// Input are a NodePool with its requirements, labels, taints and limits, a catalog of what is on sale, and the DaemonSets that would
// run. Output is a [Pool]: a [Table] of rows (a variant in those slots where the same DaemonSets run) with what is left on them for pods; a
// [Profile] for each distinct demand, which is a set of rows and a set of slots; [Assignment]s of the labels that neither the instance type nor the
// offering decides; and the cheapest purchase with room for a load ([Pool.CheapestWithin]).
//
// The method: a requirement is a set over rows or over slots, so that a demand is an AND of sets, and equal demands share a profile. Purchases
// are sorted by price once for each table; a tree of the most that is left under each node, a segment tree, finds those that have room without a look at the
// others. Amounts are integer vectors.
//
// The cost: a table takes a pass over catalog and DaemonSets, a profile one over its rows. Finding the cheapest purchase takes as many steps as
// there are cheaper ones without room in front of it, each logarithmic. Assignments of several labels are a product, looked at up to
// [MaxAssignments]; beyond that each profile has its own.
package nodepool
