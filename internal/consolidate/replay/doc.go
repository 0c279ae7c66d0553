// Package replay answers one question: can these commands still be carried out, one after another, exactly as planned?
//
// Input are commands and a fleet, which may be a later one than the plan's; output are the commands that are still good, with their nodes
// in an order in which they can take their pods, and what is in the way of the others. Rules about how pods are spread may ask for an order
// of nodes, or for nodes that take turns.
//
// Commands are carried out on a trial.Trial and undone where they can't be, so that the work is in proportion to their pods. Where rules
// ask for an order, nodes are tried again after the others as long as some pod found a place: at most the square of the number of nodes.
package replay
