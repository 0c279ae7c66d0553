// Package replay answers one question: can these commands still be executed one after another, exactly as planned?
//
// The input is commands and a fleet, which may be newer than the fleet that the commands were planned for. The output is the commands that
// are still valid, and the reasons why other commands are not valid. The nodes of each valid command are in an order in which they can take
// their pods. Spread rules may require a certain order of nodes, or that nodes take pods in turns.
//
// Commands are executed on a trial.Trial. If a command fails, it is undone. So the work is proportional to the number of pods. If spread
// rules require an order, nodes are tried again after other nodes, as long as this places some pod. The number of tries is at most the
// square of the number of nodes.
package replay
