// Package answering writes down what a trial has done, as a plan.
//
// The question: in which order can the pods be bound, what are the new nodes, what is given up, and what does it all cost at least?
//
// Input is a trial. Output is a planning.Plan ([Answering.Plan]), plain data in a total order; [Solve] makes a trial and a plan of a model.
//
// The method: pods are listed host by host and replayed in an order in which each keeps the rules when it is bound; new nodes are described
// (package newnodes), violated preferences are listed, pods without a place are explained (package explain), and the bound is proved
// (package certify).
//
// The cost: a pass over pods and new nodes, apart from the packages named.
package answering

import (
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Answering writes down what a trial has done, as a plan.
type Answering struct {
	*trial.Trial
	// described remembers for Planned what nodes of the same demands could be.
	described *newnodes.Descriptions
}

// On works on the trial.
func On(t *trial.Trial) *Answering { return &Answering{Trial: t} }
