// Package certify proves what new nodes must cost at least.
//
// The question: how can anybody check, by arithmetic alone, that no set of new nodes for the pods of a plan costs less than its bound?
//
// Input is a trial whose pods have places. Output is a [trial.Proof], with the values of its pods, and of that a planning.Certificate.
//
// The method: weak duality. Values of pods and multipliers of resources are rounded so that for no kind of node the pods that fit are worth
// more than it costs; where few pods share a node, whole pods are counted by dynamic programming, which bounds better than fractions.
//
// The cost: that of pricing for the problem of the plan, and a pass over classes, types and limits to write it down.
package certify

import "github.com/drawknife/drawknife/internal/engine/trial"

// Certifying proves lower bounds, on a trial.
type Certifying struct{ *trial.Trial }

// Of works on the trial.
func Of(t *trial.Trial) Certifying { return Certifying{t} }
