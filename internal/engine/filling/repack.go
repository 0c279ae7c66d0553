package filling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/pricing"
)

// repackRounds and repackBins limit the work of repack.
const (
	repackRounds = 6
	repackBins   = 48
	// WorthRepacking = n means that packing bins again must save at least 1/n of their cost.
	WorthRepacking = 500
)

// repack empties the bins whose price exceeds the value of their pods most, and packs these pods again. It keeps the new packing of these
// pods if that is cheaper than the old packing.
func (k *Task) repack(ctx context.Context, g *Bins) {
	take := repackBins
	for range repackRounds {
		if len(g.List) < 2 || ctx.Err() != nil {
			return
		}
		worst := k.worstBins(g, take)
		if len(worst) == 0 {
			return
		}
		if !k.repackBins(ctx, g, worst) {
			take /= 2
			if take < 4 {
				return
			}
		}
	}
}

// worstBins returns, as ascending indexes, the bins whose price exceeds the value of their pods most. The parameter take limits their
// number.
func (k *Task) worstBins(g *Bins, take int) []int {
	p, v := k.p, k.v
	type ranked struct {
		Bin  int
		loss int64
	}
	var list []ranked
	for i := range g.List {
		b := &g.List[i]
		b.worth = 0
		for _, l := range b.Load {
			b.worth += int64(l.Count) * v.Item[l.Item]
		}
		if loss := p.Options[b.Option].Price - b.worth; loss > p.Options[b.Option].Price/500 {
			list = append(list, ranked{i, loss})
		}
	}
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Or(-cmp.Compare(a.loss, b.loss), cmp.Compare(a.Bin, b.Bin)) })
	var out []int
	for _, r := range list[:min(take, len(list))] {
		out = append(out, r.Bin)
	}
	slices.Sort(out)
	return out
}

// repackBins packs the pods of the given bins again and reports whether that made g cheaper.
func (k *Task) repackBins(ctx context.Context, g *Bins, bins []int) bool {
	before := int64(0)
	counts := map[int32]int{}
	for _, b := range bins {
		before += k.p.Options[g.List[b].Option].Price
		for _, l := range g.List[b].Load {
			counts[l.Item] += int(l.Count)
		}
	}
	sub, itemOf, optionOf := subproblem(k.p, counts, k.v)
	again := NewPacker(NewTask(sub, restrict(k.v, k.p.Dims, itemOf, optionOf), k.rules), nil)
	packed := again.Pack(ctx)
	for _, left := range again.Left {
		if left > 0 {
			return false
		}
	}
	again.rightSize(packed)
	again.dropEmptiable(packed)
	again.rightSize(packed)
	if packed.cost(sub) >= before-before/WorthRepacking {
		return false
	}
	var kept []Bin
	for i := range g.List {
		if _, found := slices.BinarySearch(bins, i); !found {
			kept = append(kept, g.List[i])
		}
	}
	for _, b := range packed.List {
		b.Option = optionOf[b.Option]
		for i := range b.Load {
			b.Load[i].Item = itemOf[b.Load[i].Item]
		}
		slices.SortFunc(b.Load, func(x, y pricing.Load) int { return cmp.Compare(x.Item, y.Item) })
		kept = append(kept, b)
	}
	g.List = kept
	return true
}

// hopeful is a share: repacking uses an option only if its filling can be worth at least this share of its price.
const hopeful = 0.7

// subproblem returns the problem of packing some of the items. It has only the options that may help, in the order of p. itemOf and
// optionOf map its items and options to those of p.
func subproblem(p *pricing.Problem, counts map[int32]int, v *pricing.Values) (sub *pricing.Problem, itemOf, optionOf []int32) {
	sub = &pricing.Problem{Dims: p.Dims, Resources: p.Resources}
	for i := range p.Items {
		if n := counts[int32(i)]; n > 0 {
			it := p.Items[i]
			it.Count = n
			sub.Items = append(sub.Items, it)
			itemOf = append(itemOf, int32(i))
		}
	}
	all, some := pricing.PlacesInUse(p.Items), pricing.PlacesInUse(sub.Items)
	for o := range p.Options {
		if v.Ratio[o] < hopeful {
			continue
		}
		opt := p.Options[o]
		opt.Open = bitset.New(len(some))
		for to, pl := range some {
			if p.Options[o].Open.Has(slices.Index(all, pl)) {
				opt.Open.Add(to)
			}
		}
		if !opt.Open.Empty() {
			sub.Options = append(sub.Options, opt)
			optionOf = append(optionOf, int32(o))
		}
	}
	return sub, itemOf, optionOf
}

// restrict returns the values of a subproblem's items and options.
func restrict(v *pricing.Values, dims int, itemOf, optionOf []int32) *pricing.Values {
	out := &pricing.Values{Item: make([]int64, len(itemOf)), Ratio: make([]float64, len(optionOf)), Lambda: make([]float64, len(optionOf)*dims)}
	for i, from := range itemOf {
		out.Item[i] = v.Item[from]
	}
	for o, from := range optionOf {
		out.Ratio[o] = v.Ratio[from]
		copy(out.Lambda[o*dims:(o+1)*dims], v.Lambda[int(from)*dims:])
	}
	return out
}
