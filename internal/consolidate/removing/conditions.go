package removing

import (
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// Conditions are the settings with which a search tries to remove groups of nodes. Together with the trial, the budgets and the components,
// they determine the result for a group. If two triers have equal conditions, trials, budgets and components, one trier may try groups for
// the other. A Conditions value is replaced, never changed in place.
type Conditions struct {
	// Received contains the load that candidates have received since the search last made fixed nodes candidates again (Search.release).
	// The map is not changed once it is made.
	Received map[*searchcontext.Candidate]valuing.Load
	// Few means that the search has few candidates, so it spends more effort on each candidate.
	Few bool
	// Subsets means that the search tries all small sets of candidates.
	Subsets bool
	// Refining means that the candidates include the new nodes of earlier steps.
	Refining bool
	// Strict means that the permitted cost is always divided among new nodes in proportion to their prices. Refinement begins with Strict
	// set to true.
	Strict bool
	// Ungrown means that the step must not place pods on new nodes that other steps have opened.
	Ungrown bool
	// Accepting means that the effort of the present attempt is not limited.
	Accepting bool
}

// FewCandidates is the largest number of candidates for which the search tries every method of launching new nodes for each candidate.
const FewCandidates = 12
