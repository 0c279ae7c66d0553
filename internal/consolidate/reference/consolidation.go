package reference

import (
	"context"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// multiNode sorts the candidates by descending ratio of saving to disruption. Then it looks for the longest prefix of this list that can be
// replaced by at most one new node. Batches never have more than MaxBatch members. (Karpenter's batches may have one more member.)
func (p *Pass) multiNode(ctx context.Context, accepted []*decision.Candidate) (*decision.Command, error) {
	list, tied := p.loose(accepted)
	survey.BySavings(list)
	var kept []*decision.Candidate
	for _, c := range list {
		if why := p.Budgets.Take(c, decision.ReasonUnderutilized); why != nil {
			p.Block(decision.MethodMultiNode, c, why)
			continue
		}
		kept = append(kept, c)
	}
	var found *decision.Command
	trials := 0
	for low, high := 1, min(p.MaxBatch, len(kept))-1; low <= high; {
		if trials++; trials > p.MaxTrials {
			p.notReached(decision.MethodMultiNode, kept)
			break
		}
		middle := (low + high) / 2
		cmd, why, err := p.consolidate(ctx, decision.MethodMultiNode, kept[:middle+1])
		if err != nil {
			return nil, err
		}
		if why == nil {
			found, low = cmd, middle+1
			continue
		}
		high = middle - 1
		p.Block(decision.MethodMultiNode, kept[middle], why)
	}
	for i, c := range kept {
		if found == nil || i >= len(found.Members) {
			p.Budgets.Return(c.Name)
			if p.Blocks[decision.MethodMultiNode][c.Name] == nil {
				p.Block(decision.MethodMultiNode, c, &decision.Block{Code: decision.BlockNoBatch})
			}
		}
	}
	if found != nil {
		return found, nil
	}
	return p.wholeGangs(ctx, tied, p.MaxTrials-trials)
}

func (p *Pass) notReached(m decision.Method, list []*decision.Candidate) {
	for _, c := range list {
		if p.Blocks[m][c.Name] == nil {
			p.Block(m, c, &decision.Block{Code: decision.BlockNotReached})
		}
	}
}

// singleNode takes the first candidate that can be replaced by at most one new node. It tries at most MaxTrials candidates. It takes one
// candidate of each pool after another. Pools that the last pass did not reach come first.
func (p *Pass) singleNode(ctx context.Context, accepted []*decision.Candidate) (*decision.Command, error) {
	list, tied := p.loose(accepted)
	survey.BySavings(list)
	for _, t := range tied {
		for _, c := range t.Members {
			if why := p.Blocks[decision.MethodMultiNode][c.Name]; why != nil {
				p.Block(decision.MethodSingleNode, c, why)
			}
		}
	}
	turns := p.takeTurns(list)
	for i, c := range turns {
		if i >= p.MaxTrials {
			p.notReached(decision.MethodSingleNode, turns[i:])
			p.unreached = poolsBeyond(turns, i)
			return nil, nil
		}
		if why := p.Budgets.Blocks(c, decision.ReasonUnderutilized); why != nil {
			p.Block(decision.MethodSingleNode, c, why)
			continue
		}
		if why := p.hopeless(c); why != nil {
			p.Block(decision.MethodSingleNode, c, why)
			continue
		}
		cmd, why, err := p.consolidate(ctx, decision.MethodSingleNode, []*decision.Candidate{c})
		if err != nil {
			return nil, err
		}
		if why != nil {
			p.Block(decision.MethodSingleNode, c, why)
			continue
		}
		p.Budgets.Take(c, decision.ReasonUnderutilized)
		return cmd, nil
	}
	return nil, nil
}

// takeTurns interleaves the candidates of the pools: first the first candidate of each pool, then the second candidate of each pool, and so
// on. Pools are in the order of their names, but pools that the last pass did not reach come first.
func (p *Pass) takeTurns(list []*decision.Candidate) []*decision.Candidate {
	byPool := map[v1.PoolKey][]*decision.Candidate{}
	var keys []v1.PoolKey
	for _, c := range list {
		if byPool[c.Pool.Key] == nil {
			keys = append(keys, c.Pool.Key)
		}
		byPool[c.Pool.Key] = append(byPool[c.Pool.Key], c)
	}
	rank := func(k v1.PoolKey) int {
		if slices.Contains(p.Fleet.In.Unreached, k) {
			return 0
		}
		return 1
	}
	slices.SortFunc(keys, func(a, b v1.PoolKey) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return a.Compare(b)
	})
	out := make([]*decision.Candidate, 0, len(list))
	for turn := 0; len(out) < len(list); turn++ {
		for _, k := range keys {
			if turn < len(byPool[k]) {
				out = append(out, byPool[k][turn])
			}
		}
	}
	return out
}

// poolsBeyond returns the pools that have no candidate among the first n candidates of the list turns, in the order of their first
// candidates in the list.
func poolsBeyond(turns []*decision.Candidate, n int) []v1.PoolKey {
	seen := map[v1.PoolKey]bool{}
	for _, c := range turns[:n] {
		seen[c.Pool.Key] = true
	}
	var out []v1.PoolKey
	for _, c := range turns[n:] {
		if !seen[c.Pool.Key] {
			seen[c.Pool.Key] = true
			out = append(out, c.Pool.Key)
		}
	}
	return out
}

// consolidate returns the command that removes the batch, or the block if the command is not possible or not worth it.
func (p *Pass) consolidate(ctx context.Context, m decision.Method, batch []*decision.Candidate) (*decision.Command, *decision.Block, error) {
	sims, err := p.closedSimulator(ctx)
	if err != nil {
		return nil, nil, err
	}
	sim, why, err := sims.remove(ctx, batch)
	if err != nil || why != nil {
		return nil, why, err
	}
	cmd := NewCommand(m, batch, p.Fleet.Now)
	cmd.Receivers = sim.receivers
	switch len(sim.newNodes) {
	case 0:
	case 1:
		node, why := p.replacement(m, batch, &sim.newNodes[0])
		if why != nil {
			return nil, why, nil
		}
		cmd.Replacements = []decision.Replacement{{Node: node, Pool: node.Pool}}
		cmd.Savings = money.USD(money.NanoUSD(cmd.Savings) - money.NanoUSD(node.InstanceTypes[0].Price))
	default:
		return nil, &decision.Block{Code: decision.BlockManyNodes, Count: len(sim.newNodes)}, nil
	}
	if why := p.Balanced(batch, cmd.Savings); why != nil {
		return nil, why, nil
	}
	cmd.Scores = p.scores(batch, cmd.Savings)
	return p.Finish(cmd), nil, nil
}
