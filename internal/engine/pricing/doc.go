// Package pricing values pods and bounds the cost of new nodes.
//
// The question: what is each pod worth, and what is the least that nodes for all pods can cost?
//
// The input is a [Problem]: items, which are groups of equal pods with the needs of one, and options, which are nodes to buy with a price
// and their room. The output is [Values]: the worth of one pod of each item, the worth of each option's resources, and a lower bound on
// the cost of any nodes that hold all pods, with its proof ([Certified]). No option can hold pods of more value than its price.
//
// The method is column generation with fractional fillings (Gilmore and Gomory, A Linear Programming Approach to the Cutting-Stock Problem,
// 1961), smoothed (Wentges, Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming, 1997): a [Program] prices one node of
// each option by the present values and adds the fillings that are worth more than they cost. Its floating-point values are then lowered
// until weak duality proves them, and rounded down. Limited things, such as reservations and commitments, are paid for at their own dual
// value. docs/algorithm.md carries an example through.
//
// The cost: a column takes the square of the number of rows, which is at most a few hundred; each pass over all options solves one small
// linear program per option. The work is bounded by counts, not by time; ending early gives a weaker bound, but a valid one.
package pricing
