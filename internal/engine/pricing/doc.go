// Package pricing values pods and bounds the cost of new nodes.
//
// The question: what is each pod worth, and what must any nodes that hold all pods at least cost?
//
// Input is a [Problem]: items, which are pods that are alike with what one of them needs, and options, which are nodes to buy with a price
// and what they have room for. Output are [Values]: for each item what one pod is worth, for each option what its resources are worth, and a
// lower bound on the cost of any nodes that hold all pods, with what proves it ([Certified]). No option holds pods of more value than its
// price.
//
// The method is column generation with fractional fillings (Gilmore and Gomory, A Linear Programming Approach to the Cutting-Stock Problem,
// 1961), smoothed (Wentges, Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming, 1997): a [Program] prices one node of
// each option by the values so far and brings in what is worth more than it costs. Its floating-point values are then lowered until weak
// duality proves them, and rounded down. What there is only so much of, such as a reservation or a commitment, is paid for at its own dual
// value. docs/algorithm.md carries an example through.
//
// The cost: a column takes the square of the rows, of which there are at most some hundred, and each look at all options one small linear
// program for each. The work is bounded by counts, not by time; ending early costs quality of the bound, not its validity.
package pricing
