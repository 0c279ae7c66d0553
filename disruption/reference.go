package disruption

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling"
)

// refOptions say how the reference goes about it: disruption.Reference says what each means. All are as given, 0 is 0.
type refOptions struct {
	Query           scheduling.Query
	SpotToSpot      bool
	SpotToSpotTypes int
	MaxBatch        int
	ValidationDelay time.Duration
	MaxTrials       int
}

// spotTypes is how many cheaper types a spot node must have to be replaced by spot.
func (o *refOptions) spotTypes() int { return o.SpotToSpotTypes }

// delay is how long a method's commands wait before they are validated.
func (o *refOptions) delay(m Method) time.Duration {
	if m.Class() == ClassEventual {
		return 0
	}
	return o.ValidationDelay
}

// refPass is one run of the reference over a fleet.
type refPass struct {
	*refOptions
	fleet  *survey.Fleet
	ledger *survey.BudgetTracker
	// blocks are what keeps nodes from methods; otherwise says what else does, and is nil where nothing does.
	blocks    map[Method]map[string]*Block
	otherwise func(node string) survey.ByMethod
	// waiting and again are the plan's.
	waiting bool
	again   time.Time
	// open and closed are what-ifs with and without the destinations that consolidation must leave alone; nil until used.
	open, closed *simulator
	// totals are those of Balanced pools.
	totals map[v1.PoolKey]*poolTotals
	// unreached are the pools that single-node consolidation did not come to.
	unreached []v1.PoolKey
}

// run is one method over the candidates that it accepts.
func (p *refPass) run(ctx context.Context, m Method, accepted []*Candidate) ([]*Command, error) {
	switch m {
	case MethodEmptiness:
		return p.emptiness(accepted), nil
	case MethodStaticDrift:
		return p.staticDrift(accepted), nil
	case MethodDrift:
		return one(p.drift(ctx, accepted))
	case MethodMultiNode:
		return one(p.multiNode(ctx, accepted))
	}
	return one(p.singleNode(ctx, accepted))
}

func one(cmd *Command, err error) ([]*Command, error) {
	if cmd == nil {
		return nil, err
	}
	return []*Command{cmd}, err
}

// later notes that the plan may come out differently at some time although nothing happens.
func (p *refPass) later(t time.Time) {
	if t.After(p.fleet.Now) && (p.again.IsZero() || t.Before(p.again)) {
		p.again = t
	}
}

// block notes what keeps a candidate from the method.
func (p *refPass) block(m Method, c *Candidate, why *Block) {
	p.blocks[m][c.Name] = why
	p.noted(why)
}

// noted is what a block of a candidate makes of the plan.
func (p *refPass) noted(why *Block) {
	switch why.Code {
	case BlockBudget:
		p.waiting = true
		p.later(why.Until)
	case BlockBackOff:
		p.later(why.Until)
	case BlockNotReached:
		p.waiting = true
	}
}

// finish completes a command of the method.
func (p *refPass) finish(cmd *Command) *Command {
	cmd.NotBefore = cmd.Planned.Add(p.delay(cmd.Method))
	return cmd
}

// verdicts are what the plan says of each node.
func (p *refPass) verdicts(commands []*Command) []Verdict {
	members, owned := 0, 0
	for _, cmd := range commands {
		members += len(cmd.Members)
	}
	by := make(map[string]*Command, members)
	for _, cmd := range commands {
		for i := range cmd.Members {
			by[cmd.Members[i].Node] = cmd
		}
	}
	nodes := p.fleet.In.View.Machines
	for i := range nodes {
		if !nodes[i].Pool.IsZero() {
			owned++
		}
	}
	if owned == 0 {
		return nil
	}
	out, blocks := make([]Verdict, 0, owned), make([]MethodBlock, 0, len(Methods())*max(owned-members, 0))
	for i := range nodes {
		m := &nodes[i]
		if m.Pool.IsZero() {
			continue
		}
		v := Verdict{Node: m.Name, Pool: m.Pool, Outcome: OutcomeKept}
		if c := p.fleet.ByName[m.Name]; c != nil {
			v.Price, v.Cost = c.Price, c.Cost
		}
		if cmd := by[m.Name]; cmd != nil {
			v.Command, v.Method, v.Outcome = cmd.ID, cmd.Method, OutcomeRemoved
			if cmd.Decision() == DecisionReplace {
				v.Outcome = OutcomeReplaced
			}
		} else {
			first := len(blocks)
			blocks = p.blocksOf(m.Name, blocks)
			v.Blocks = blocks[first:len(blocks):len(blocks)]
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b Verdict) int { return strings.Compare(a.Node, b.Node) })
	return out
}

// blocksOf appends to out why a node stays.
func (p *refPass) blocksOf(name string, out []MethodBlock) []MethodBlock {
	if why := p.fleet.Blocked[name]; why != nil {
		return append(out, MethodBlock{Block: why})
	}
	var others survey.ByMethod
	if p.otherwise != nil {
		others = p.otherwise(name)
	}
	for i, m := range Methods() {
		why := cmp.Or(p.blocks[m][name], others[i])
		if why == nil {
			why = &Block{Code: BlockNotReached}
		}
		out = append(out, MethodBlock{Method: m, Block: why})
	}
	return out
}

func (o *refOptions) begin(ctx context.Context, f *survey.Fleet) (*refPass, error) {
	if ctx == nil {
		return nil, option.Missing("Reference", "the context")
	}
	ledger, err := survey.NewBudgetTracker(f)
	if err != nil {
		return nil, err
	}
	return &refPass{refOptions: o, fleet: f, ledger: ledger, blocks: map[Method]map[string]*Block{}, totals: map[v1.PoolKey]*poolTotals{}}, nil
}

// plan tries the methods in their order; the first that finds commands ends the pass.
func (o *refOptions) plan(ctx context.Context, f *survey.Fleet) (*result, error) {
	p, err := o.begin(ctx, f)
	if err != nil {
		return nil, err
	}
	out := &result{Time: f.Now}
	for _, why := range f.Blocked { // such as nominations that end: nothing else shows that
		p.later(why.Until)
	}
	for _, m := range Methods() {
		accepted, refused := f.Eligible(m)
		p.blocks[m] = refused
		for _, why := range refused {
			switch why.Code {
			case BlockQuiet, BlockPod, BlockRefused, BlockFailed, BlockHeldBack:
				p.later(why.Until)
			}
		}
		if len(accepted) == 0 {
			continue
		}
		commands, err := p.run(ctx, m, accepted)
		if err != nil {
			return nil, err
		}
		if len(commands) > 0 {
			out.Commands = commands
			break
		}
	}
	out.Verdicts = p.verdicts(out.Commands)
	out.Waiting, out.Again, out.Unreached = p.waiting, p.again, p.unreached
	return out, nil
}

// apart is the pass for a goroutine of its own, that reads but does not add to what is found.
func (p *refPass) apart() *refPass {
	return &refPass{refOptions: p.refOptions, fleet: p.fleet, ledger: p.ledger, blocks: p.blocks, totals: map[v1.PoolKey]*poolTotals{}}
}
