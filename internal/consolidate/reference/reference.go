package reference

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Options are the options of disruption.Reference. The defaults are filled in, so 0 does not stand for a default.
type Options struct {
	Query           planning.Query
	SpotToSpot      bool
	SpotToSpotTypes int
	MaxBatch        int
	ValidationDelay time.Duration
	MaxTrials       int
}

// SpotTypes returns the number of cheaper types that a spot node must have to be replaced by a spot node.
func (o *Options) SpotTypes() int { return o.SpotToSpotTypes }

// delay returns how long commands of a method wait before they are validated.
func (o *Options) delay(m decision.Method) time.Duration {
	if m.Class() == decision.ClassEventual {
		return 0
	}
	return o.ValidationDelay
}

// Pass is one run of the planner over a fleet.
type Pass struct {
	*Options
	Fleet   *survey.Fleet
	Budgets *survey.BudgetTracker
	// Blocks are the blocks of nodes, by method and node name. The function Otherwise returns further blocks of a node. It may be nil.
	Blocks    map[decision.Method]map[string]*decision.Block
	Otherwise func(node string) survey.ByMethod
	// Waiting and Again become the fields of the plan (Plan) with the same names.
	Waiting bool
	Again   time.Time
	// open is the simulator for drift, and closed is the simulator for consolidation: see newSimulator. Both are nil until their first use.
	open, closed *simulator
	// totals caches the results of totalsOf.
	totals map[v1.PoolKey]*poolTotals
	// unreached are the pools of which single-node consolidation tried no candidate, because the pass reached its limit of tries before it
	// came to these pools.
	unreached []v1.PoolKey
}

// Run runs one method on the candidates that it accepts.
func (p *Pass) Run(ctx context.Context, m decision.Method, accepted []*decision.Candidate) ([]*decision.Command, error) {
	switch m {
	case decision.MethodEmptiness:
		return p.emptiness(accepted), nil
	case decision.MethodStaticDrift:
		return p.staticDrift(accepted), nil
	case decision.MethodDrift:
		return one(p.drift(ctx, accepted))
	case decision.MethodMultiNode:
		return one(p.multiNode(ctx, accepted))
	}
	return one(p.singleNode(ctx, accepted))
}

func one(cmd *decision.Command, err error) ([]*decision.Command, error) {
	if cmd == nil {
		return nil, err
	}
	return []*decision.Command{cmd}, err
}

// Later records that the plan may change at the time t even if the fleet does not change.
func (p *Pass) Later(t time.Time) {
	if t.After(p.Fleet.Now) && (p.Again.IsZero() || t.Before(p.Again)) {
		p.Again = t
	}
}

// Block records the block that keeps method m from removing the candidate.
func (p *Pass) Block(m decision.Method, c *decision.Candidate, why *decision.Block) {
	p.Blocks[m][c.Name] = why
	p.Noted(why)
}

// BlockAll records the block that keeps method m from removing the batch. If tie is not nil, the blocks say that the nodes must be removed
// together.
func (p *Pass) BlockAll(m decision.Method, batch []*decision.Candidate, tie *survey.Tie, why *decision.Block) {
	for _, c := range batch {
		if tie == nil {
			p.Block(m, c, why)
			continue
		}
		p.Blocks[m][c.Name] = tie.Block(c, why)
		p.Noted(why)
	}
}

// room returns the block of the first disruption budget that does not allow the removal of the whole batch, or nil if all budgets allow it.
func (p *Pass) room(batch []*decision.Candidate, r decision.Reason) *decision.Block {
	return p.Budgets.BlocksAll(batch, r)
}

// take reserves budget for the batch. Call room first.
func (p *Pass) take(batch []*decision.Candidate, r decision.Reason) { p.Budgets.TakeAll(batch, r) }

// Noted records in the plan that a block may end. It records either the time at which the block ends, or that the plan is waiting for its
// end (Pass.Waiting).
func (p *Pass) Noted(why *decision.Block) {
	switch why.Code {
	case decision.BlockBudget:
		p.Waiting = true
		p.Later(why.Until)
	case decision.BlockBackOff:
		p.Later(why.Until)
	case decision.BlockNotReached:
		p.Waiting = true
	}
}

// Finish sets the time before which the command must not be executed.
func (p *Pass) Finish(cmd *decision.Command) *decision.Command {
	cmd.NotBefore = cmd.Planned.Add(p.delay(cmd.Method))
	return cmd
}

