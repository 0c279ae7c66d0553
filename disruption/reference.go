package disruption

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// Numbers of Reference, where its options leave them open.
const (
	// DefaultValidationDelay is how long consolidation waits before a command is validated and started.
	DefaultValidationDelay = 15 * time.Second
	// DefaultMaxBatch is how many nodes one command of multi-node consolidation removes at most.
	DefaultMaxBatch = 100
	// DefaultSpotToSpotTypes is how many cheaper types a spot node must have to be replaced by spot.
	DefaultSpotToSpotTypes = 15
	// DefaultMaxTrials is how many what-ifs multi-node and single-node consolidation try each.
	DefaultMaxTrials = 5000
)

// Reference plans as Karpenter does, step by step as the specification of disruption says: the methods in their order,
// and of those that find something the first. It is for those who come from there, and to compare others with. The zero
// value is ready, and safe for concurrent use as long as it is not changed.
type Reference struct {
	// Query is how places for pods are looked for: as in provisioning.
	Query scheduling.Query
	// SpotToSpot allows replacing spot nodes by spot nodes.
	SpotToSpot bool
	// SpotToSpotTypes is how many cheaper types that takes for one node; 0 is DefaultSpotToSpotTypes.
	SpotToSpotTypes int
	// MaxBatch bounds multi-node consolidation; 0 is DefaultMaxBatch.
	MaxBatch int
	// ValidationDelay is what Command.NotBefore leaves for things to change; 0 is DefaultValidationDelay, negative none.
	ValidationDelay time.Duration
	// MaxTrials bounds the work of consolidation: a bound on what-ifs, so that plans do not depend on how fast they are made;
	// 0 is DefaultMaxTrials. A context's deadline bounds it by the clock.
	MaxTrials int
}

func (r *Reference) maxBatch() int  { return orDefault(r.MaxBatch, DefaultMaxBatch) }
func (r *Reference) maxTrials() int { return orDefault(r.MaxTrials, DefaultMaxTrials) }
func (r *Reference) spotTypes() int { return orDefault(r.SpotToSpotTypes, DefaultSpotToSpotTypes) }

func orDefault(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// delay is how long a method's commands wait before they are validated.
func (r *Reference) delay(m Method) time.Duration {
	switch {
	case m.Class() == ClassEventual || r.ValidationDelay < 0:
		return 0
	case r.ValidationDelay == 0:
		return DefaultValidationDelay
	}
	return r.ValidationDelay
}

// pass is one run of Reference over a fleet.
type pass struct {
	*Reference
	fleet  *picture
	ledger *tracker
	// blocks are what keeps nodes from methods; otherwise says what else does, and is nil where nothing does.
	blocks    map[Method]map[string]*Block
	otherwise func(node string) byMethod
	// waiting and again are the plan's.
	waiting bool
	again   time.Time
	// open and closed are what-ifs with and without the destinations that consolidation must leave alone; nil until used.
	open, closed *simulator
	// oneZone says that new nodes may be kept to one zone, keepsZone that they are now: see flexible.
	oneZone, keepsZone bool
	// totals are those of Balanced pools.
	totals map[v1.PoolKey]*poolTotals
	// cheapest is scratch of cheaper; allWanted remembers what it found, wanted the last of them.
	cheapest  []*knownOffer
	wanted    []*wanted
	allWanted map[wantedKey]*wanted
	// unreached are the pools that single-node consolidation did not come to.
	unreached []v1.PoolKey
}

func (r *Reference) begin(ctx context.Context, f *picture) (*pass, error) {
	if ctx == nil {
		return nil, option.Missing("Reference", "the context")
	}
	ledger, err := newTracker(f)
	if err != nil {
		return nil, err
	}
	return &pass{Reference: r, fleet: f, ledger: ledger, blocks: map[Method]map[string]*Block{}, totals: map[v1.PoolKey]*poolTotals{}}, nil
}

// Plan tries the methods in their order; the first that finds commands ends the pass. Start them and
// plan again.
func (r *Reference) Plan(ctx context.Context, fleet *Fleet) (*Plan, error) {
	f := fleet.seen()
	if f == nil {
		return nil, option.Missing("Reference.Plan", "a fleet that Survey made")
	}
	p, err := r.begin(ctx, f)
	if err != nil {
		return nil, err
	}
	out := &Plan{Time: f.now}
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

// run is one method over the candidates that it accepts.
func (p *pass) run(ctx context.Context, m Method, accepted []*Candidate) ([]*Command, error) {
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
func (p *pass) later(t time.Time) {
	if t.After(p.fleet.now) && (p.again.IsZero() || t.Before(p.again)) {
		p.again = t
	}
}

// block notes what keeps a candidate from the method.
func (p *pass) block(m Method, c *Candidate, why *Block) {
	p.blocks[m][c.Name] = why
	p.noted(why)
}

// noted is what a block of a candidate makes of the plan.
func (p *pass) noted(why *Block) {
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
func (p *pass) finish(cmd *Command) *Command {
	cmd.NotBefore = cmd.Planned.Add(p.delay(cmd.Method))
	return cmd
}

// verdicts are what the plan says of each node.
func (p *pass) verdicts(commands []*Command) []Verdict {
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
	nodes := p.fleet.in.View.Machines
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
		if c := p.fleet.byName[m.Name]; c != nil {
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
	slices.SortFunc(out, func(a, b Verdict) int { return compareStrings(a.Node, b.Node) })
	return out
}

// blocksOf appends to out why a node stays.
func (p *pass) blocksOf(name string, out []MethodBlock) []MethodBlock {
	if why := p.fleet.Blocked[name]; why != nil {
		return append(out, MethodBlock{Block: why})
	}
	var others byMethod
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
