// Package solving places all that waits.
//
// The question: which pods go on which nodes, so that as many as can be have a place, those of high priority first, and new nodes cost
// little?
//
// Input are a trial and the options of a query. Output are bindings and new nodes in the trial's state ([Solving.Place]), and the pods for
// which kube-scheduler would preempt others ([Preemptions]).
//
// The method: pods are valued, nodes there are filled by value, the rest packed onto new ones, all of that admitted by the exact rules, and
// what is left placed one by one (package placing). Then the outcome is searched for better ones while pods are few: other orders, places
// spared, nodes taken apart again, room kept for later, less bought. Each try is undone unless it is better.
//
// The cost: bounds on steps, not on time: see the constants of each search. A first pass is linear in pods and nodes, apart from pricing.
package solving

import "github.com/drawknife/drawknife/internal/engine/trial"

// Solving places all that waits, on a trial.
type Solving struct{ *trial.Trial }

// Of works on the trial.
func Of(t *trial.Trial) Solving { return Solving{t} }

// Improving looks for a better outcome once all is placed, and undoes each try that is none.
type Improving struct{ *trial.Trial }

// ImprovingOf works on the trial.
func ImprovingOf(t *trial.Trial) Improving { return Improving{t} }
