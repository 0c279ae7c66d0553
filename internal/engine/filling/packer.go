package filling

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Packer fills nodes with items by value. It repeatedly buys nodes of the option whose best filling has the highest value per dollar, as
// many as there are items to fill them.
type Packer struct {
	*Task
	// gate limits which nodes may be bought; nil means that there are no limits.
	gate Gate
	// Keep decides whether the filling in Trial is used for the option. Nil accepts all fillings.
	Keep func(option int32) bool
	// node has the counts of the node being filled that topology rules need. It is nil if no item has rules.
	node *topology.OneNode
	// Left has, for each item, the number of pods that have no node yet.
	Left []int
	// order has each option's items, sorted by value for the room that they take, highest first. An entry is computed when its option is
	// first used.
	order [][]int32
	// skewed has the same items in another order, grouped by dominant resource: see skewedOf.
	skewed [][][]int32
	queue  ratioQueue
	// Trial is the last filling that was tried.
	Trial []pricing.Load
	// scratch
	other  []pricing.Load
	free   []int64
	cursor []int // indexed by dominant resource: the next item, and how many pods of it are taken
	taken  []int
	skew   []float64
	most   []int32 // scratch of byDominant: the dominant resource of each item in its list, or -1
	ranked []ranked
	// least has, for each resource, the smallest amount that an item needs: a node with less free room is full.
	least []int64
}

// NewPacker returns a packer for the task. g limits which nodes may be bought; nil means that there are no limits.
func NewPacker(t *Task, g Gate) *Packer {
	p := t.p
	k := &Packer{
		Task: t, gate: g, Left: make([]int, len(p.Items)), order: make([][]int32, len(p.Options)), skewed: make([][][]int32, len(p.Options)),
		free: make([]int64, p.Dims), cursor: make([]int, p.Dims), taken: make([]int, p.Dims),
		least: pricing.Smallest(p.Items, p.Dims),
	}
	for i := range p.Items {
		k.Left[i] = p.Items[i].Count
		if p.Items[i].Ruled && k.node == nil {
			k.node = topology.NewOneNode(t.rules.Groups)
		}
	}
	return k
}

// offer is an option with the value per dollar of its best filling when it was last checked.
type offer struct {
	option int32
	ratio  float64
	worth  int64
}

// ratioQueue is a heap: the highest ratio comes first, then the larger filling, then the cheaper option.
type ratioQueue []offer

