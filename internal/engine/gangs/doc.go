// Package gangs finds the topology domains in which a group of pods could be together.
//
// The question: which combinations of values of some label keys do nodes have, or could new nodes have?
//
// The input is label keys, the labels of existing nodes, and the offerings of pools. The output is the list of combinations, each once,
// in the order of their values. A node that lacks one of the keys is in no domain.
//
// The method goes through the nodes, and through the offerings of each pool. If an offering does not state a label, its instance type
// does, or else the pool's template.
//
// The cost is one look-up for each node, each offering and each key; the number of combinations is bounded by [MostDomains].
package gangs
