package filling

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/packing"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// packings converts a problem for package packing and converts the result back.
type packings struct {
	*Task
	node *topology.OneNode
	out  packing.Problem
}

// newPackings converts the task's problem. value has the value of each item. ratio has, for each option, the highest ratio of value to
// price that its fillings can reach, scaled so that the best option has 1.
func newPackings(t *Task, value []int64, ratio []float64) *packings {
	p, at := t.p, t.at
	k := &packings{Task: t, node: topology.NewOneNode(t.rules.Groups)}
	q := &k.out
	q.Dims = p.Dims
	for d := range p.Resources {
		if d != resources.Pods {
			q.Scarce = append(q.Scarce, d)
		}
	}
	q.Items = make([]packing.Item, len(p.Items))
	for i := range p.Items {
		it := &p.Items[i]
		q.Items[i] = packing.Item{
			Need: it.Need, Count: it.Count, PerNode: it.PerNode, Place: at[i], Cell: it.Cell, Value: value[i], Ruled: it.Ruled,
		}
		if it.Ruled {
			q.Room, q.Fits = k.room, k.allow
		}
	}
	q.Options = make([]packing.Option, len(p.Options))
	for o := range p.Options {
		opt := &p.Options[o]
		q.Options[o] = packing.Option{
			Price: opt.Price, Alloc: opt.Alloc, Open: opt.Open, Cell: opt.Cell, Ratio: int64(ratio[o] * packing.RatioOne),
		}
	}
	return k
}

// room returns how many more pods of the item the rules about single nodes allow on a node with these loads; caps are not checked.
func (k *packings) room(option int32, loads []packing.Load, item int32) int {
	opt := &k.p.Options[option]
	k.rules.begin(k.node, opt)
	for _, l := range loads {
		if it := &k.p.Items[l.Item]; it.Ruled {
			k.node.Add(it.Topology, l.Count)
		}
	}
	return k.node.Room(k.p.Items[item].Topology)
}

func (k *packings) allow(option int32, loads []packing.Load) bool {
	b := Bin{Load: fromPacking(loads)}
	return k.rulesAllow(&k.p.Options[option], &b)
}

func fromPacking(loads []packing.Load) []pricing.Load {
	out := make([]pricing.Load, len(loads))
	for i, l := range loads {
		out[i] = pricing.Load{Item: l.Item, Count: l.Count}
	}
	return out
}

// improve replaces the bins by the cheapest packing that it finds within the effort.
func (k *packings) improve(ctx context.Context, g *Bins, e packing.Effort) {
	v := k.v
	given := make([]packing.Node, len(g.List))
	for i := range g.List {
		given[i].Option = g.List[i].Option
		for _, l := range g.List[i].Load {
			given[i].Load = append(given[i].Load, packing.Load{Item: l.Item, Count: l.Count})
		}
	}
	k.out.Likely = v.Program.MeanPrice()
	found := packing.Pack(ctx, &k.out, given, int64(v.Bound), e)
	g.List = g.List[:0]
	for i := range found {
		g.List = append(g.List, k.newBin(found[i].Option, fromPacking(found[i].Load)))
	}
}

// Seed runs a quick packing and adds its fillings to the problem's linear program as initial fillings. With these fillings, the column
// generation has to add far fewer columns. The effect is largest if prices are proportional to sizes, because hundreds of fillings then
// have nearly the same ratio of value to price.
func Seed(ctx context.Context, p *pricing.Problem, rules *Rules, effort packing.Effort) {
	if len(p.Items) < pricing.FewItems || len(p.Options) == 0 {
		return
	}
	k := newPackings(NewTask(p, nil, rules), make([]int64, len(p.Items)), bargains(p))
	k.out.Likely = p.Options[len(p.Options)-1].Price
	for _, n := range packing.Pack(ctx, &k.out, nil, 0, effort) {
		p.Seeds = append(p.Seeds, pricing.Seed{Load: fromPacking(n.Load), Option: n.Option})
	}
}

// bargains returns a measure of how cheap each option is. It divides the option's share of the items' total needs, summed over the
// resources, by its price, and scales the result so that the best option has 1.
func bargains(p *pricing.Problem) []float64 {
	total := make([]float64, p.Resources)
	for i := range p.Items {
		for d := range total {
			total[d] += float64(p.Items[i].Need[d]) * float64(p.Items[i].Count)
		}
	}
	out := make([]float64, len(p.Options))
	for o := range p.Options {
		for d, all := range total {
			if all > 0 {
				out[o] += float64(p.Options[o].Alloc[d]) / all
			}
		}
		out[o] /= float64(max(p.Options[o].Price, 1))
	}
	best := slices.Max(out)
	for o := range out {
		out[o] /= max(best, 1e-300)
	}
	return out
}
