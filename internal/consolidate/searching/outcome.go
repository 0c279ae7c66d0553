package searching

import (
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/commands"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// Commands returns the commands that were made without a trial, followed by the commands of the steps. It also sets the nodes that are left
// for the next plan (see Left).
func (s *Search) Commands() []*decision.Command {
	list, left := commands.Write(&commands.Found{
		Context: s.Context, Terms: s.Terms, Trial: s.Trial, Start: s.start, Steps: s.steps, Types: s.Types, Components: s.Components,
		Parallelism: s.settings.Parallelism,
	})
	for _, c := range left {
		s.left[c] = true
		s.Types.Waiting = true
	}
	return append(slices.Clone(s.made), list...)
}

// Unrefined returns the commands that the search had found before refinement. It returns nil if places do not depend on the order of the
// commands.
func (s *Search) Unrefined() []*decision.Command { return s.unrefined }

// Left reports whether the node is in no command although the search has removed it, because its component was not worth it.
func (s *Search) Left(c *searchcontext.Candidate) bool { return s.left[c] }

// Gone reports whether the search has removed the node.
func (s *Search) Gone(c *searchcontext.Candidate) bool { return s.gone[c] }

// Receives reports whether the node stays because it has received pods of removed nodes.
func (s *Search) Receives(c *searchcontext.Candidate) bool {
	return s.fixed[c] || s.Received[c].Pods > 0
}

// Why returns the blocks of the nodes that the search has tried to remove, by node name.
func (s *Search) Why() map[string]*decision.Block { return s.why }
