// Package filling chooses whole nodes for pods whose values are known.
//
// The question: given a value for each pod, which nodes with which pods on them hold all pods at a low cost?
//
// The input is a [Task]: a problem with the values of its items, and the rules about single nodes that can't be expressed as amounts. A
// [Gate] decides what may be bought if there are limits. The output is [Bins], which are nodes to buy with their pods, and the number of
// pods of each item that have no node.
//
// The method: a second column generation, over whole pods, finds fillings, which are bought as often as its solution says, rounded down.
// For the remaining pods, a greedy [Packer] buys the node whose best filling is worth most for its price. Then each node is replaced by
// the cheapest one that holds its pods, nodes are emptied into others, the worst are packed again, pairs are merged, and a few pods are
// packed exactly over all their subsets. Package packing improves the result further. Literature: patterns and rounding follow Gilmore
// and Gomory (1961); the greedy algorithm follows the cost-benefit rule for set covering (Chvátal, A Greedy Heuristic for the
// Set-Covering Problem, 1979).
//
// The cost: all steps are limited by counters of the pods, options and pairs of nodes that they examine. For each filling, the packer
// examines each item of the option once.
package filling
