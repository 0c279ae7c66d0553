// Package solving places all pending pods.
//
// The question: which pods go on which nodes, so that as many as possible have a place, pods of high priority first, and new nodes cost
// little?
//
// The input is a trial and the options of a query. The output is bindings and new nodes in the trial's state ([Solving.Place]), and the
// pods for which kube-scheduler would preempt others ([Preemptions]).
//
// The method: compute a value for each pod, fill existing nodes by value, pack the other pods onto new nodes, check all of that by the
// exact rules, and place what is left one by one (package placing). While there are few pods, it then searches for better outcomes: other
// orders, avoiding some nodes, repacking nodes, keeping room for later pods, buying less. Each attempt that is not better is undone.
//
// The cost: steps are bounded, not time; see the constants of each search. Without pricing, the first pass takes time linear in pods and
// nodes.
package solving

import "github.com/drawknife/drawknife/internal/engine/trial"

// Solving places all pending pods on a trial.
type Solving struct{ *trial.Trial }

// Of returns a Solving for the trial.
func Of(t *trial.Trial) Solving { return Solving{t} }

// Improving looks for a better outcome once all pods are placed, and undoes each attempt that is not better.
type Improving struct{ *trial.Trial }

// ImprovingOf returns an Improving for the trial.
func ImprovingOf(t *trial.Trial) Improving { return Improving{t} }
