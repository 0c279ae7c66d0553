package reference

import (
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// balancedThreshold is the lowest score that the policy Balanced approves: 1/k, with k = 2.
const balancedThreshold = 0.5

// poolTotals are the totals of a pool with the policy Balanced. Scores are relative to these totals.
type poolTotals struct {
	// cost is the pool's cost in nano-USD per hour. disruption is the pool's cost of disruption, in units of moving an ordinary pod.
	cost       int64
	disruption float64
}

// totalsOf adds up the prices of all nodes of the pool and the costs of moving their pods. It includes nodes that are not candidates, but
// not pods that stay on their node.
func (p *Pass) totalsOf(key v1.PoolKey) *poolTotals {
	if t := p.totals[key]; t != nil {
		return t
	}
	t := &poolTotals{}
	p.totals[key] = t
	for _, m := range p.Fleet.Pools[key].Nodes {
		if m.Claim == nil {
			continue
		}
		if price, ok := newnodes.NodePrice(p.Fleet.In.Model, m.Name); ok {
			t.cost += money.NanoUSD(price.Price)
		}
		t.disruption += pods.RescheduleCost(m.Pods)
	}
	return t
}

// score returns the score of a command in one pool: the share of the pool's cost that the command saves, divided by the share of the pool's
// disruption that it causes.
func (t *poolTotals) score(savings int64, disruption float64) float64 {
	if t.cost <= 0 || t.disruption <= 0 || savings <= 0 || disruption <= 0 {
		return 0
	}
	return (float64(savings) / float64(t.cost)) / (disruption / t.disruption)
}

// scores returns the score of the batch in each of its Balanced pools. Each pool gets a part of the savings, in proportion to the prices of
// its nodes in the batch.
func (p *Pass) scores(batch []*decision.Candidate, savings float64) []decision.Score {
	isBalanced := func(c *decision.Candidate) bool {
		return c.Pool.Object.Spec.Disruption.ConsolidationPolicy == v1.ConsolidationPolicyBalanced
	}
	if !slices.ContainsFunc(batch, isBalanced) {
		return nil
	}
	type share struct {
		price      int64
		disruption float64
	}
	shares := map[v1.PoolKey]*share{}
	var keys []v1.PoolKey
	total := int64(0)
	for _, c := range batch {
		total += money.NanoUSD(c.Price)
		s := shares[c.Pool.Key]
		if s == nil {
			s = &share{}
			shares[c.Pool.Key] = s
			if isBalanced(c) {
				keys = append(keys, c.Pool.Key)
			}
		}
		s.price += money.NanoUSD(c.Price)
		s.disruption += c.Cost
	}
	slices.SortFunc(keys, v1.PoolKey.Compare)
	var out []decision.Score
	for _, key := range keys {
		s := shares[key]
		credited := money.NanoUSD(savings)
		if len(shares) > 1 && total > 0 {
			credited = money.NanoUSD(savings * float64(s.price) / float64(total))
		}
		t := p.totalsOf(key)
		score := decision.Score{Pool: key, Score: t.score(credited, s.disruption), Threshold: balancedThreshold}
		if t.cost > 0 && t.disruption > 0 {
			score.SavingsShare, score.DisruptionShare = float64(credited)/float64(t.cost), s.disruption/t.disruption
		}
		out = append(out, score)
	}
	return out
}

// Balanced returns the block of the first Balanced pool of the batch that does not approve a removal with these savings, or nil if all
// pools approve. Pools with other policies always approve.
func (p *Pass) Balanced(batch []*decision.Candidate, savings float64) *decision.Block {
	for _, s := range p.scores(batch, savings) {
		if !s.Approved() {
			return &decision.Block{Code: decision.BlockScore, Pool: s.Pool, Score: s.Score, Threshold: s.Threshold}
		}
	}
	return nil
}

// hopeless returns a block if removing the candidate would score too low even if it saved the candidate's whole price.
func (p *Pass) hopeless(c *decision.Candidate) *decision.Block {
	return p.Balanced([]*decision.Candidate{c}, c.Price)
}
