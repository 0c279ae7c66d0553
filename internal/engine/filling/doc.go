// Package filling chooses whole nodes for pods whose values are known.
//
// The question: which nodes, filled how, hold the pods for little money, if each pod is worth so much?
//
// Input is a [Task]: a problem with the values of its items, and the rules about single nodes that are no amounts. A [Gate] says what may be
// bought where that is limited. Output are [Bins], nodes to buy with what goes on each, and how many pods of each item have none.
//
// The method: fillings of a second column generation, over whole pods, are bought as often as its mix says, rounded down; a greedy
// [Packer] buys the node whose best filling is worth most for its price, for what is left; then each node is exchanged for the cheapest that
// holds its pods, nodes are emptied into the others, the worst are packed again, pairs are merged, and a few pods are packed exactly over
// all their subsets. What comes out is handed to package packing, which improves it further. Of the literature: patterns and rounding after
// Gilmore and Gomory (1961), the greedy after the cost-benefit rule for set covering (Chvátal, A Greedy Heuristic for the Set-Covering
// Problem, 1979).
//
// The cost: all steps are bounded by counts of looks at pods, options and pairs of nodes; the packer alone takes, for each filling, one look
// at the items the option takes.
package filling
