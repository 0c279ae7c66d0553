package packing

import (
	"cmp"
	"math"
	"math/bits"
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
	// shares is indexed by option, then [item*len(scarce)+j]: what a pod takes of the node's scarce[j].
	shares  [][]int64
	free    []int64 // by asked
	room    []int64 // by scarce: the share that is free
	weights []int64 // by scarce
	load    []Load
	// candidates are the items that may still go on the node; numbers are what they need and then their shares, one after another.
	candidates []candidate
	numbers    []int64
	scores     []int64 // by candidate, no less than what its score is by now; gone for those that the node has no room for any more
	// steps is how many items may still be looked at.
	steps int
}

type candidate struct {
	item, count, most int32
	bound, ruled      bool
	at                int32   // where its numbers begin
	size, sum         float64 // of fillBySize alone: the largest share, and all together
}

func newFiller(p *Problem) *filler {
	f := &filler{p: p, left: make([]int, len(p.Items)), shares: make([][]int64, len(p.Options))}
	for d := range p.Dims {
		if slices.ContainsFunc(p.Items, func(it Item) bool { return it.Need[d] > 0 }) {
			f.asked = append(f.asked, d)
			if slices.Contains(p.Scarce, d) {
				f.scarce = append(f.scarce, d)
			}
		}
	}
	f.free, f.room, f.weights = make([]int64, len(f.asked)), make([]int64, len(f.scarce)), make([]int64, len(f.scarce))
	return f
}

// sharesOn are what pods of each item take of a node of the option.
func (f *filler) sharesOn(option int32) []int64 {
	if s := f.shares[option]; s != nil {
		return s
	}
	p := f.p
	n := len(f.scarce)
	s := make([]int64, len(p.Items)*n)
	for i := range p.Items {
		for j, d := range f.scarce {
			if a := p.Options[option].Alloc[d]; a > 0 {
				// Amounts may be near the largest number there is: the product has 128 bits.
				hi, lo := bits.Mul64(uint64(min(max(p.Items[i].Need[d], 0), a)), shareOne)
				share, _ := bits.Div64(hi, lo, uint64(a))
				s[i*n+j] = int64(share)
			}
		}
	}
	f.shares[option] = s
	return s
}

// weigh makes the weights of resources what the given items need of them together, in nodes of the option.
func (f *filler) weigh(option int32, items []int32) {
	shares := f.sharesOn(option)
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

// gone is the score of candidates that can't go on the node any more; those with a score can.
const gone = -1

// fill fills a node of the option: again and again with the pod that leaves the least weighted square of free shares. The
// load is in f.load afterwards; f.left is unchanged. bonus is what pods bound to a cell get on top, in parts of 1,024.
//
// Scores only fall while a node fills, so that one found earlier bounds what it is now: candidates that were not ahead of the best then
// are not looked at again. The best of the last time often is the best again, and goes first.
//
// Source: the norm-based greedy of Panigrahy, Talwar, Uyeda and Wieder, "Heuristics for vector bin packing", 2011.
func (f *filler) fill(option int32, items []int32, bonus int64) {
	f.begin(option, items)
	f.scores = f.scores[:0]
	for range f.candidates {
		f.scores = append(f.scores, math.MaxInt64)
	}
	for best := 0; len(f.candidates) > 0; f.add(best) {
		most := f.look(option, best, bonus)
		for k, score := range f.scores {
			if score < most || score == most && (k >= best || score == gone) {
				continue
			}
			if score = f.look(option, k, bonus); score > most || score == most && score != gone && k < best {
				best, most = k, score
			}
		}
		f.steps -= 1 + len(f.candidates)>>4
		if most == gone {
			break
		}
	}
	f.load = sortLoad(f.load)
}

// look finds the candidate's score as it is now: by how much a pod of it would lessen the weighted square of free shares.
func (f *filler) look(option int32, at int, bonus int64) int64 {
	f.steps--
	c := &f.candidates[at]
	numbers := f.numbers[c.at:][:len(f.asked)+len(f.scarce)]
	for d, free := range f.free {
		if numbers[d] > free {
			f.scores[at] = gone
			return gone
		}
	}
	if c.count >= c.most || (c.ruled && f.p.Room(option, f.load, c.item) <= 0) {
		f.scores[at] = gone
		return gone
	}
	score := int64(0)
	shares := numbers[len(f.asked):]
	for j, room := range f.room {
		score += f.weights[j] * shares[j] * (2*room - shares[j])
	}
	if score >>= 10; c.bound {
		score += score >> 10 * bonus
	}
	f.scores[at] = max(score, gone)
	return f.scores[at]
}

// fillBySize fills a node of the option as first fit decreasing would: with as many as fit of the largest item, then of the next. An
// item is as large as its largest share of the node, and of two the larger is that whose shares add up to more.
func (f *filler) fillBySize(option int32, items []int32) {
	p, opt := f.p, &f.p.Options[option]
	f.begin(option, items)
	f.steps -= 2 * len(f.candidates)
	for k := range f.candidates {
		c := &f.candidates[k]
		for j, need := range f.numbers[c.at:][:len(f.asked)] {
			share := float64(need) / float64(max(opt.Alloc[f.asked[j]], 1))
			c.size, c.sum = max(c.size, share), c.sum+share
		}
	}
	slices.SortStableFunc(f.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(b.sum, a.sum))
	})
	for k := range f.candidates {
		for c := &f.candidates[k]; c.count < c.most && f.fits(c) && (!c.ruled || p.Room(option, f.load, c.item) > 0); {
			f.add(k)
		}
	}
	f.load = sortLoad(f.load)
}

