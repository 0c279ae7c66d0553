// Package waves answers one question: which commands of a plan are executed at the same time, and which commands wait for other commands?
//
// The input is commands, the time until new nodes and pods are ready, and the evictions that each node needs under PodDisruptionBudgets.
// The output is the commands in the order of execution, and the waves. Each wave has a duration, a saving, and the cost of running old and
// new nodes at the same time.
//
// Commands are assigned one after another, in descending order of saving per disturbance. Each command joins the first wave in which no
// drain becomes longer because of this command. The work is the number of commands times the number of waves, times the
// PodDisruptionBudgets of a command.
package waves
