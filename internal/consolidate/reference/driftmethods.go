package reference

import (
	"cmp"
	"context"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// staticDrift replaces drifted nodes of static pools one for one, as far as budgets and the pool's limit on nodes allow. It skips pools
// that have more nodes than replicas, or that are paused after failures. It does not check whether the pods have other places. Nodes
// without pods are replaced first. The other nodes follow in the order in which they drifted: see survey.ByDrift.
func (p *Pass) staticDrift(accepted []*decision.Candidate) []*decision.Command {
	list := slices.Clone(accepted)
	survey.ByDrift(list)
	rooms := map[v1.PoolKey]int{}
	var out []*decision.Command
	for _, c := range list {
		key := c.Pool.Key
		if why := p.scalingDown(key, c.Pool.Object); why != nil {
			p.Block(decision.MethodStaticDrift, c, why)
			continue
		}
		room, known := rooms[key]
		if !known {
			room = p.staticRoom(key, c.Pool.Object)
		}
		if room == 0 {
			p.Block(decision.MethodStaticDrift, c, &decision.Block{Code: decision.BlockLimit, Pool: key})
			continue
		}
		if why := p.Fleet.In.BackOff.Blocks(key, p.Fleet.Now); why != nil {
			p.Block(decision.MethodStaticDrift, c, why)
			continue
		}
		if why := p.Budgets.Take(c, decision.ReasonDrifted); why != nil {
			p.Block(decision.MethodStaticDrift, c, why)
			continue
		}
		rooms[key] = room - 1
		cmd := NewCommand(decision.MethodStaticDrift, []*decision.Candidate{c}, p.Fleet.Now)
		cmd.Replacements = []decision.Replacement{{Pool: key, Static: true}}
		cmd.Savings = 0 // the cost is unknown, because the provider chooses the type
		out = append(out, p.Finish(cmd))
	}
	return out
}

// scalingDown returns a block if the pool has more nodes than replicas. It counts the nodes that are not being removed, plus the nodes that
// a command is replacing.
func (p *Pass) scalingDown(key v1.PoolKey, object *v1.NodePool) *decision.Block {
	n := 0
	for _, m := range p.Fleet.Pools[key].Nodes {
		_, executing := p.Fleet.In.Executing[m.Name]
		if m.Claim != nil && (executing || !m.Leaving && !m.Marked) {
			n++
		}
	}
	if want := int(*object.Spec.Replicas); n > want {
		return &decision.Block{Code: decision.BlockScalingDown, Pool: key, Count: n, Need: want}
	}
	return nil
}

// staticRoom returns the number of further nodes that the pool's limit allows. Without a limit, it returns the number of existing nodes.
// All existing NodeClaims count, including those that are being deleted. A Node without a NodeClaim does not count.
func (p *Pass) staticRoom(key v1.PoolKey, object *v1.NodePool) int {
	n := 0
	for _, m := range p.Fleet.Pools[key].Nodes {
		if m.Claim != nil {
			n++
		}
	}
	limit, ok := object.Spec.Limits[v1.ResourceNodes]
	if !ok {
		return n
	}
	return max(0, int(limit.Value())-n)
}

// drift replaces the first node in the order of DriftOrder that meets three conditions: budgets allow its removal, its pool is not paused
// after failures, and all its pods have a place. It launches as many new nodes as needed, at any cost. Nodes that must be removed together
// are replaced together.
func (p *Pass) drift(ctx context.Context, accepted []*decision.Candidate) (*decision.Command, error) {
	sims, err := p.openSimulator(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range p.Fleet.DriftOrder(accepted) {
		batch, tie := p.Fleet.Together(c)
		why := p.DriftsNot(batch)
		var sim *simulation
		if why == nil {
			if sim, why, err = sims.remove(ctx, batch); err != nil {
				return nil, err
			}
		}
		if why != nil {
			p.BlockAll(decision.MethodDrift, batch, tie, why)
			continue
		}
		p.take(batch, decision.ReasonDrifted)
		cmd := NewCommand(decision.MethodDrift, batch, p.Fleet.Now)
		cmd.Receivers = sim.receivers
		saved := money.NanoUSD(cmd.Savings)
		for i := range sim.newNodes {
			n := &sim.newNodes[i]
			cmd.Replacements = append(cmd.Replacements, decision.Replacement{Node: n, Pool: n.Pool})
			saved -= money.NanoUSD(n.InstanceTypes[0].Price)
		}
		cmd.Savings = money.USD(saved)
		return p.Finish(cmd), nil
	}
	return nil, nil
}

// DriftsNot returns a block if a budget, or a pool that is paused after failures, keeps drift from replacing the batch. It does not look
// for places for the pods.
func (p *Pass) DriftsNot(batch []*decision.Candidate) *decision.Block {
	return cmp.Or(p.room(batch, decision.ReasonDrifted), p.paused(batch))
}

// paused returns the block of the first pool of the batch that is paused after failures, or nil if no pool is paused.
func (p *Pass) paused(batch []*decision.Candidate) *decision.Block {
	for _, c := range batch {
		if why := p.Fleet.In.BackOff.Blocks(c.Pool.Key, p.Fleet.Now); why != nil {
			return why
		}
	}
	return nil
}
