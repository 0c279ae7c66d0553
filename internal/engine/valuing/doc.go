// Package valuing computes values of pods. The value of a pod is approximately the money that is saved if the pod finds a place on nodes
// that exist anyway.
//
// The question: which share of the lowest possible cost of new nodes does each pod cause, and on which kinds of new nodes could the pods
// be?
//
// The input is a model or a trial. The output is [Worth] for the pods of the snapshot's nodes, [Values] for pending pods, and
// [Launchables]. It also defines the problems that package pricing solves ([Valuing.NewProblem], [Valuing.NewProof]).
//
// The method: the values are dual prices of a linear program over whole nodes, which package pricing solves by column generation (Gilmore
// and Gomory, 1961). Known values of equal pods are tried first. These values still prove the lower bound if on no node the total value of
// the pods exceeds the node's price.
//
// The cost is the cost of package pricing. With known values, it is one pass over the kinds of nodes.
package valuing

import "github.com/drawknife/drawknife/internal/engine/trial"

// Valuing computes values of pods for a trial.
type Valuing struct{ *trial.Trial }

// Of returns a Valuing for the trial.
func Of(t *trial.Trial) Valuing { return Valuing{t} }
