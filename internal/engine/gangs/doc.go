// Package gangs knows in which topology domains a group of pods could be together.
//
// The question: which combinations of values of some label keys do nodes have, or could new nodes have?
//
// Input are label keys, the labels of the nodes that are there, and what pools sell. Output is the list of combinations, each once,
// in the order of their values. A node that lacks one of the keys is in no domain.
//
// The method is to go through the nodes, and through the offerings of each pool: where an offering leaves a label open, the instance type
// says it, and else the pool's template.
//
// The cost is one look-up for each node, each offering and each key; the number of combinations is bounded by [MostDomains].
package gangs
