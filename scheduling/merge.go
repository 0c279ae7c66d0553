package scheduling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// mergeWork bounds how many nodes, pairs of bins times options, merge looks at in a round, and mergeRounds how often.
const (
	mergeWork   = 300_000
	mergeRounds = 16
)

// merge puts the loads of two bins onto one node wherever one costs less than both: what a packer by value for money
// misses when two small nodes are each the better bargain, but leave more unused together than a large one. Of all
// pairs among the bins that hold least value for their price the one that saves most goes first.
func (m *Model) merge(ctx context.Context, p *problem, g *binSet, v *values, at []int) {
	for range mergeRounds {
		if len(g.bins) < 2 || ctx.Err() != nil || !m.mergeOnce(p, g, v, at) {
			return
		}
	}
}

func (m *Model) mergeOnce(p *problem, g *binSet, v *values, at []int) bool {
	take := 2
	for take < len(g.bins) && (take+1)*take/2*len(p.options) <= mergeWork {
		take++
	}
	worst := p.worstBins(g, v, take)
	best, into, from := int64(0), -1, -1
	var merged bin
	for x, i := range worst {
		for _, j := range worst[x+1:] {
			both := p.together(&g.bins[i], &g.bins[j])
			if o, saved := m.oneFor(p, &both, p.options[g.bins[i].option].price+p.options[g.bins[j].option].price, at); o >= 0 && saved > best {
				both.option = o
				best, into, from, merged = saved, i, j, both
			}
		}
	}
	if into < 0 {
		return false
	}
	g.bins[into] = merged
	g.bins = slices.Delete(g.bins, from, from+1)
	return true
}

// together is a bin with the loads of both, as yet without an option.
func (p *problem) together(a, b *bin) bin {
	both := bin{used: slices.Clone(a.used), load: slices.Clone(a.load), worth: a.worth + b.worth}
	for _, l := range b.load {
		resources.AddScaled(both.used, p.items[l.item].need, int64(l.count))
		both.add(l)
	}
	return both
}

// oneFor is the cheapest option that costs less than two nodes and holds the bin, and what it saves; -1 if there is
// none.
func (m *Model) oneFor(p *problem, b *bin, price int64, at []int) (found int32, saved int64) {
	for _, l := range b.load {
		if int(l.count) > p.items[l.item].perMachine {
			return -1, 0
		}
	}
	end, _ := slices.BinarySearchFunc(p.options, price, func(o option, price int64) int { return cmp.Compare(o.price, price) })
	for o := range p.options[:end] {
		opt := &p.options[o]
		if p.holds(opt, b, at) && m.rulesAllow(p, opt, b) {
			return int32(o), price - opt.price
		}
	}
	return -1, 0
}
