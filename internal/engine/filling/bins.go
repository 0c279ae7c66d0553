package filling

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Bins is a set of nodes to buy, with the pods on them.
type Bins struct {
	List []Bin
}

// Bin is one node to buy.
type Bin struct {
	Option int32
	Load   []pricing.Load // by item, ascending
	used   []int64
	worth  int64 // the value of the pods in Load, summed over the items: count x value of one pod
}

// newBin returns a node of the option with the loads.
func (k *Task) newBin(o int32, loads []pricing.Load) Bin {
	p, v := k.p, k.v
	b := Bin{Option: o, Load: slices.Clone(loads), used: make([]int64, p.Dims)}
	slices.SortFunc(b.Load, func(a, b pricing.Load) int { return cmp.Compare(a.Item, b.Item) })
	for _, l := range b.Load {
		resources.AddScaled(b.used, p.Items[l.Item].Need, int64(l.Count))
		b.worth += int64(l.Count) * v.Item[l.Item]
	}
	return b
}

func (g *Bins) cost(p *pricing.Problem) int64 {
	total := int64(0)
	for i := range g.List {
		total += p.Options[g.List[i].Option].Price
	}
	return total
}

func (b *Bin) countOf(item int32) int {
	if i, ok := slices.BinarySearchFunc(b.Load, item, func(l pricing.Load, i int32) int { return cmp.Compare(l.Item, i) }); ok {
		return int(b.Load[i].Count)
	}
	return 0
}

func (b *Bin) add(l pricing.Load) {
	at, ok := slices.BinarySearchFunc(b.Load, l.Item, func(x pricing.Load, i int32) int { return cmp.Compare(x.Item, i) })
	if ok {
		b.Load[at].Count += l.Count
		return
	}
	b.Load = slices.Insert(b.Load, at, l)
}
