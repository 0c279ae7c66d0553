// Package sweep runs a command of drawknife on many inputs: on the snapshots of many clusters, with several NodePools, months of a trace,
// prices or settings. A grid names the axes and their values; each combination of values is a cell, which is one run of the command.
//
// The cells are divided into shards. A shard is a process: on this computer (sweep run), or as a pod of an Indexed Job on any Kubernetes
// cluster (sweep manifest). The result of each cell is a file in the folder of results, which appears when it is complete. A shard that is
// killed can therefore be started again: it runs only the cells that are missing. The report (sweep reduce) depends only on the grid and on
// the inputs, byte for byte, however many shards there were and however often they were started.
//
// The command gets the commands that a grid may name. For example, a program that adds it to its questions on a cluster:
//
//	questions := simulate.Commands(simulate.Options{})
//	all := append(questions, sweep.New(sweep.Options{Commands: questions}))
//
// Stability: beta.
package sweep
