// Package valuing computes values of pods: about how much money is saved if a pod finds a place elsewhere.
//
// The question: which share of the lowest possible cost of new nodes does each pod cause, and which kinds of new nodes could the pods get?
//
// The input is a model or a trial. The output is [Worth] for the pods of the snapshot's nodes, [Values] for pending pods, and
// [Launchables]. It also defines the problems that package pricing solves ([Valuing.NewProblem], [Valuing.NewProof]).
//
// The method: dual prices of a linear program over whole nodes (package pricing, column generation as by Gilmore and Gomory, 1961). Known
// values of equal pods are tried first. They are still a proof if on no node the total value of the pods exceeds the node's price.
//
// The cost is the cost of package pricing. With known values it is one pass over the kinds of nodes.
package valuing

import "github.com/drawknife/drawknife/internal/engine/trial"

// Valuing computes values of pods for a trial.
type Valuing struct{ *trial.Trial }

// Of returns a Valuing for the trial.
func Of(t *trial.Trial) Valuing { return Valuing{t} }
