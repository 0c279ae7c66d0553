// Package gangs finds the topology domains in which all pods of a gang could run.
//
// The question: which combinations of values of the given label keys do nodes have, or could new nodes have?
//
// The input is label keys, the labels of existing nodes, and the offerings of pools. The output is the list of distinct combinations, in
// the order of their values. A node that lacks one of the keys is in no domain.
//
// The method goes through the nodes, and through the offerings of each pool. If an offering does not state a label, the label of its
// instance type is used, or else the label of the pool's template.
//
// The cost is one look-up for each node, each offering and each key. [MostDomains] limits the number of combinations.
package gangs
