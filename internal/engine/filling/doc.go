// Package filling chooses whole nodes for pods whose values are known.
//
// The question: given a value for each pod, which nodes with which pods on them hold all pods at a low cost?
//
// The input is a [Task]: a problem with the values of its items, and the rules about single nodes that can't be expressed as amounts of
// resources. If there are limits, a [Gate] decides which nodes may be bought. The output is [Bins], which are nodes to buy with their pods,
// and the number of pods of each item that got no node.
//
// The method: a second column generation, over whole pods, finds fillings. Each filling is bought as often as the solution says, rounded
// down. For the remaining pods, a greedy [Packer] buys the nodes with the highest ratio of value to price. Then each node is replaced by
// the cheapest node that holds its pods. Some nodes are removed by moving their pods to other nodes. The pods of the worst nodes are packed
// again, and pairs of nodes are merged. If there are few pods, the nodes for all subsets of these pods are tried. Package packing improves
// the result further. Literature: patterns and rounding follow Gilmore and Gomory (1961); the greedy algorithm follows the cost-benefit
// rule for set covering (Chvátal, A Greedy Heuristic for the Set-Covering Problem, 1979).
//
// The cost: counters limit how many pods, options and pairs of nodes each step examines. For each filling, the packer examines each item of
// the option once.
package filling
