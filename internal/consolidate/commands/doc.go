// Package commands answers one question: which commands do the steps of a search make?
//
// The input is the result of a search: steps on a trial, and the components that the steps form. The output is the commands, and the nodes
// that are left for the next plan. Each command has room for its pods without the other commands, and lists the types that its new nodes
// may have.
//
// Components are split into parts that share no new node. A part that is not worth it alone is combined with the part that saves most. The
// commands of different components are written in parallel. In the worst case, the work for a component is the square of the number of its
// parts times the work of finding the types of its new nodes.
package commands
