package disruption

import (
	"context"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// multiNode looks for the longest prefix of the candidates that can be removed for at most one new node. Batches never have
// more than MaxBatch members (the reference's may have one more).
func (p *refPass) multiNode(ctx context.Context, accepted []*Candidate) (*Command, error) {
	list := slices.Clone(accepted)
	survey.BySavings(list)
	var kept []*Candidate
	for _, c := range list {
		if why := p.ledger.Take(c, ReasonUnderutilized); why != nil {
			p.block(MethodMultiNode, c, why)
			continue
		}
		kept = append(kept, c)
	}
	var found *Command
	trials := 0
	for low, high := 1, min(p.MaxBatch, len(kept))-1; low <= high; {
		if trials++; trials > p.MaxTrials {
			p.notReached(MethodMultiNode, kept)
			break
		}
		middle := (low + high) / 2
		cmd, why, err := p.consolidate(ctx, MethodMultiNode, kept[:middle+1])
		if err != nil {
			return nil, err
		}
		if why == nil {
			found, low = cmd, middle+1
			continue
		}
		high = middle - 1
		p.block(MethodMultiNode, kept[middle], why)
	}
	for i, c := range kept {
		if found == nil || i >= len(found.Members) {
			p.ledger.Return(c.Name)
			if p.blocks[MethodMultiNode][c.Name] == nil {
				p.block(MethodMultiNode, c, &Block{Code: BlockNoBatch})
			}
		}
	}
	return found, nil
}

func (p *refPass) notReached(m Method, list []*Candidate) {
	for _, c := range list {
		if p.blocks[m][c.Name] == nil {
			p.block(m, c, &Block{Code: BlockNotReached})
		}
	}
}

// singleNode takes the first candidate that can be removed for at most one new node. Pools take turns; those that were not
// reached the last time come first.
func (p *refPass) singleNode(ctx context.Context, accepted []*Candidate) (*Command, error) {
	list := slices.Clone(accepted)
	survey.BySavings(list)
	turns := p.takeTurns(list)
	for i, c := range turns {
		if i >= p.MaxTrials {
			p.notReached(MethodSingleNode, turns[i:])
			p.unreached = poolsBeyond(turns, i)
			return nil, nil
		}
		if why := p.ledger.Blocks(c, ReasonUnderutilized); why != nil {
			p.block(MethodSingleNode, c, why)
			continue
		}
		if why := p.hopeless(c); why != nil {
			p.block(MethodSingleNode, c, why)
			continue
		}
		cmd, why, err := p.consolidate(ctx, MethodSingleNode, []*Candidate{c})
		if err != nil {
			return nil, err
		}
		if why != nil {
			p.block(MethodSingleNode, c, why)
			continue
		}
		p.ledger.Take(c, ReasonUnderutilized)
		return cmd, nil
	}
	return nil, nil
}

// takeTurns interleaves the pools: the first of each, the second of each, and so on; pools by name, those not reached the
// last time first.
func (p *refPass) takeTurns(list []*Candidate) []*Candidate {
	byPool := map[v1.PoolKey][]*Candidate{}
	var keys []v1.PoolKey
	for _, c := range list {
		if byPool[c.Pool.Key] == nil {
			keys = append(keys, c.Pool.Key)
		}
		byPool[c.Pool.Key] = append(byPool[c.Pool.Key], c)
	}
	rank := func(k v1.PoolKey) int {
		if slices.Contains(p.fleet.In.Unreached, k) {
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
	out := make([]*Candidate, 0, len(list))
	for turn := 0; len(out) < len(list); turn++ {
		for _, k := range keys {
			if turn < len(byPool[k]) {
				out = append(out, byPool[k][turn])
			}
		}
	}
	return out
}

// poolsBeyond are the pools of which no candidate is among the first n, in their order.
func poolsBeyond(turns []*Candidate, n int) []v1.PoolKey {
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

// consolidate says what removing the batch comes to, or why it is not worth it.
func (p *refPass) consolidate(ctx context.Context, m Method, batch []*Candidate) (*Command, *Block, error) {
	sims, err := p.closedSimulator(ctx)
	if err != nil {
		return nil, nil, err
	}
	sim, why, err := sims.remove(ctx, batch)
	if err != nil || why != nil {
		return nil, why, err
	}
	cmd := newCommand(m, batch, p.fleet.Now)
	cmd.Receivers = sim.receivers
	switch len(sim.newNodes) {
	case 0:
	case 1:
		node, why := p.replacement(m, batch, &sim.newNodes[0])
		if why != nil {
			return nil, why, nil
		}
		cmd.Replacements = []Replacement{{Node: node, Pool: node.Pool}}
		cmd.Savings = usd(nanoUSD(cmd.Savings) - nanoUSD(node.InstanceTypes[0].Price))
	default:
		return nil, &Block{Code: BlockManyNodes, Count: len(sim.newNodes)}, nil
	}
	if why := p.balanced(batch, cmd.Savings); why != nil {
		return nil, why, nil
	}
	cmd.Scores = p.scores(batch, cmd.Savings)
	return p.finish(cmd), nil, nil
}
