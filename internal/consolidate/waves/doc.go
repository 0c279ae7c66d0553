// Package waves answers one question: which commands of a plan are carried out at the same time, and which wait for them?
//
// Input are commands, how long new nodes and pods take to be ready, and for each node what its pods need of PodDisruptionBudgets. Output are
// the commands in the order in which they are carried out, and the waves: how long each takes, what it saves, and what it costs while old
// and new nodes run side by side.
//
// Commands are taken in turn, those first that save most for what they disturb. Each joins the first wave whose drains it does not make
// longer. That takes the number of commands times the number of waves, times the budgets of a command.
package waves
