package removing

import (
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// Conditions are settings of a search for trying groups. Together with the trial, the budgets and the components they determine the result
// of a group: if two triers have all these in common, one may try groups for the other. They are a value that is never changed in place.
type Conditions struct {
	// Received contains the load that candidates have received since nodes were last freed again. The map is not changed once it is made.
	Received map[*searchcontext.Candidate]valuing.Load
	// Few means that the search has few candidates, so that each is worth more effort.
	Few bool
	// Subsets means that all sets of a few nodes are tried.
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

// FewCandidates is the number of candidates up to which all kinds of launches are tried for each.
const FewCandidates = 12