func (q ratioQueue) Len() int { return len(q) }
func (q ratioQueue) Less(i, j int) bool {
	return cmp.Or(-cmp.Compare(q[i].ratio, q[j].ratio), -cmp.Compare(q[i].worth, q[j].worth), cmp.Compare(q[i].option, q[j].option)) < 0
}
func (q ratioQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *ratioQueue) Push(x any)   { *q = append(*q, x.(offer)) }
func (q *ratioQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// Pack places as many pods as it can. The other pods stay in k.Left.
func (k *Packer) Pack(ctx context.Context) *Bins {
	out := &Bins{}
	k.queue = k.queue[:0]
	for o := range k.p.Options {
		// k.v.Ratio is an upper bound on the value per dollar of any filling of the option. So most options are never filled.
		k.queue = append(k.queue, offer{option: int32(o), ratio: k.v.Ratio[o] * 1.001, worth: 1 << 62})
	}
	heap.Init(&k.queue)
	for k.queue.Len() > 0 && ctx.Err() == nil {
		top := k.queue[0]
		// The value that an option can hold only falls as items run out, so a value computed earlier is an upper bound.
		now := k.offerFor(top.option)
		if now.worth <= 0 {
			heap.Pop(&k.queue)
			continue
		}
		if now.ratio < top.ratio {
			k.queue[0] = now
			heap.Fix(&k.queue, 0)
			if k.queue[0].option != top.option {
				continue
			}
		}
		if !k.buyAll(top.option, out) {
			heap.Pop(&k.queue)
		}
	}
	return out
}

func (k *Packer) offerFor(o int32) offer {
	worth := k.fill(o)
	if k.Keep != nil && !k.Keep(o) {
		worth = 0
	}
	price := k.p.Options[o].Price
	if price <= 0 {
		price = 1
	}
	return offer{option: o, ratio: float64(worth) / float64(price), worth: worth}
}

// fill puts a good filling of one node of the option, from the remaining items, into k.Trial. It returns the value of this filling. It
// tries two strategies. The first takes items in the order of value. The second always takes items that mainly need the resource with the
// largest free share.
func (k *Packer) fill(o int32) int64 {
	opt := &k.p.Options[o]
	if k.gate != nil && !k.gate.Open(o) {
		return 0
	}
	order := k.orderOf(o)
	k.begin(opt)
	worth, live, gone := int64(0), 0, 0
	for _, i := range order {
		if k.Left[i] == 0 {
			gone++
			continue
		}
		if live++; resources.Fits(k.least, k.free) {
			worth += k.add(i, k.Left[i])
		} else if live > 1 {
			break // the node is full, and it is known that at least two items have pods left
		}
	}
	if 2*gone > len(order) {
		k.order[o] = k.alive(order)
	}
	if live < 2 {
		return worth
	}
	k.Trial, k.other = k.other, k.Trial
	if balanced := k.fillBalanced(o); balanced > worth {
		k.mergeTrial()
		return balanced
	}
	k.Trial, k.other = k.other, k.Trial
	return worth
}

// begin resets the node that is being filled to an empty node.
func (k *Packer) begin(opt *pricing.Option) {
	copy(k.free, opt.Alloc)
	k.Trial = k.Trial[:0]
	if k.node != nil {
		k.rules.begin(k.node, opt)
	}
}

// add puts pods of the item on the node that is being filled, at most as many as the parameter most says, and returns their value.
func (k *Packer) add(i int32, most int) int64 {
	it := &k.p.Items[i]
	n := resources.HowMany(it.Need, k.free, min(most, it.PerNode))
	if n > 0 && it.Ruled {
		n = min(n, k.node.Room(it.Topology))
	}
	if n <= 0 {
		return 0
	}
	if it.Ruled {
		k.node.Add(it.Topology, int32(n))
	}
	resources.AddScaled(k.free, it.Need, -int64(n))
	k.Trial = append(k.Trial, pricing.Load{Item: i, Count: int32(n)})
	// An item whose value is 0 counts as 1, because its pods also need a node.
	return int64(n) * max(k.v.Item[i], 1)
}

// orderOf sorts the option's items by value for the room that they take, in steps of 2 %, highest first. Within a step, larger items come
// first.
func (k *Packer) orderOf(o int32) []int32 {
	if k.order[o] != nil {
		return k.order[o]
	}
	p := k.p
	opt := &p.Options[o]
	lambda := k.weights(o)
	list := k.ranked[:0]
	for i := range p.Items {
		it := &p.Items[i]
		if k.Left[i] == 0 || !opt.Open.Has(k.at[i]) || !resources.Fits(it.Need, opt.Alloc) {
			continue
		}
		size := 0.0
		for d, n := range it.Need {
			size += lambda[d] * float64(n)
		}
		density := float64(max(k.v.Item[i], 1)) / max(size, 1e-9)
		list = append(list, ranked{int32(i), int(min(density, 1e6) * 50), size})
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(-cmp.Compare(a.class, b.class), -cmp.Compare(a.size, b.size), cmp.Compare(a.item, b.item))
	})
	order := make([]int32, len(list))
	for i := range list {
		order[i] = list[i].item
	}
	k.order[o], k.ranked = order, list
	return order
}

// ranked is an item with its value for the room that it takes, in steps, and the price of that room.
type ranked struct {
	item  int32
	class int
	size  float64
}

// weights returns the option's resource prices, each raised a little so that wasting a resource is never free.
func (k *Packer) weights(o int32) []float64 {
	p := k.p
	opt := &p.Options[o]
	w := make([]float64, p.Dims)
	total := 0.0
	for d := range w {
		w[d] = k.v.Lambda[int(o)*p.Dims+d]
		total += w[d] * float64(opt.Alloc[d])
	}
	if total <= 0 {
		total = float64(max(opt.Price, 1))
	}
	for d := range w {
		if opt.Alloc[d] > 0 {
			w[d] = 0.95*w[d] + 0.05*total/float64(p.Dims)/float64(opt.Alloc[d])
		}
	}
	return w
}

// buyAll adds nodes of the option with the filling in k.Trial. If there is a gate, it adds at most one node. Without a gate, it adds as
// many nodes as the remaining pods fill. It reports whether it bought at least one node.
func (k *Packer) buyAll(o int32, out *Bins) bool {
	times := int32(1 << 30)
	for _, l := range k.Trial {
		times = min(times, int32(k.Left[l.Item])/l.Count)
	}
	if k.gate != nil {
		times = 1
	}
	bought := false
	for range times {
		if k.gate != nil && !k.gate.Buy(o) {
			break
		}
		bought = true
		out.List = append(out.List, k.newBin(o, k.Trial))
		for _, l := range k.Trial {
			k.Left[l.Item] -= int(l.Count)
		}
	}
	return bought
}
