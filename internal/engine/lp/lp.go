// Package lp solves the two small linear programs that planners need.
//
// The question: what is one pod worth? A Master covers a demand at the lowest price, and its duals are the value of one unit of each
// row. A Knapsack finds the filling of one node that has the highest value at these values of pods. This filling is the next column for the
// Master. Used alternately, they are column generation (Gilmore and Gomory, A Linear Programming Approach to the Cutting-Stock Problem,
// 1961); docs/algorithm.md has a worked example.
//
// Input and output are slices of float64: the package does not depend on Kubernetes. Both programs have few rows (a few hundred classes, or
// a few resources), so both keep a dense inverse of the basis. One pivot of a Master with n rows takes n² steps, one of a Knapsack with d
// resources and n open classes n·d + d².
//
// Results are floating-point numbers within a tolerance. They guide searches and propose bounds. Code that reports such a bound first
// proves it with integers.
package lp

// eps is the tolerance of Knapsack and Master.
const eps = 1e-9
