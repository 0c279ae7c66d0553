package filling

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// fillBalanced fills the node so that no resource runs out long before the others. Each step finds the resource with the largest free
// share, and takes the next item that mainly needs this resource, in the order of skewedOf. An item may have several entries in k.Trial:
// see mergeTrial.
func (k *Packer) fillBalanced(o int32) int64 {
	p, opt := k.p, &k.p.Options[o]
	k.begin(opt)
	lists := k.skewedOf(o)
	clear(k.cursor)
	clear(k.taken)
	worth := int64(0)
	for resources.Fits(k.least, k.free) {
		d := k.richest(opt, lists)
		if d < 0 {
			break
		}
		i := lists[d][k.cursor[d]]
		it := &p.Items[i]
		// Take half of the pods that fit, so that the resources stay balanced when few pods are left.
		most := max((resources.HowMany(it.Need, k.free, k.Left[i])+1)/2, 1)
		taken := k.taken[d]
		w := k.add(i, min(most, k.Left[i]-taken, it.PerNode-taken))
		worth += w
		if w == 0 || taken+most >= min(k.Left[i], it.PerNode) {
			k.cursor[d]++
			k.taken[d] = 0
			continue
		}
		k.taken[d] += int(k.Trial[len(k.Trial)-1].Count)
	}
	return worth
}

// skewedOf groups the option's items by the resource that they need most of. It sorts each group by how much more of this resource than of
// other resources an item needs. The most unbalanced items are placed first, while other items can still balance them. The most balanced
// items are placed last, because they fit into any free room.
func (k *Packer) skewedOf(o int32) [][]int32 {
	if k.skewed[o] == nil {
		opt := &k.p.Options[o]
		if k.skew == nil {
			k.skew = make([]float64, len(k.p.Items))
		}
		lists := k.byDominant(opt, k.order[o])
		for _, list := range lists {
			slices.SortFunc(list, func(a, b int32) int {
				return cmp.Or(-cmp.Compare(k.skew[a], k.skew[b]), cmp.Compare(a, b))
			})
		}
		k.skewed[o] = lists
	}
	return k.skewed[o]
}

// byDominant lists the items that still have pods by the resource that they need most of, and computes how skewed they are.
func (k *Packer) byDominant(opt *pricing.Option, items []int32) [][]int32 {
	count := make([]int, k.p.Dims)
	k.most = k.most[:0]
	for _, i := range items {
		d := -1
		if k.Left[i] > 0 {
			d = dominant(k.p.Items[i].Need, opt.Alloc)
			k.skew[i] = skewness(k.p.Items[i].Need, opt.Alloc)
			count[d]++
		}
		k.most = append(k.most, int32(d))
	}
	lists, all := make([][]int32, k.p.Dims), make([]int32, len(items))
	for d, n := range count {
		lists[d], all = all[:0:n], all[n:]
	}
	for at, i := range items {
		if d := k.most[at]; d >= 0 {
			lists[d] = append(lists[d], i)
		}
	}
	return lists
}

// skewness returns the largest share of a resource that the need takes, minus the mean share of the other resources. It ignores the
// resource "pods".
func skewness(need, alloc []int64) float64 {
	largest, sum, n := 0.0, 0.0, 0.0
	for d, amount := range need {
		if amount <= 0 || alloc[d] <= 0 || d == resources.Pods {
			continue
		}
		share := float64(amount) / float64(alloc[d])
		largest = max(largest, share)
		sum += share
		n++
	}
	return largest - (sum-largest)/max(n-1, 1)
}

// alive filters a list in place. It removes items that have run out; they never come back, because counts only fall.
func (k *Packer) alive(list []int32) []int32 {
	live := list[:0]
	for _, i := range list {
		if k.Left[i] > 0 {
			live = append(live, i)
		}
	}
	return live
}

// dominant returns the resource of which the need takes the largest share.
func dominant(need, alloc []int64) int {
	best, at := -1.0, 0
	for d, n := range need {
		if n <= 0 || alloc[d] <= 0 {
			continue
		}
		if share := float64(n) / float64(alloc[d]); share > best {
			best, at = share, d
		}
	}
	return at
}

// richest returns the resource with the largest free share among those for which an item is left to try, or -1 if no item is left.
func (k *Packer) richest(opt *pricing.Option, lists [][]int32) int {
	best, at := -1.0, -1
	for d, list := range lists {
		gone := k.cursor[d]
		for k.cursor[d] < len(list) && k.Left[list[k.cursor[d]]] == 0 {
			k.cursor[d]++
		}
		if gone == 0 && k.cursor[d] > 0 {
			// Items at the front that have run out never come back, so they are removed.
			list = list[k.cursor[d]:]
			lists[d], k.cursor[d] = list, 0
		}
		if k.cursor[d] >= len(list) {
			continue
		}
		if share := float64(k.free[d]) / float64(max(opt.Alloc[d], 1)); share > best {
			best, at = share, d
		}
	}
	return at
}

// mergeTrial joins the entries of an item in k.Trial to one.
func (k *Packer) mergeTrial() {
	slices.SortFunc(k.Trial, func(a, b pricing.Load) int { return cmp.Compare(a.Item, b.Item) })
	out := k.Trial[:0]
	for _, l := range k.Trial {
		if n := len(out); n > 0 && out[n-1].Item == l.Item {
			out[n-1].Count += l.Count
			continue
		}
		out = append(out, l)
	}
	k.Trial = out
}
