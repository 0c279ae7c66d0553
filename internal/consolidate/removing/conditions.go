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
	// Refining says that new nodes are among the candidates.
	Refining bool
	// Strict shares out what may be spent by prices alone, as refining does at first.
	Strict bool
	// Ungrown keeps pods from new nodes that others have opened.
	Ungrown bool
	// Accepting says that what is tried is worth every effort.
	Accepting bool
}

// FewCandidates is how many candidates are few enough to try all kinds of launches for each.
const FewCandidates = 12
