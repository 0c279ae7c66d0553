package scheduling

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/packing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// packings hands a problem to package packing and takes back what it finds.
type packings struct {
	m      *Model
	p      *problem
	sketch *sketch
	out    packing.Problem
}

// newPackings describes the problem. ratio is, by option, how good a bargain it is at most, 1 for the best; at is, by item, the
// position of its place.
func newPackings(m *Model, p *problem, at []int, value []int64, ratio []float64) *packings {
	k := &packings{m: m, p: p, sketch: newSketch(m)}
	q := &k.out
	q.Dims = p.dims
	for d := range m.resources.Len() {
		if d != resources.Pods {
			q.Scarce = append(q.Scarce, d)
		}
	}
	q.Items = make([]packing.Item, len(p.items))
	for i := range p.items {
		it := &p.items[i]
		q.Items[i] = packing.Item{
			Need: it.need, Count: it.count, PerNode: it.perMachine, Place: at[i], Cell: it.cell, Value: value[i], Ruled: it.ruled,
		}
		if it.ruled {
			q.Room, q.Fits = k.room, k.allow
		}
	}
	q.Options = make([]packing.Option, len(p.options))
	for o := range p.options {
		opt := &p.options[o]
		q.Options[o] = packing.Option{
			Price: opt.price, Alloc: opt.alloc, Open: opt.open, Cell: opt.cell, Ratio: int64(ratio[o] * packing.RatioOne),
		}
	}
	return k
}

// room asks the rules about single nodes that are no caps.
func (k *packings) room(option int32, loads []packing.Load, item int32) int {
	opt := &k.p.options[option]
	k.sketch.begin(nil)
	k.m.addResidents(k.sketch, opt.pool, opt.row)
	for _, l := range loads {
		if it := &k.p.items[l.Item]; it.ruled {
			k.sketch.add(it.topology, l.Count)
		}
	}
	return k.sketch.room(k.p.items[item].topology)
}

func (k *packings) allow(option int32, loads []packing.Load) bool {
	b := bin{load: fromPacking(loads)}
	return k.m.rulesAllow(k.p, &k.p.options[option], &b)
}

func fromPacking(loads []packing.Load) []load {
	out := make([]load, len(loads))
	for i, l := range loads {
		out[i] = load{l.Item, l.Count}
	}
	return out
}

// improve replaces the bins by the cheapest packing found within the effort.
func (k *packings) improve(ctx context.Context, g *binSet, v *values, e packing.Effort) {
	given := make([]packing.Node, len(g.bins))
	for i := range g.bins {
		given[i].Option = g.bins[i].option
		for _, l := range g.bins[i].load {
			given[i].Load = append(given[i].Load, packing.Load{Item: l.item, Count: l.count})
		}
	}
	k.out.Likely = v.pricing.meanPrice()
	found := packing.Pack(ctx, &k.out, given, int64(v.bound), e)
	g.bins = g.bins[:0]
	for i := range found {
		g.bins = append(g.bins, k.p.newBin(found[i].Option, fromPacking(found[i].Load), v))
	}
}

// fewItems is so few that a linear program needs no help.
const fewItems = 16

// seed gives the problem's linear program fillings to begin with: those of a quick packing. With them it takes a fraction of the
// columns, above all where prices grow with sizes and hundreds of fillings are about as good as each other.
func (p *problem) seed(ctx context.Context, m *Model, effort packing.Effort) {
	if len(p.items) < fewItems || len(p.options) == 0 {
		return
	}
	places := placesInUse(p.items)
	at := make([]int, len(p.items))
	for i := range p.items {
		at[i] = slices.Index(places, p.items[i].place)
	}
	k := newPackings(m, p, at, make([]int64, len(p.items)), p.bargains(m.resources.Len()))
	k.out.Likely = p.options[len(p.options)-1].price
	for _, n := range packing.Pack(ctx, &k.out, nil, 0, effort) {
		p.seeds = append(p.seeds, seed{load: fromPacking(n.Load), option: n.Option})
	}
}

const (
	// goodSeed is by which part of the bound the packing that the values began with may cost more for no other to be made: where prices
	// grow with sizes, a packer by value does not come near that.
	goodSeed = 1.0 / 22
	// poorStart is by which part a packing may cost more than another for it to be refined all the same.
	poorStart = 0.1
)

// seeded is the packing that the values began with; nil if there is none.
func (p *problem) seeded(v *values) *binSet {
	if len(p.seeds) == 0 {
		return nil
	}
	g := &binSet{bins: make([]bin, len(p.seeds))}
	for i, s := range p.seeds {
		g.bins[i] = p.newBin(s.option, s.load, v)
	}
	return g
}

// bargains is, by option, how much of all that the items need it has for its price, 1 for the best.
func (p *problem) bargains(resources int) []float64 {
	total := make([]float64, resources)
	for i := range p.items {
		for d := range total {
			total[d] += float64(p.items[i].need[d]) * float64(p.items[i].count)
		}
	}
	out := make([]float64, len(p.options))
	for o := range p.options {
		for d, all := range total {
			if all > 0 {
				out[o] += float64(p.options[o].alloc[d]) / all
			}
		}
		out[o] /= float64(max(p.options[o].price, 1))
	}
	best := slices.Max(out)
	for o := range out {
		out[o] /= max(best, 1e-300)
	}
	return out
}
