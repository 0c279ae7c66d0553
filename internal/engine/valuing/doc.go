// Package valuing computes values of pods: about how much is saved if a pod finds another place.
//
// The question: which share of the lowest possible cost of new nodes belongs to each pod, and which kinds of new nodes could the pods
// get?
//
// The input is a model or a trial. The output is [Worth] for the pods of the snapshot's nodes, [Values] for pending pods, and
// [Launchables]. The problems that package pricing solves are stated here as well ([Valuing.NewProblem], [Valuing.NewProof]).
//
// The method: dual prices of a linear program over whole nodes (package pricing, column generation as by Gilmore and Gomory, 1961). Known
// values of equal pods are tried first: they are still a proof if no node can hold pods with a higher total value than its price.
//
// The cost is that of pricing; with known values it is one pass over the kinds of nodes.
package valuing

import "github.com/drawknife/drawknife/internal/engine/trial"

// Valuing says what pods are worth, on a trial.
type Valuing struct{ *trial.Trial }

// Of works on the trial.
func Of(t *trial.Trial) Valuing { return Valuing{t} }
