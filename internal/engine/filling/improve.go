package filling

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Improvement changes a finished packing within a limit on work. Each node is exchanged for the cheapest node that holds its load. Nodes
// whose pods fit into the free room of other nodes are dropped. The worst nodes are emptied, and their pods are packed again.

// rightSize exchanges each bin for the cheapest option that can hold its load.
func (k *Task) rightSize(g *Bins) {
	for i := range g.List {
		if o := k.cheapestFor(&g.List[i]); o >= 0 {
			g.List[i].Option = o
		}
	}
}

// cheapestFor returns the cheapest option that can hold the bin's load. This is the first option that holds the load, because options are
// sorted by price.
func (k *Task) cheapestFor(b *Bin) int32 {
	p := k.p
	for o := range p.Options {
		opt := &p.Options[o]
		if opt.Price > p.Options[b.Option].Price {
			break
		}
		if k.holds(opt, b) && (opt.Resident == p.Options[b.Option].Resident || k.rulesAllow(opt, b)) {
			return int32(o)
		}
	}
	return -1
}

// holds reports whether a node of the option has room for the bin's load and its rules allow the pods.
func (k *Task) holds(opt *pricing.Option, b *Bin) bool {
	if !resources.Fits(b.used, opt.Alloc) {
		return false
	}
	for _, l := range b.Load {
		if !opt.Open.Has(k.at[l.Item]) {
			return false
		}
	}
	return true
}

// dropEmptiable removes bins if their whole load fits into the free room of other bins. It tries at most 64 bins: those whose pods have the
// least value, starting with the bin of the least value.
func (k *Task) dropEmptiable(g *Bins) {
	order := make([]int, len(g.List))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.List[a].worth, g.List[b].worth), cmp.Compare(a, b))
	})
	gone := make([]bool, len(g.List))
	for _, i := range order[:min(len(order), 64)] {
		if k.spread(g, i, gone) {
			gone[i] = true
		}
	}
	kept := g.List[:0]
	for i := range g.List {
		if !gone[i] {
			kept = append(kept, g.List[i])
		}
	}
	g.List = kept
}

// spread moves the load of bin i to other bins that are not in gone, if all of it fits. If some of the load does not fit, it changes
// nothing.
func (k *Task) spread(g *Bins, i int, gone []bool) bool {
	p := k.p
	type move struct {
		to int
		pricing.Load
	}
	var moves []move
	undo := func() {
		for _, mv := range moves {
			resources.AddScaled(g.List[mv.to].used, p.Items[mv.Item].Need, -int64(mv.Count))
		}
	}
	free := make([]int64, p.Dims)
	moved := map[int][]pricing.Load{}
	for _, l := range g.List[i].Load {
		it := &p.Items[l.Item]
		left := int(l.Count)
		for j := range g.List {
			if left == 0 {
				break
			}
			opt := &p.Options[g.List[j].Option]
			if j == i || gone[j] || !opt.Open.Has(k.at[l.Item]) {
				continue
			}
			for d := range free {
				free[d] = opt.Alloc[d] - g.List[j].used[d]
			}
			n := resources.HowMany(it.Need, free, min(left, it.PerNode-g.List[j].countOf(l.Item)))
			if n > 0 && it.Ruled {
				n = min(n, k.roomLeft(opt, &g.List[j], moved[j], it))
			}
			if n <= 0 {
				continue
			}
			resources.AddScaled(g.List[j].used, it.Need, int64(n))
			moves = append(moves, move{j, pricing.Load{Item: l.Item, Count: int32(n)}})
			if it.Ruled {
				moved[j] = append(moved[j], pricing.Load{Item: l.Item, Count: int32(n)})
			}
			left -= n
		}
		if left > 0 {
			undo()
			return false
		}
	}
	for _, mv := range moves {
		g.List[mv.to].add(mv.Load)
	}
	return true
}

// roomLeft returns how many more pods of the item the rules about single nodes allow on the bin, given its load and the pods that will be
// moved there.
func (k *Task) roomLeft(opt *pricing.Option, b *Bin, moved []pricing.Load, it *pricing.Item) int {
	s := k.rules.newNode(opt)
	for _, list := range [2][]pricing.Load{b.Load, moved} {
		for _, l := range list {
			if it := &k.p.Items[l.Item]; it.Ruled {
				s.Add(it.Topology, l.Count)
			}
		}
	}
	return s.Room(it.Topology)
}

// rulesAllow reports whether all pods of the bin could be together on one node of the option, according to the rules about single nodes.
func (k *Task) rulesAllow(opt *pricing.Option, b *Bin) bool {
	if !k.ruled(b) {
		return true
	}
	s := k.rules.newNode(opt)
	for _, l := range b.Load {
		it := &k.p.Items[l.Item]
		if !it.Ruled {
			continue
		}
		o := it.Topology
		if s.Room(o) < int(l.Count) {
			return false
		}
		s.Add(o, l.Count)
	}
	return true
}

// ruled reports whether rules must be checked one by one for some pods of the load.
func (k *Task) ruled(b *Bin) bool {
	return slices.ContainsFunc(b.Load, func(l pricing.Load) bool { return k.p.Items[l.Item].Ruled })
}
