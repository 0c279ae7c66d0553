// Package explain says why a pod has no place, and which change would give it a place.
//
// The question: which check keeps a pod out of each pool and off each existing node, and what is the smallest change with which the pod
// would fit?
//
// The input is a trial with pending pods. The output is planning.Reasons for each pending pod ([Explaining.WriteUnschedulable]).
//
// The method: a survey counts the nodes that a pool could launch by the first check that they fail. It remembers nodes that fail only one
// check: these are the nearest misses. Then single changes are tried in the order of planning.MissCode, and then some pairs of changes.
// Unknown names are compared with known names. Existing nodes go through the same checks.
//
// The cost: for each class, one pass over the instance types and offerings of each pool, with a limited number of checks. Parts that
// classes have in common are computed once.
package explain

import "github.com/drawknife/drawknife/internal/engine/trial"

// Explaining explains why pods of a trial have no place.
type Explaining struct{ *trial.Trial }

// Of returns an Explaining for the trial.
func Of(t *trial.Trial) Explaining { return Explaining{t} }

// misses tries changes to the pods and the pools, one or two at a time, to find the smallest change with which a pod would fit.
type misses struct{ *explainer }

func missesOf(x *explainer) misses { return misses{x} }

// nodeFaults finds the checks that keep a class off the existing nodes.
type nodeFaults struct{ *explainer }

func nodeFaultsOf(x *explainer) nodeFaults { return nodeFaults{x} }

// ruleFaults finds the topology rules that keep a class off nodes, and what these rules count.
type ruleFaults struct{ *explainer }

func ruleFaultsOf(x *explainer) ruleFaults { return ruleFaults{x} }
