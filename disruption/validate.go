package disruption

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling"
)

// stillQualifies looks at one member and takes its share of the budgets.
func (p *refPass) stillQualifies(cmd *Command, m *Member) (*Candidate, *RejectedError) {
	reject := func(category RejectionCategory, why *Block) *RejectedError {
		return &RejectedError{Command: cmd.ID, Category: category, Node: m.Node, Block: why}
	}
	c := p.fleet.ByName[m.Node]
	switch why := p.fleet.Blocked[m.Node]; {
	case why != nil && why.Code == BlockNominated:
		return nil, reject(RejectedBudget, why)
	case why != nil:
		return nil, reject(RejectedChurn, why)
	case c == nil || c.Machine.Claim.UID != m.UID:
		return nil, reject(RejectedChurn, &Block{Code: BlockUnmanaged, Detail: "its NodeClaim is another"})
	}
	if why := p.fleet.Accepts(c, cmd.Method); why != nil {
		return nil, reject(RejectedChurn, why)
	}
	if why := p.ledger.Take(c, cmd.Reason); why != nil {
		return nil, reject(RejectedBudget, why)
	}
	return c, nil
}

// samePlaces tries the removal again.
func (p *refPass) samePlaces(ctx context.Context, cmd *Command, members []*Candidate) (*RejectedError, error) {
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
		why = &Block{Code: BlockManyNodes, Count: len(sim.newNodes)}
	case len(sim.newNodes) == 1 && !amongTypes(cmd.Replacements[0].Node, &sim.newNodes[0]):
		why = &Block{Code: BlockNotCheaper, Price: members[0].Price, Detail: "types that were planned no longer suit"}
	}
	if why == nil {
		return nil, nil
	}
	return &RejectedError{Command: cmd.ID, Category: RejectedScheduling, Node: members[0].Name, Block: why}, nil
}

// amongTypes reports whether all planned types are among those that would do now.
func amongTypes(planned, fresh *scheduling.NewNode) bool {
	return !slices.ContainsFunc(planned.InstanceTypes, func(o scheduling.InstanceTypeOption) bool {
		return !slices.ContainsFunc(fresh.InstanceTypes, func(x scheduling.InstanceTypeOption) bool { return x.Name == o.Name })
	})
}

// shrunk is the command with the members that are left; the same if all are.
func shrunk(cmd *Command, members []*Candidate) *Command {
	if len(members) == len(cmd.Members) {
		return cmd
	}
	out := *cmd
	out.Members, out.Savings = nil, 0
	saved := int64(0)
	for i := range cmd.Members {
		if slices.ContainsFunc(members, func(c *Candidate) bool { return c.Name == cmd.Members[i].Node }) {
			out.Members = append(out.Members, cmd.Members[i])
			saved += nanoUSD(cmd.Members[i].Price)
		}
	}
	out.Savings = usd(saved)
	return &out
}

// validate looks at a command again in the fleet as it is now: disruption.Reference.Validate. The error is a *RejectedError if it is void.
func (o *refOptions) validate(ctx context.Context, f *survey.Fleet, cmd *Command) (*Command, error) {
	p, err := o.begin(ctx, f)
	if err != nil {
		return nil, err
	}
	var members []*Candidate
	var first *RejectedError
	for i := range cmd.Members {
		c, rejected := p.stillQualifies(cmd, &cmd.Members[i])
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
	if cmd.Method == MethodMultiNode || cmd.Method == MethodSingleNode {
		if rejected, err := p.samePlaces(ctx, cmd, members); err != nil {
			return nil, err
		} else if rejected != nil {
			return nil, rejected
		}
	}
	return shrunk(cmd, members), nil
}
