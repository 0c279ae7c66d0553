// Package certify proves a lower bound on the cost of new nodes.
//
// The question: how can anyone verify, by arithmetic alone, that no set of new nodes for the pods of a plan costs less than the lower
// bound?
//
// The input is a trial whose pods have places. The output is a [trial.Proof] with the values of its pods, and a planning.Certificate made
// from it.
//
// The method: weak duality. Values of pods and multipliers of resources are rounded so that, for each kind of node, the pods that fit on
// the node never have a total value above its price. If few pods share a node, whole pods are counted by dynamic programming, which gives a
// better bound than fractions.
//
// The cost: the cost of package pricing for the plan's problem, plus one pass over classes, types and limits for the certificate.
package certify

import "github.com/drawknife/drawknife/internal/engine/trial"

// Certifying proves lower bounds for a trial.
type Certifying struct{ *trial.Trial }

// Of returns a Certifying for the trial.
func Of(t *trial.Trial) Certifying { return Certifying{t} }
