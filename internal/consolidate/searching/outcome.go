package searching

import (
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/commands"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// Commands are those made without a trial, then those of the steps. Nodes that are left for the next plan are noted as such.
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

// Unrefined are the commands that there were before the search was refined, where places depend on the order.
func (s *Search) Unrefined() []*decision.Command { return s.unrefined }

// Left reports whether the node is part of no command, although the search has removed it, since its component was not worth it.
func (s *Search) Left(c *searchcontext.Candidate) bool { return s.left[c] }

// Gone reports whether the search has removed the node.
func (s *Search) Gone(c *searchcontext.Candidate) bool { return s.gone[c] }

// Receives reports whether the node stays since it takes pods of others.
func (s *Search) Receives(c *searchcontext.Candidate) bool {
	return s.fixed[c] || s.Received[c].Pods > 0
}

// Why is what keeps nodes from being consolidated that the search has tried, by name.
func (s *Search) Why() map[string]*decision.Block { return s.why }
