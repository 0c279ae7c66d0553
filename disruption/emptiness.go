package disruption

import (
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"slices"
)

// emptiness removes all empty nodes that budgets let go, in one command and without asking for places: nobody has to
// move.
func (p *refPass) emptiness(accepted []*Candidate) []*Command {
	list := slices.Clone(accepted)
	survey.BySavings(list)
	var members []*Candidate
	for _, c := range list {
		if why := p.ledger.Take(c, ReasonEmpty); why != nil {
			p.block(MethodEmptiness, c, why)
			continue
		}
		members = append(members, c)
	}
	if len(members) == 0 {
		return nil
	}
	cmd := newCommand(MethodEmptiness, members, p.fleet.Now)
	cmd.MayShrink = true
	return []*Command{p.finish(cmd)}
}
