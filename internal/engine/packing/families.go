package packing

import (
	"cmp"
	"math/bits"
	"slices"
)

// findFamilies groups the items into families. The items of a family have equal needs in all scarce dimensions but one: the dimension in
// which the items have the most distinct needs.
func (f *filler) findFamilies() {
	p, by, most := f.p, -1, 0
	for _, d := range f.scarce {
		sizes := make(map[int64]bool, len(p.Items))
		for i := range p.Items {
			sizes[p.Items[i].Need[d]] = true
		}
		if len(sizes) > most {
			by, most = d, len(sizes)
		}
	}
	apart := func(a, b int32) int {
		for _, d := range f.scarce {
			if c := cmp.Compare(p.Items[b].Need[d], p.Items[a].Need[d]); c != 0 && d != by {
				return c
			}
		}
		return 0
	}
	f.order, f.family = make([]int32, len(p.Items)), make([]int32, len(p.Items))
	for i := range f.order {
		f.order[i] = int32(i)
	}
	slices.SortFunc(f.order, func(a, b int32) int {
		c := apart(a, b)
		if c == 0 && by >= 0 {
			c = cmp.Compare(p.Items[b].Need[by], p.Items[a].Need[by])
		}
		return cmp.Or(c, cmp.Compare(a, b))
	})
	for k, i := range f.order {
		if k > 0 {
			f.family[i] = f.family[f.order[k-1]]
			if apart(f.order[k-1], i) != 0 {
				f.family[i]++
			}
		}
	}
}

// fitted says which part of an empty node of an option a pod of each item takes, and which items fit on the node at all.
type fitted struct {
	// shares is indexed by item*len(scarce)+j. It has the share of the node's amount of scarce[j] that one pod takes, in parts of shareOne.
	shares []int64
	// takes reports for each item whether one of its pods fits on the empty node. It ignores rules that are not caps.
	takes []bool
}

// on returns the fitted of the option, which says how the items fit on an empty node.
func (f *filler) on(option int32) *fitted {
	if known := f.fitted[option]; known != nil {
		return known
	}
	p, opt := f.p, &f.p.Options[option]
	n := len(f.scarce)
	fit := &fitted{shares: make([]int64, len(p.Items)*n), takes: make([]bool, len(p.Items))}
	for i := range p.Items {
		it := &p.Items[i]
		fit.takes[i] = opt.open(it.Place) && fits(it.Need, opt.Alloc)
		for j, d := range f.scarce {
			if a := opt.Alloc[d]; a > 0 {
				// Amounts may be near the largest integer, so the product needs 128 bits.
				hi, lo := bits.Mul64(uint64(min(max(it.Need[d], 0), a)), shareOne)
				share, _ := bits.Div64(hi, lo, uint64(a))
				fit.shares[i*n+j] = int64(share)
			}
		}
	}
	f.fitted[option] = fit
	return fit
}
