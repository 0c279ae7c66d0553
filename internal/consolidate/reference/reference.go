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

// Options say how the reference goes about it: disruption.Reference says what each means. All are as given, 0 is 0.
type Options struct {
	Query           planning.Query
	SpotToSpot      bool
	SpotToSpotTypes int
	MaxBatch        int
	ValidationDelay time.Duration
	MaxTrials       int
}

// SpotTypes is how many cheaper types a spot node must have to be replaced by spot.
func (o *Options) SpotTypes() int { return o.SpotToSpotTypes }

// delay is how long a method's commands wait before they are validated.
func (o *Options) delay(m decision.Method) time.Duration {
	if m.Class() == decision.ClassEventual {
		return 0
	}
	return o.ValidationDelay
}

// Pass is one run of the reference over a fleet.
type Pass struct {
	*Options
	Fleet  *survey.Fleet
	Ledger *survey.BudgetTracker
	// Blocks are what keeps nodes from methods; otherwise says what else does, and is nil where nothing does.
	Blocks    map[decision.Method]map[string]*decision.Block
	Otherwise func(node string) survey.ByMethod
	// Waiting and again are the plan's.
	Waiting bool
	Again   time.Time
	// open and closed are what-ifs with and without the destinations that consolidation must leave alone; nil until used.
	open, closed *simulator
	// totals are those of Balanced pools.
	totals map[v1.PoolKey]*poolTotals
	// unreached are the pools that single-node consolidation did not come to.
	unreached []v1.PoolKey
}

// Run is one method over the candidates that it accepts.
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

// Later notes that the plan may come out differently at some time although nothing happens.
func (p *Pass) Later(t time.Time) {
	if t.After(p.Fleet.Now) && (p.Again.IsZero() || t.Before(p.Again)) {
		p.Again = t
	}
}

// Block notes what keeps a candidate from the method.
func (p *Pass) Block(m decision.Method, c *decision.Candidate, why *decision.Block) {
	p.Blocks[m][c.Name] = why
	p.Noted(why)
}

// Noted is what a block of a candidate makes of the plan.
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

// Finish completes a command of the method.
func (p *Pass) Finish(cmd *decision.Command) *decision.Command {
	cmd.NotBefore = cmd.Planned.Add(p.delay(cmd.Method))
	return cmd
}

// Verdicts are what the plan says of each node.
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
	nodes := p.Fleet.In.View.Machines
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

// blocksOf appends to out why a node stays.
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

// Begin is a new pass over the fleet. The error is a *decision.BudgetError for a budget that can't be.
func (o *Options) Begin(ctx context.Context, f *survey.Fleet) (*Pass, error) {
	if ctx == nil {
		return nil, option.Missing("Reference", "the context")
	}
	ledger, err := survey.NewBudgetTracker(f)
	if err != nil {
		return nil, err
	}
	return &Pass{Options: o, Fleet: f, Ledger: ledger, Blocks: map[decision.Method]map[string]*decision.Block{}, totals: map[v1.PoolKey]*poolTotals{}}, nil
}

// Plan tries the methods in their order; the first that finds commands ends the pass.
func (o *Options) Plan(ctx context.Context, f *survey.Fleet) (*Plan, error) {
	p, err := o.Begin(ctx, f)
	if err != nil {
		return nil, err
	}
	out := &Plan{Time: f.Now}
	for _, why := range f.Blocked { // such as nominations that end: nothing else shows that
		p.Later(why.Until)
	}
	for _, m := range decision.Methods() {
		accepted, refused := f.Eligible(m)
		p.Blocks[m] = refused
		for _, why := range refused {
			switch why.Code {
			case decision.BlockQuiet, decision.BlockPod, decision.BlockRefused, decision.BlockFailed, decision.BlockHeldBack:
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

// Apart is the pass for a goroutine of its own, that reads but does not add to what is found.
func (p *Pass) Apart() *Pass {
	return &Pass{Options: p.Options, Fleet: p.Fleet, Ledger: p.Ledger, Blocks: p.Blocks, totals: map[v1.PoolKey]*poolTotals{}}
}
