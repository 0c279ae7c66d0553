package packing

import (
	"cmp"
	"slices"
)

// shareOne is a whole node's amount of a resource, in the unit that shares are measured in.
const shareOne = 1 << 20

// weightOne is what the weights of all resources add up to.
const weightOne = 1 << 12

// filler fills one node after another with what is left of the items.
type filler struct {
	p    *Problem
	left []int
	// asked are the dimensions that some item needs; scarce those of Problem.Scarce among them.
	asked, scarce []int
	// needs is indexed [item*len(asked)+k]: what a pod needs of asked[k].
	needs []int64
	// order has all items, those of one family next to each other, larger ones first; family is by item. Pods of a family need the same
	// of all that is scarce but of one resource.
	order, family []int32
	// fitted is by option how the items fit it, nil as long as nobody asked.
	fitted []*fitted
	// option is that of the node that is filled, fit how the items fit it.
	option  int32
	fit     *fitted
	free    []int64 // by asked
	weights []int64 // by scarce
	rooms   []room  // by scarce
	// load is what is on the node, by no order.
	load []Load
	// candidates are the items that may still go on the node, in order; heads are the first of each family among them.
	candidates []int32
	heads      []head
	sizes      []size // of fillBySize
	// steps is how many items may still be looked at.
	steps int
}

// room is the share of a resource that is free, and what a share of a pod scores there, before what it falls short.
type room struct{ free, slope int64 }

// head is the largest item of a family that may still go on the node.
type head struct {
	item int32
	// at is its position in candidates, end that after the last of its family.
	at, end int32
	// entry is its position in the load, or -1.
	entry int32
	// most is how many pods of it may still go on the node.
	most int
	// short is what its score falls short of that of its shares, bonus what is added in parts of 1,024.
	short, bonus int64
	// shares are what a pod of it takes of an empty node, by scarce.
	shares []int64
}

// stepsPerScan, headsPerStep and stepsPerRule are what looking for the next pod counts for, how many items to choose from count for one
// step more, and what asking the rules counts for.
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
	for i := range p.Items {
		for _, d := range f.asked {
			f.needs = append(f.needs, p.Items[i].Need[d])
		}
	}
	n := len(f.scarce)
	f.free, f.weights, f.rooms = make([]int64, len(f.asked)), make([]int64, n), make([]room, n)
	f.findFamilies()
	return f
}

// weigh makes the weights of resources what the given items need of them together, in nodes of the option.
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

// fill fills a node of the option with the items, which are in f.order: again and again with the pod that leaves the least weighted
// square of free shares. The load is in f.load afterwards; f.left is unchanged. bonus is what pods bound to a cell get on top, in parts
// of 1,024.
//
// Of a family the largest item that can go on the node scores most, so that only one of each is looked at. And scores only fall while a
// node fills, so that pods of the best item follow each other until it falls behind what the second best had when all were looked
// at last.
//
// Source: the norm-based greedy of Panigrahy, Talwar, Uyeda and Wieder, "Heuristics for vector bin packing", 2011.
func (f *filler) fill(option int32, items []int32, bonus int64) {
	f.begin(option)
	f.candidates, f.heads = f.candidates[:0], f.heads[:0]
	if bonus == 0 {
		f.list(items, 0, true, true)
	} else { // pods with a bonus are families of their own
		f.list(items, 0, true, false)
		f.list(items, bonus, false, true)
	}
	for {
		best, second := f.scan()
		if best.head < 0 {
			return
		}
		h := &f.heads[best.head]
		for again := true; again; again = f.can(h.item, h.most) && f.scored(best.head).before(second) {
			f.add(h)
		}
	}
}

// scored is a head with its score and its position in candidates.
type scored struct {
	head  int
	at    int32
	score int64
}

// before reports whether the item goes before another: of equals, the one that comes first in the list.
func (a scored) before(b scored) bool { return a.score > b.score || a.score == b.score && a.at < b.at }

// begin empties the node.
func (f *filler) begin(option int32) {
	f.option, f.fit, f.load = option, f.on(option), f.load[:0]
	for k, d := range f.asked {
		f.free[k] = f.p.Options[option].Alloc[d]
	}
	for j, weight := range f.weights {
		f.rooms[j] = room{shareOne, 2 * weight * shareOne}
	}
}