// fits reports whether another pod of the candidate has room.
func (f *filler) fits(c *candidate) bool {
	for j, need := range f.numbers[c.at:][:len(f.asked)] {
		if need > f.free[j] {
			return false
		}
	}
	return true
}

// begin empties the node and lists the items that may go on it.
func (f *filler) begin(option int32, items []int32) {
	p, opt, shares := f.p, &f.p.Options[option], f.sharesOn(option)
	n := len(f.scarce)
	f.load, f.candidates, f.numbers = f.load[:0], f.candidates[:0], f.numbers[:0]
	for k, d := range f.asked {
		f.free[k] = opt.Alloc[d]
	}
	for j := range f.room {
		f.room[j] = shareOne
	}
	for _, i := range items {
		it := &p.Items[i]
		if f.left[i] == 0 || !opt.open(it.Place) {
			continue
		}
		f.candidates = append(f.candidates, candidate{
			item: i, most: int32(min(f.left[i], it.PerNode)), bound: it.Cell != AnyCell, ruled: it.Ruled, at: int32(len(f.numbers)),
		})
		for _, d := range f.asked {
			f.numbers = append(f.numbers, it.Need[d])
		}
		f.numbers = append(f.numbers, shares[int(i)*n:][:n]...)
	}
}

// add puts one pod of the candidate on the node.
func (f *filler) add(at int) {
	c := &f.candidates[at]
	c.count++
	dims := len(f.asked)
	numbers := f.numbers[c.at:][:dims+len(f.scarce)]
	for d, need := range numbers[:dims] {
		f.free[d] -= need
	}
	for j, share := range numbers[dims:] {
		f.room[j] -= share
	}
	if k := len(f.load); k > 0 && f.load[k-1].Item == c.item {
		f.load[k-1].Count++
		return
	}
	f.load = append(f.load, Load{c.item, 1})
}

// node is a node of the option with f.load.
func (f *filler) node(option int32) Node {
	n := Node{Option: option, Load: append([]Load(nil), f.load...), used: make([]int64, f.p.Dims)}
	for _, l := range n.Load {
		for d, need := range f.p.Items[l.Item].Need {
			n.used[d] += need * int64(l.Count)
		}
	}
	return n
}
