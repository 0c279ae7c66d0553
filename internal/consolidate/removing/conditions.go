package removing

import (
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// Conditions are what a search decides about how groups are tried. With the trial, the budgets and the components they decide what becomes of
// a group: of two triers with the same of all these, one may try groups for the other. They are a value that nobody changes in place.
type Conditions struct {
	// Received is what candidates have been given so far, as of when nodes were last freed again. The map is not changed once it is made.
	Received map[*searchcontext.Candidate]valuing.Load
	// Few says that the search looks at few candidates, so that each is worth more effort.
	Few bool
	// Subsets says that all sets of a few nodes are tried.
	Subsets bool
	// Refining means that candidates include new nodes.
	Refining bool
	// Strict divides the permitted cost among new nodes by their prices alone, as refinement does at first.
	Strict bool
	// Ungrown keeps pods away from new nodes of other steps.
	Ungrown bool
	// Accepting means that the present attempt is worth any effort.
	Accepting bool
}

// FewCandidates is how many candidates are few enough to try all kinds of launches for each.
const FewCandidates = 12