// list adds candidates and heads: pods that are free to go to any cell, bound to one, or both.
func (f *filler) list(items []int32, bonus int64, free, bound bool) {
	family := int32(-1)
	for _, i := range items {
		if f.left[i] == 0 || !f.fit.takes[i] || !free && f.p.Items[i].Cell == AnyCell || !bound && f.p.Items[i].Cell != AnyCell {
			continue
		}
		if f.family[i] != family {
			family = f.family[i]
			at := int32(len(f.candidates))
			f.heads = append(f.heads, head{item: i, at: at, bonus: bonus})
			f.lead(&f.heads[len(f.heads)-1], i)
		}
		f.candidates = append(f.candidates, i)
		f.heads[len(f.heads)-1].end = int32(len(f.candidates))
	}
}

// lead makes an item the first of its family.
//
// The score of a pod is by how much it would lessen the weighted square of free shares, Σ weight·(room² − (room−share)²) =
// Σ 2·weight·room·share − Σ weight·share²: the second sum, what it falls short, is the same whatever is on the node.
func (f *filler) lead(h *head, item int32) {
	h.item, h.entry, h.most, h.short = item, -1, min(f.left[item], f.p.Items[item].PerNode), 0
	h.shares = f.shares(item)
	for j, share := range h.shares {
		h.short += f.weights[j] * share * share
	}
}

// shares are what a pod of the item takes of an empty node, by scarce.
func (f *filler) shares(item int32) []int64 {
	n := len(f.rooms)
	return f.fit.shares[int(item)*n:][:n]
}

// scan finds the best item that can go on the node, none if its head is below 0, and the one that comes next, whether or not it can.
func (f *filler) scan() (best, second scored) {
	best, second = scored{head: -1, score: gone}, scored{head: -1, score: gone}
	f.steps -= stepsPerScan + len(f.heads)/headsPerStep
	for k := 0; k < len(f.heads); {
		switch s := f.scored(k); {
		case s.score == gone:
			f.next(k)
		case !s.before(second):
			k++
		case !s.before(best):
			second = s
			k++
		case f.can(f.heads[k].item, f.heads[k].most):
			best, second = s, best
			k++
		default:
			f.next(k)
		}
	}
	return best, second
}

// next passes over an item that can't go on the node any more, and over those after it that have no room.
func (f *filler) next(k int) {
	h := &f.heads[k]
	for h.at++; h.at < h.end; h.at++ {
		if item := f.candidates[h.at]; f.fits(item) {
			f.lead(h, item)
			return
		}
	}
	last := len(f.heads) - 1
	f.heads[k] = f.heads[last]
	f.heads = f.heads[:last]
}

// gone is the score of what takes more than is free; smaller pods would score more than it then.
const gone = -1

// scored is the head with its score as it is now.
func (f *filler) scored(k int) scored {
	h := &f.heads[k]
	score := -h.short
	rooms := f.rooms[:len(h.shares)]
	for j, share := range h.shares {
		room := &rooms[j]
		if share > room.free {
			return scored{k, h.at, gone}
		}
		score += room.slope * share
	}
	score >>= 10
	return scored{k, h.at, score + score>>10*h.bonus}
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

// can reports whether another pod of the item can go on the node, of which that takes so many more.
func (f *filler) can(item int32, most int) bool {
	if most <= 0 || !f.fits(item) {
		return false
	}
	if !f.p.Items[item].Ruled {
		return true
	}
	f.steps -= stepsPerRule
	return f.p.Room(f.option, f.load, item) > 0
}

// add puts a pod of the head on the node.
func (f *filler) add(h *head) {
	h.most--
	if h.entry < 0 {
		h.entry = int32(len(f.load))
		f.load = append(f.load, Load{Item: h.item})
	}
	f.load[h.entry].Count++
	f.take(h.item)
	for j, share := range h.shares {
		f.rooms[j].free -= share
		f.rooms[j].slope = 2 * f.weights[j] * f.rooms[j].free
	}
}

// take takes what a pod of the item needs from what is free.
func (f *filler) take(item int32) {
	n := len(f.free)
	for k, need := range f.needs[int(item)*n:][:n] {
		f.free[k] -= need
	}
}

// size is how large an item is on an empty node: its largest share, and all of them together.
type size struct {
	item         int32
	largest, sum float64
}

// fillBySize fills a node of the option as first fit decreasing would: with as many as fit of the largest item, then of the next. An
// item is as large as its largest share of the node, and of two the larger is that whose shares add up to more.
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
