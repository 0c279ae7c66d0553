package filling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// mergeWork is the number of nodes (pairs of bins times options) that merge checks in a round. mergeRounds is the number of rounds.
const (
	mergeWork   = 300_000
	mergeRounds = 16
)

// merge puts the loads of two bins onto one node if that costs less than both. A packer by value misses such a merger if each of two small
// nodes has more value for its price, but one large node would leave less room unused. It examines pairs of the bins whose price exceeds
// the value of their pods most. The pair that saves most is merged first.
func (k *Task) merge(ctx context.Context, g *Bins) {
	for range mergeRounds {
		if len(g.List) < 2 || ctx.Err() != nil || !k.mergeOnce(g) {
			return
		}
	}
}

// mergeOnce merges two of the worst bins: those whose merging saves most. It returns false if no merging saves anything.
func (k *Task) mergeOnce(g *Bins) bool {
	p := k.p
	take := 2
	for take < len(g.List) && (take+1)*take/2*len(p.Options) <= mergeWork {
		take++
	}
	worst := k.worstBins(g, take)
	best, into, from := int64(0), -1, -1
	var merged Bin
	used := make([]int64, p.Dims)
	for x, i := range worst {
		for _, j := range worst[x+1:] {
			price := p.Options[g.List[i].Option].Price + p.Options[g.List[j].Option].Price
			copy(used, g.List[i].used)
			resources.AddScaled(used, g.List[j].used, 1)
			if !k.anyHas(used, price-best) {
				continue // no cheaper node has room for both loads; this saves joining the loads of most pairs
			}
			both := k.together(&g.List[i], &g.List[j])
			if o, saved := k.oneFor(&both, price); o >= 0 && saved > best {
				both.Option = o
				best, into, from, merged = saved, i, j, both
			}
		}
	}
	if into < 0 {
		return false
	}
	g.List[into] = merged
	g.List = slices.Delete(g.List, from, from+1)
	return true
}

// anyHas reports whether some option that costs less than price has room for this load.
func (k *Task) anyHas(used []int64, price int64) bool {
	for o := range k.p.Options {
		if opt := &k.p.Options[o]; opt.Price >= price {
			return false
		} else if resources.Fits(used, opt.Alloc) {
			return true
		}
	}
	return false
}

// together returns a bin with the loads of a and b. It has no option yet.
func (k *Task) together(a, b *Bin) Bin {
	both := Bin{used: slices.Clone(a.used), Load: slices.Clone(a.Load), worth: a.worth + b.worth}
	for _, l := range b.Load {
		resources.AddScaled(both.used, k.p.Items[l.Item].Need, int64(l.Count))
		both.add(l)
	}
	return both
}

// oneFor returns the cheapest option that holds the bin and costs less than price, and the saving. found is -1 if there is no such option.
func (k *Task) oneFor(b *Bin, price int64) (found int32, saved int64) {
	p := k.p
	for _, l := range b.Load {
		if int(l.Count) > p.Items[l.Item].PerNode {
			return -1, 0
		}
	}
	end, _ := slices.BinarySearchFunc(p.Options, price, func(o pricing.Option, price int64) int { return cmp.Compare(o.Price, price) })
	for o := range p.Options[:end] {
		opt := &p.Options[o]
		if k.holds(opt, b) && k.rulesAllow(opt, b) {
			return int32(o), price - opt.Price
		}
	}
	return -1, 0
}
