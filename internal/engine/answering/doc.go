// Package answering converts the results of a trial to a plan.
//
// The question: in which order can the pods be bound, what are the new nodes, which preferences are not kept, and what is the lower bound
// of the cost?
//
// The input is a trial. The output is a planning.Plan ([Answering.Plan]): plain data, with every list in a fixed order. [Solve] makes a
// trial and a plan from a model.
//
// The method: pods are listed host by host, and replayed in an order in which each pod meets its rules when it is bound. New nodes are
// described (package newnodes) and violated preferences are listed. For pods without a place, the reasons are found (package explain). The
// lower bound is proven (package certify).
//
// The cost: one pass over pods and new nodes, in addition to the cost of the named packages.
package answering

import (
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Answering converts the results of a trial to a plan.
type Answering struct {
	*trial.Trial
	// described caches the possible nodes for equal demands. The method Planned uses this cache.
	described *newnodes.Descriptions
}

// On returns an Answering for the trial.
func On(t *trial.Trial) *Answering { return &Answering{Trial: t} }
