// Package waves answers one question: which commands of a plan are executed at the same time, and which wait for them?
//
// The input is commands, the time until new nodes and pods are ready, and for each node the evictions that its pods need from
// PodDisruptionBudgets. The output is the commands in the order of execution, and the waves: how long each takes, what it saves, and what
// it costs while old and new nodes run at the same time.
//
// Commands are taken one after another, those with the highest saving per disturbance first. Each joins the first wave whose drains do not
// become longer because of it. That takes the number of commands times the number of waves, times the budgets of a command.
package waves
