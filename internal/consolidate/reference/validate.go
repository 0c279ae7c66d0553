package reference

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// StillQualifies checks whether a member still qualifies for the command, and reserves the budget that the member needs.
func (p *Pass) StillQualifies(cmd *decision.Command, m *decision.Member) (*decision.Candidate, *decision.RejectedError) {
	reject := func(category decision.RejectionCategory, why *decision.Block) *decision.RejectedError {
		return &decision.RejectedError{Command: cmd.ID, Category: category, Node: m.Node, Block: why}
	}
	c := p.Fleet.ByName[m.Node]
	switch why := p.Fleet.Blocked[m.Node]; {
	case why != nil && why.Code == decision.BlockNominated:
		return nil, reject(decision.RejectedBudget, why)
	case why != nil:
		return nil, reject(decision.RejectedChurn, why)
	case c == nil || c.State.Claim.UID != m.UID:
		return nil, reject(decision.RejectedChurn, &decision.Block{Code: decision.BlockUnmanaged, Detail: "its NodeClaim is another"})
	}
	if why := p.Fleet.Accepts(c, cmd.Method); why != nil {
		return nil, reject(decision.RejectedChurn, why)
	}
	if why := p.Budgets.Take(c, cmd.Reason); why != nil {
		return nil, reject(decision.RejectedBudget, why)
	}
	return c, nil
}

// Torn rejects a command if some of its nodes must be removed together with nodes that the command does not remove. This can happen because
// gangs may have grown since the command was planned.
func (p *Pass) Torn(cmd *decision.Command) *decision.RejectedError {
	node, why := p.Fleet.Whole(cmd.Members)
	if why == nil {
		return nil
	}
	return &decision.RejectedError{Command: cmd.ID, Category: decision.RejectedChurn, Node: node, Block: why}
}

// samePlaces simulates the removal again. It rejects the command if pods have no place, if they need another number of new nodes than
// planned, or if a planned type of the new node is no longer suitable.
func (p *Pass) samePlaces(ctx context.Context, cmd *decision.Command, members []*decision.Candidate) (*decision.RejectedError, error) {
	sims, err := p.closedSimulator(ctx)
	if err != nil {
		return nil, err
	}
	sim, why, err := sims.remove(ctx, members)
	if err != nil {
		return nil, err
	}
	switch {
	case why != nil:
	case len(sim.newNodes) != len(cmd.Replacements):
		why = &decision.Block{Code: decision.BlockManyNodes, Count: len(sim.newNodes)}
	case len(sim.newNodes) == 1 && !amongTypes(cmd.Replacements[0].Node, &sim.newNodes[0]):
		why = &decision.Block{Code: decision.BlockNotCheaper, Price: members[0].Price, Detail: "types that were planned no longer suit"}
	}
	if why == nil {
		return nil, nil
	}
	return &decision.RejectedError{Command: cmd.ID, Category: decision.RejectedScheduling, Node: members[0].Name, Block: why}, nil
}

// amongTypes reports whether the node fresh still has all types of the node planned.
func amongTypes(planned, fresh *planning.NewNode) bool {
	return !slices.ContainsFunc(planned.InstanceTypes, func(o planning.InstanceTypeOption) bool {
		return !slices.ContainsFunc(fresh.InstanceTypes, func(x planning.InstanceTypeOption) bool { return x.Name == o.Name })
	})
}

// Shrunk returns the command with only the remaining members. If all members remain, it returns cmd itself.
func Shrunk(cmd *decision.Command, members []*decision.Candidate) *decision.Command {
	if len(members) == len(cmd.Members) {
		return cmd
	}
	out := *cmd
	out.Members, out.Savings = nil, 0
	saved := int64(0)
	for i := range cmd.Members {
		if slices.ContainsFunc(members, func(c *decision.Candidate) bool { return c.Name == cmd.Members[i].Node }) {
			out.Members = append(out.Members, cmd.Members[i])
			saved += money.NanoUSD(cmd.Members[i].Price)
		}
	}
	out.Savings = money.USD(saved)
	return &out
}

// Validate checks a command again in the present fleet: see disruption.Reference.Validate. If the command is no longer valid, the error is
// a *RejectedError.
func (o *Options) Validate(ctx context.Context, f *survey.Fleet, cmd *decision.Command) (*decision.Command, error) {
	p, err := o.Begin(ctx, f)
	if err != nil {
		return nil, err
	}
	if rejected := p.Torn(cmd); rejected != nil {
		return nil, rejected
	}
	var members []*decision.Candidate
	var first *decision.RejectedError
	for i := range cmd.Members {
		c, rejected := p.StillQualifies(cmd, &cmd.Members[i])
		if rejected == nil {
			members = append(members, c)
			continue
		}
		if !cmd.MayShrink {
			return nil, rejected
		}
		if first == nil {
			first = rejected
		}
	}
	if len(members) == 0 {
		return nil, first
	}
	if cmd.Method == decision.MethodMultiNode || cmd.Method == decision.MethodSingleNode {
		if rejected, err := p.samePlaces(ctx, cmd, members); err != nil {
			return nil, err
		} else if rejected != nil {
			return nil, rejected
		}
	}
	return Shrunk(cmd, members), nil
}
