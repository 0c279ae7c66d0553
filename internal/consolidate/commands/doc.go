// Package commands answers one question: which commands do the steps of a search make?
//
// The input is what a search has found: steps on a trial, and the components that they form. The output is the commands, each of which has
// room for its pods without the others, with the types that their new nodes may be launched as; and the nodes that are left for the next
// plan.
//
// Components are split into parts that share no new node. A part that does not pay alone is combined with the part that saves most.
// Components are written side by side; each takes in the worst case the square of its parts, times what it takes to find the types of its
// new nodes.
package commands
