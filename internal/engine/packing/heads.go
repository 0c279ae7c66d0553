package packing

// Each family has one head. The next pod of a node always belongs to the head with the highest score. Packing spends nearly all of its time
// here, and nearly all problems have two scarce resources, CPU and memory. So the code handles two scarce resources without loops.

// head is the largest item of a family that may still go on the node. The items of a family differ in only one scarce resource.
type head struct {
	item int32
	// at is the index of the item in candidates. end is the index after the last item of its family.
	at, end int32
	// entry is the index of the item in the load, or -1.
	entry int32
	// The field most is the number of further pods of the item that may go on the node.
	most int
	// The field short is subtracted from the score. After that, the field bonus raises the score, in parts of 1,024.
	short, bonus int64
	// a and b are the shares that one pod takes of an empty node's first two scarce resources. more has the shares of the other scarce
	// resources.
	a, b int64
	more []int64
}

// scored is a head's score with the head's index in candidates.
type scored struct {
	head  int
	at    int32
	score int64
}

// before reports whether a comes before b. A higher score comes first; of equal scores, the item that comes first in candidates.
func (a scored) before(b scored) bool { return a.score > b.score || a.score == b.score && a.at < b.at }

// list sets candidates to the items, with the heads of their families.
func (f *filler) list(items []int32) {
	takes, family, last := f.fit.takes, f.family[:len(f.fit.takes)], int32(-1)
	candidates := f.candidates
	for _, i := range items {
		if !takes[i] || f.left[i] == 0 {
			continue
		}
		if family[i] != last {
			last = family[i]
			f.endAt(len(candidates))
			f.heads = append(f.heads, head{at: int32(len(candidates))})
			f.lead(&f.heads[len(f.heads)-1], i)
		}
		candidates = append(candidates, i)
	}
	f.candidates = candidates
	f.endAt(len(candidates))
}

// listBound adds the items that are bound to a cell or, if bound is false, the other items. The heads of the added items get the bonus.
func (f *filler) listBound(items []int32, bonus int64, bound bool) {
	family := int32(-1)
	for _, i := range items {
		if f.left[i] == 0 || !f.fit.takes[i] || bound != (f.p.Items[i].Cell != AnyCell) {
			continue
		}
		if f.family[i] != family {
			family = f.family[i]
			f.heads = append(f.heads, head{at: int32(len(f.candidates)), bonus: bonus})
			f.lead(&f.heads[len(f.heads)-1], i)
		}
		f.candidates = append(f.candidates, i)
		f.endAt(len(f.candidates))
	}
}

// endAt sets the index at which the candidates of the last head end, if there is a head.
func (f *filler) endAt(end int) {
	if n := len(f.heads); n > 0 {
		f.heads[n-1].end = int32(end)
	}
}

// lead makes the item the head h of its family.
//
// The score of a pod is the amount by which the pod would reduce the weighted sum of squared free shares: Σ weight·(room² − (room−share)²)
// = Σ 2·weight·room·share − Σ weight·share². The second sum, the shortfall, does not depend on the node's load.
func (f *filler) lead(h *head, item int32) {
	h.item, h.entry, h.most = item, -1, min(f.left[item], f.p.Items[item].PerNode)
	shares := f.shares(item)
	h.short = 0
	for j, share := range shares {
		h.short += f.weights[j] * share * share
	}
	h.a, h.b, h.more = 0, 0, nil
	switch len(shares) {
	case 0:
	case 1:
		h.a = shares[0]
	case 2:
		h.a, h.b = shares[0], shares[1]
	default:
		h.a, h.b, h.more = shares[0], shares[1], shares[2:]
	}
}

// shares returns the shares of an empty node that a pod of the item takes, indexed like scarce.
func (f *filler) shares(item int32) []int64 {
	n := len(f.scarce)
	return f.fit.shares[int(item)*n:][:n]
}

// scan returns the best item that can go on the node. If no item can go on the node, the head of best is -1. It also returns the second
// best item, even if that item can't go on the node.
func (f *filler) scan() (best, second scored) {
	best, second = scored{head: -1, score: gone}, scored{head: -1, score: gone}
	f.steps -= stepsPerScan + len(f.heads)/headsPerStep
	a, b := f.rooms[0], f.rooms[1]
	for k := 0; k < len(f.heads); {
		h := &f.heads[k]
		if h.a > a.free || h.b > b.free {
			f.next(k)
			continue
		}
		score := a.slope*h.a + b.slope*h.b - h.short
		if h.more != nil {
			if score = f.withMore(h, score); score == gone {
				f.next(k)
				continue
			}
		}
		score >>= 10
		switch s := (scored{k, h.at, score + score>>10*h.bonus}); {
		case !s.before(second):
			k++
		case !s.before(best):
			second = s
			k++
		case f.can(h.item, h.most):
			best, second = s, best
			k++
		default:
			f.next(k)
		}
	}
	return best, second
}

// next replaces the item of head k by the next item of its family that fits. If no item fits, it removes the head.
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

// gone is the score of an item that needs more than the free amounts. A smaller item of the same family (items whose needs differ in only
// one resource) could still fit and have a higher score.
const gone = -1

// score returns the current score of the head.
func (f *filler) score(h *head) int64 {
	a, b := &f.rooms[0], &f.rooms[1]
	if h.a > a.free || h.b > b.free {
		return gone
	}
	score := a.slope*h.a + b.slope*h.b - h.short
	if h.more != nil {
		if score = f.withMore(h, score); score == gone {
			return gone
		}
	}
	score >>= 10
	return score + score>>10*h.bonus
}

// withMore returns the score if there are more than two scarce resources.
func (f *filler) withMore(h *head, score int64) int64 {
	for j, share := range h.more {
		room := &f.rooms[2+j]
		if share > room.free {
			return gone
		}
		score += room.slope * share
	}
	return score
}
