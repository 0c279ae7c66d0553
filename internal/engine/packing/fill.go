package packing

import (
	"cmp"
	"slices"
)

// shareOne is the share that stands for a node's whole amount of a resource. All other shares are parts of it.
const shareOne = 1 << 20

// weightOne is the sum of the weights of all resources.
const weightOne = 1 << 12

// filler fills nodes one after another with the remaining pods of the items.
type filler struct {
	p    *Problem
	left []int
	// asked lists the dimensions that some item needs. scarce lists the dimensions in asked that are also in Problem.Scarce.
	asked, scarce []int
	// needs is indexed by item*len(asked)+k. It has the amount of asked[k] that a pod needs.
	needs []int64
	// order lists all items: the items of a family are adjacent, larger items first. family has the family of each item. The items of a
	// family differ in only one scarce resource.
	order, family []int32
	// ruled reports for each item whether Problem.Room must be called.
	ruled []bool
	// fitted has, for each option, how the items fit on it. An entry is nil until its option is first used.
	fitted []*fitted
	// option is the option of the node being filled, and fit says how the items fit on it.
	option  int32
	fit     *fitted
	free    []int64 // indexed like asked
	weights []int64 // indexed like scarce
	rooms   []room  // indexed like scarce, with at least two entries
	// load is the load of the node, in no particular order.
	load []Load
	// candidates are the items that may still go on the node, in the order of f.order. heads has the first candidate of each family.
	candidates []int32
	heads      []head
	sizes      []size // used by fillBySize
	// steps is the remaining effort, in steps: see stepsPerScan.
	steps int
}

// room describes a resource on the node being filled. free is the free share, double is twice the resource's weight, and slope is free x
// double. For this resource, the score of a pod is its share x slope, minus its part of the shortfall: see lead.
type room struct{ free, slope, double int64 }

// take subtracts a share from the free share of the resource.
func (r *room) take(share int64) {
	r.free -= share
	r.slope = r.double * r.free
}

// stepsPerScan is the cost, in steps, of searching for the next pod. headsPerStep is the number of examined heads that cost one more step.
// stepsPerRule is the cost of checking the rules.
const (
	stepsPerScan = 4
	headsPerStep = 2
	stepsPerRule = 4
)

func newFiller(p *Problem) *filler {
	f := &filler{p: p, left: make([]int, len(p.Items)), fitted: make([]*fitted, len(p.Options))}
	for d := range p.Dims {
		if slices.ContainsFunc(p.Items, func(it Item) bool { return it.Need[d] > 0 }) {
			f.asked = append(f.asked, d)
			if slices.Contains(p.Scarce, d) {
				f.scarce = append(f.scarce, d)
			}
		}
	}
	f.needs = make([]int64, 0, len(p.Items)*len(f.asked))
	f.ruled = make([]bool, len(p.Items))
	for i := range p.Items {
		f.ruled[i] = p.Items[i].Ruled
		for _, d := range f.asked {
			f.needs = append(f.needs, p.Items[i].Need[d])
		}
	}
	n := len(f.scarce)
	f.free, f.weights, f.rooms = make([]int64, len(f.asked)), make([]int64, n), make([]room, max(n, 2))
	f.findFamilies()
	return f
}

// weigh sets the weights of resources to the total needs of the given items, as multiples of a node of the option.
func (f *filler) weigh(option int32, items []int32) {
	shares := f.on(option).shares
	n := len(f.scarce)
	total := int64(0)
	clear(f.weights)
	for _, i := range items {
		for j := range n {
			f.weights[j] += shares[int(i)*n+j] * int64(f.left[i]) >> 4
		}
	}
	for _, w := range f.weights {
		total += w
	}
	for j := range n {
		f.weights[j] = 1 + f.weights[j]/max(total/weightOne, 1)
	}
}

