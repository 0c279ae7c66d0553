package removing

import (
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// Conditions are the settings with which a search tries groups. They determine the result of a group, together with the trial, the budgets
// and the components. If two triers have equal conditions, trials, budgets and components, one may try groups for the other. A Conditions
// value is replaced, never changed in place.
type Conditions struct {
	// Received contains the load that candidates have received since the search last made fixed nodes candidates again (Search.release).
	// The map is not changed once it is made.
	Received map[*searchcontext.Candidate]valuing.Load
	// Few means that the search has few candidates, so that it spends more effort on each.
	Few bool
	// Subsets means that the search tries all sets of a few nodes.
	Subsets bool
	// Refining means that the candidates include new nodes.
	Refining bool
	// Strict divides the permitted cost among new nodes in proportion to their prices only. Refinement begins with Strict.
	Strict bool
	// Ungrown keeps pods away from the new nodes of other steps.
	Ungrown bool
	// Accepting means that the present attempt may use any effort.
	Accepting bool
}

// FewCandidates is the number of candidates up to which the search tries all kinds of launches for each candidate.
const FewCandidates = 12
