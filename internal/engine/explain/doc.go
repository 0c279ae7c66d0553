// Package explain says why a pod has no place, and what would have to be different.
//
// The question: which check keeps a pod out of each pool and off each node there is, and what is the least change after which it would fit?
//
// Input is a trial in which pods still wait. Output are planning.Reasons for each of them ([Explaining.WriteUnschedulable]).
//
// The method: a survey counts the nodes that a pool could launch by the first check that each fails, and remembers which fail one check
// alone: these are the nearest misses. Then single changes are tried, in the order of planning.MissCode, and some pairs; names that
// nothing has are compared with those that there are. Nodes there are go through the same checks.
//
// The cost: a pass over rows and slots of each pool for a class, bounded by a number of looks; what pools and nodes have in common is found
// once for all classes.
package explain

import "github.com/drawknife/drawknife/internal/engine/trial"

// Explaining says why pods have no place, on a trial.
type Explaining struct{ *trial.Trial }

// Of works on the trial.
func Of(t *trial.Trial) Explaining { return Explaining{t} }

// misses tries changes of the pods and the pools, one or two at a time, for the nearest after which a pod would fit.
type misses struct{ *explainer }

func missesOf(x *explainer) misses { return misses{x} }

// nodeFaults finds what keeps a class off the nodes that there are.
type nodeFaults struct{ *explainer }

func nodeFaultsOf(x *explainer) nodeFaults { return nodeFaults{x} }

// ruleFaults finds which rules about other pods keep a class out, and what they count.
type ruleFaults struct{ *explainer }

func ruleFaultsOf(x *explainer) ruleFaults { return ruleFaults{x} }