// fill fills a node of the option with the items, which are in f.order. It always adds the pod after which the weighted sum of squared free
// shares is lowest. The resulting load is in f.load; f.left does not change. bonus raises the score of pods bound to a cell, in parts of
// 1,024.
//
// In a family, the largest item that can go on the node has the highest score, so only one item of each family is examined. Scores only
// fall while a node fills. So pods of the best item are added until its score is below the score that the second best item had at the last
// scan.
//
// Source: the norm-based greedy of Panigrahy, Talwar, Uyeda and Wieder, "Heuristics for vector bin packing", 2011.
func (f *filler) fill(option int32, items []int32, bonus int64) {
	f.begin(option)
	f.candidates, f.heads = f.candidates[:0], f.heads[:0]
	if bonus == 0 {
		f.list(items)
	} else { // only pods that are bound to a cell get the bonus, so they have heads of their own
		f.listBound(items, 0, false)
		f.listBound(items, bonus, true)
	}
	for {
		best, second := f.scan()
		if best.head < 0 {
			return
		}
		h := &f.heads[best.head]
		for again := true; again; again = f.can(h.item, h.most) && (scored{best.head, h.at, f.score(h)}).before(second) {
			f.add(h)
		}
	}
}

// begin resets the filler to an empty node of the option.
func (f *filler) begin(option int32) {
	f.option, f.fit, f.load = option, f.on(option), f.load[:0]
	for k, d := range f.asked {
		f.free[k] = f.p.Options[option].Alloc[d]
	}
	for j, weight := range f.weights {
		f.rooms[j] = room{shareOne, 2 * weight * shareOne, 2 * weight}
	}
}

// fits reports whether there is room for another pod of the item.
func (f *filler) fits(item int32) bool {
	n := len(f.free)
	needs := f.needs[int(item)*n:][:n]
	for k, free := range f.free {
		if needs[k] > free {
			return false
		}
	}
	return true
}

// can reports whether another pod of the item can go on the node. most is the number of further pods of the item that are pending and that
// its PerNode allows.
func (f *filler) can(item int32, most int) bool {
	if most <= 0 || !f.fits(item) {
		return false
	}
	if !f.ruled[item] {
		return true
	}
	f.steps -= stepsPerRule
	return f.p.Room(f.option, f.load, item) > 0
}

// add puts a pod of the head's item on the node.
func (f *filler) add(h *head) {
	h.most--
	if h.entry < 0 {
		h.entry = int32(len(f.load))
		f.load = append(f.load, Load{Item: h.item})
	}
	f.load[h.entry].Count++
	f.take(h.item)
	a, b := &f.rooms[0], &f.rooms[1]
	a.take(h.a)
	b.take(h.b)
	for j, share := range h.more {
		f.rooms[2+j].take(share)
	}
}

// take subtracts the needs of a pod of the item from the free amounts.
func (f *filler) take(item int32) {
	n := len(f.free)
	for k, need := range f.needs[int(item)*n:][:n] {
		f.free[k] -= need
	}
}

// size is the size of an item on an empty node: its largest share, and the sum of its shares.
type size struct {
	item         int32
	largest, sum float64
}

// fillBySize fills a node of the option by first fit decreasing: it adds as many pods of the largest item as fit, then pods of the next
// largest item, and so on. The size of an item is its largest share of the node. Of two items with equal largest shares, the item with the
// larger sum of shares is larger.
func (f *filler) fillBySize(option int32, items []int32) {
	f.begin(option)
	f.sizes = f.sizes[:0]
	n := len(f.asked)
	for _, i := range items {
		if f.left[i] == 0 || !f.fit.takes[i] {
			continue
		}
		z := size{item: i}
		for k, need := range f.needs[int(i)*n:][:n] {
			share := float64(need) / float64(max(f.p.Options[option].Alloc[f.asked[k]], 1))
			z.largest, z.sum = max(z.largest, share), z.sum+share
		}
		f.sizes = append(f.sizes, z)
	}
	f.steps -= 2 * len(f.sizes)
	slices.SortFunc(f.sizes, func(a, b size) int {
		return cmp.Or(cmp.Compare(b.largest, a.largest), cmp.Compare(b.sum, a.sum), cmp.Compare(a.item, b.item))
	})
	for _, z := range f.sizes {
		at := len(f.load)
		for most := min(f.left[z.item], f.p.Items[z.item].PerNode); f.can(z.item, most); most-- {
			if len(f.load) == at {
				f.load = append(f.load, Load{Item: z.item})
			}
			f.load[at].Count++
			f.take(z.item)
		}
	}
}
