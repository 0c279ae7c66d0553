// Package replay answers one question: can these commands still be executed, one after another, exactly as planned?
//
// The input is commands and a fleet, which may be later than the plan's. The output is the commands that are still valid, with their
// nodes in an order in which they can take their pods, and what prevents the others. Spread rules may require an order of nodes, or that
// nodes take turns.
//
// Commands are executed on a trial.Trial and undone if that fails, so the work is proportional to their pods. If rules require an order,
// nodes are tried again after the others as long as some pod found a place: at most the square of the number of nodes.
package replay
