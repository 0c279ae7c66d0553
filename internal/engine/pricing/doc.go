// Package pricing computes values of pods and a lower bound on the cost of new nodes.
//
// The question: what is the value of each pod, and what is the lowest possible cost of nodes for all pods?
//
// The input is a [Problem] with items and options. An item is a group of equal pods, with the needs of one such pod. An option is a kind of
// node to buy, with its price and its room. The output is [Values]: the value of one pod of each item, the price of each option's
// resources, and a lower bound on the cost of any nodes that hold all pods, with its proof ([Certified]). No option can hold pods whose
// value exceeds its price.
//
// The method is column generation with fractional fillings (Gilmore and Gomory, A Linear Programming Approach to the Cutting-Stock Problem,
// 1961), smoothed (Wentges, Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming, 1997). A [Program] finds the best
// filling of one node of each option at the current values, and adds the fillings whose value exceeds the node's price. Its floating-point
// values are then lowered until weak duality proves them, and are rounded down. Limited things, such as reservations and commitments, have
// their own dual value, which is added to the price of the nodes that use them. docs/algorithm.md has a worked example.
//
// The cost: the time for a column grows with the square of the number of rows. There are at most a few hundred rows. Each pass over all
// options solves one small linear program per option. The work is limited by counts, not by time. If the computation ends early, the bound
// is weaker but still valid.
package pricing
