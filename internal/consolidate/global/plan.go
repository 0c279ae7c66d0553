package global

import (
	"context"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/ordering"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/searching"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Plan decides about all nodes at once. It runs each strategy to its end, and refines the result of the strategy with the lowest cost.
func (g *Options) Plan(ctx context.Context, f *survey.Fleet) (*reference.Plan, error) {
	start, err := g.context(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	best, err := g.planner(start).Best(ctx)
	if err != nil {
		return nil, err
	}
	return g.plan(ctx, best)
}

// plan converts the search to a plan: commands with their order, and a verdict for each node.
func (g *Options) plan(ctx context.Context, s *searching.Search) (*reference.Plan, error) {
	order, err := g.orderer(s).Order(ctx, ordering.Found{Commands: s.Commands(), Ruled: s.Trial.Ruled(), Unrefined: s.Unrefined()})
	if err != nil {
		return nil, err
	}
	out := &reference.Plan{Time: s.Fleet.Now, Commands: order.Commands, Waves: order.Waves, Unsettled: order.Unsettled}
	noteBlocks(s, order.Left)
	if s.LowerBounds != nil {
		out.FloorPrices = s.LowerBounds.Prices()
	}
	out.Cost, out.Floor = money.USD(searchcontext.PriceOf(s.Candidates)), s.Worth.Total()
	out.Verdicts = s.Types.Verdicts(out.Commands)
	for i := range out.Verdicts {
		for _, b := range out.Verdicts[i].Blocks {
			s.Types.Later(b.Block.Until)
		}
	}
	out.Waiting, out.Again = s.Types.Waiting, s.Types.Again
	return out, ctx.Err()
}

// noteBlocks records the block that keeps each remaining candidate from being consolidated.
func noteBlocks(s *searching.Search, left map[*searchcontext.Candidate]*decision.Block) {
	kept := make([]*decision.Block, len(s.Candidates))
	s.Types.Otherwise = func(node string) (out survey.ByMethod) {
		if c := s.ByName[node]; c != nil {
			if out = c.Refused; kept[c.Number] != nil {
				out[survey.Consolidating], out[survey.Consolidating-1] = kept[c.Number], kept[c.Number]
			}
		}
		return out
	}
	for _, c := range s.Candidates {
		why := c.Blocked
		switch {
		case left[c] != nil:
			why = left[c]
		case s.Left(c):
			why = &decision.Block{Code: decision.BlockLater}
		case s.Gone(c):
			continue
		case why != nil:
		case s.Receives(c):
			why = s.Fleet.Plain(decision.BlockReceiver)
		case s.Why()[c.Name] != nil:
			why = proven(s, c, s.Why()[c.Name])
		default:
			why = s.Fleet.Plain(decision.BlockNotReached)
		}
		kept[c.Number] = why
		s.Types.Noted(why)
	}
}

// proven returns a block with a proof if the node stays because of costs or missing places and a proof exists. If not, it returns the block
// why unchanged.
func proven(s *searching.Search, c *searchcontext.Candidate, why *decision.Block) *decision.Block {
	switch why.Code {
	case decision.BlockUnschedulable, decision.BlockNotCheaper, decision.BlockNoGain, decision.BlockManyNodes:
	default:
		return why
	}
	required := s.Required([]*searchcontext.Candidate{c})
	node := c.ToProve()
	shown := s.LowerBounds.Prove(&node, required)
	if shown == nil {
		return why
	}
	return &decision.Block{Code: decision.BlockFloor, Price: c.Price, Floor: shown.Floor, Required: money.USD(required), Proof: shown}
}