// Verdicts returns the verdicts of all nodes.
func (p *Pass) Verdicts(commands []*decision.Command) []decision.Verdict {
	members, owned := 0, 0
	for _, cmd := range commands {
		members += len(cmd.Members)
	}
	by := make(map[string]*decision.Command, members)
	for _, cmd := range commands {
		for i := range cmd.Members {
			by[cmd.Members[i].Node] = cmd
		}
	}
	nodes := p.Fleet.In.View.Nodes
	for i := range nodes {
		if !nodes[i].Pool.IsZero() {
			owned++
		}
	}
	if owned == 0 {
		return nil
	}
	out, blocks := make([]decision.Verdict, 0, owned), make([]decision.MethodBlock, 0, len(decision.Methods())*max(owned-members, 0))
	for i := range nodes {
		m := &nodes[i]
		if m.Pool.IsZero() {
			continue
		}
		v := decision.Verdict{Node: m.Name, Pool: m.Pool, Outcome: decision.OutcomeKept}
		if c := p.Fleet.ByName[m.Name]; c != nil {
			v.Price, v.Cost = c.Price, c.Cost
		}
		if cmd := by[m.Name]; cmd != nil {
			v.Command, v.Method, v.Outcome = cmd.ID, cmd.Method, decision.OutcomeRemoved
			if cmd.Decision() == decision.DecisionReplace {
				v.Outcome = decision.OutcomeReplaced
			}
		} else {
			first := len(blocks)
			blocks = p.blocksOf(m.Name, blocks)
			v.Blocks = blocks[first:len(blocks):len(blocks)]
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b decision.Verdict) int { return strings.Compare(a.Node, b.Node) })
	return out
}

// blocksOf appends to out the blocks that keep the node, with their methods.
func (p *Pass) blocksOf(name string, out []decision.MethodBlock) []decision.MethodBlock {
	if why := p.Fleet.Blocked[name]; why != nil {
		return append(out, decision.MethodBlock{Block: why})
	}
	var others survey.ByMethod
	if p.Otherwise != nil {
		others = p.Otherwise(name)
	}
	for i, m := range decision.Methods() {
		why := cmp.Or(p.Blocks[m][name], others[i])
		if why == nil {
			why = &decision.Block{Code: decision.BlockNotReached}
		}
		out = append(out, decision.MethodBlock{Method: m, Block: why})
	}
	return out
}

// Begin starts a pass over the fleet. The error is a *decision.BudgetError for an invalid budget.
func (o *Options) Begin(ctx context.Context, f *survey.Fleet) (*Pass, error) {
	if ctx == nil {
		return nil, option.Missing("Reference", "the context")
	}
	budgets, err := survey.NewBudgetTracker(f)
	if err != nil {
		return nil, err
	}
	return &Pass{Options: o, Fleet: f, Budgets: budgets, Blocks: map[decision.Method]map[string]*decision.Block{}, totals: map[v1.PoolKey]*poolTotals{}}, nil
}

// Plan tries the methods in their order. The first method that finds commands ends the pass.
func (o *Options) Plan(ctx context.Context, f *survey.Fleet) (*Plan, error) {
	p, err := o.Begin(ctx, f)
	if err != nil {
		return nil, err
	}
	out := &Plan{Time: f.Now}
	for _, why := range f.Blocked { // a block may end only because time passes, for example when the nomination of a node ends
		p.Later(why.Until)
	}
	for _, m := range decision.Methods() {
		accepted, refused := f.Eligible(m)
		p.Blocks[m] = refused
		for _, why := range refused {
			switch why.Code {
			case decision.BlockQuiet, decision.BlockPod, decision.BlockGang, decision.BlockRefused, decision.BlockFailed, decision.BlockHeldBack:
				p.Later(why.Until)
			}
		}
		if len(accepted) == 0 {
			continue
		}
		commands, err := p.Run(ctx, m, accepted)
		if err != nil {
			return nil, err
		}
		if len(commands) > 0 {
			out.Commands = commands
			break
		}
	}
	out.Verdicts = p.Verdicts(out.Commands)
	out.Waiting, out.Again, out.Unreached = p.Waiting, p.Again, p.unreached
	return out, nil
}

// Apart returns the pass for another goroutine. It reads shared results, but does not add to them.
func (p *Pass) Apart() *Pass {
	return &Pass{Options: p.Options, Fleet: p.Fleet, Budgets: p.Budgets, Blocks: p.Blocks, totals: map[v1.PoolKey]*poolTotals{}}
}
