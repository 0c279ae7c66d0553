package reference

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"slices"
)

// emptiness removes all empty nodes that budgets allow, in one command. It looks for no places, because no pod has to move.
func (p *Pass) emptiness(accepted []*decision.Candidate) []*decision.Command {
	list := slices.Clone(accepted)
	survey.BySavings(list)
	var members []*decision.Candidate
	for _, c := range list {
		if why := p.Budgets.Take(c, decision.ReasonEmpty); why != nil {
			p.Block(decision.MethodEmptiness, c, why)
			continue
		}
		members = append(members, c)
	}
	if len(members) == 0 {
		return nil
	}
	cmd := NewCommand(decision.MethodEmptiness, members, p.Fleet.Now)
	cmd.MayShrink = true
	return []*decision.Command{p.Finish(cmd)}
}
