// Package replay answers one question: can these commands still be executed one after another, exactly as planned?
//
// The input is commands and a fleet, which may be newer than the one that they were planned for. The output is the commands that are still
// valid, and the reasons why other commands are not. The nodes of each valid command are in an order in which they can take their pods.
// Spread rules may require an order of nodes, or that nodes take turns.
//
// Commands are executed on a trial.Trial. If a command fails, it is undone. So the work is proportional to the number of pods. If rules
// require an order, nodes are tried again after other nodes, as long as this places some pod. This takes at most the square of the number
// of nodes.
package replay
