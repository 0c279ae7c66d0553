package filling

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/packing"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Task contains pods that need new nodes, with their values and the rules about single nodes.
type Task struct {
	p *pricing.Problem
	v *pricing.Values
	// The field at has, for each item, the index of its place among the places in use.
	at    []int
	rules *Rules
}

// NewTask makes a task from a problem and the values of its items.
func NewTask(p *pricing.Problem, v *pricing.Values, rules *Rules) *Task {
	k := &Task{p: p, v: v, at: make([]int, len(p.Items)), rules: rules}
	places := pricing.PlacesInUse(p.Items)
	for i := range p.Items {
		k.at[i] = slices.Index(places, p.Items[i].Place)
	}
	return k
}

// Rules are rules about single nodes, and the DaemonSet pods on new nodes that these rules count.
type Rules struct {
	Groups []topology.Group
	// Residents counts the DaemonSet pods of the new node n.
	Residents func(n *topology.OneNode, pool, row int32)
}

// newNode returns an empty node of the option.
func (r *Rules) newNode(opt *pricing.Option) *topology.OneNode {
	n := topology.NewOneNode(r.Groups)
	r.Residents(n, opt.Pool, opt.Row)
	return n
}

// begin resets n to an empty node of the option.
func (r *Rules) begin(n *topology.OneNode, opt *pricing.Option) {
	n.Begin(nil)
	r.Residents(n, opt.Pool, opt.Row)
}

// Gate decides which nodes may be bought.
type Gate interface {
	// Open reports whether one more node of the option may be bought.
	Open(option int32) bool
	// Buy records the purchase of one node of the option if the node may be bought. It reports whether it did.
	Buy(option int32) bool
}

// nodesPerItem is the least average number of nodes per item with which patterns are used. With fewer nodes, rounding down the number of
// nodes of each pattern would leave too many pods.
const nodesPerItem = 2

const (
	// goodSeed is a share: the initial packing is kept if it costs at most this share more than the lower bound. If prices are proportional
	// to sizes, a packer by value does not come that close to the bound.
	goodSeed = 1.0 / 22
	// fewOptions is the maximum number of options with which the method balanced is called, and with which the method fair can return true.
	fewOptions = 256
	// poorStart is a share: if the packer's packing costs at least this share more than the initial packing, First returns the initial
	// packing instead of refining the packer's packing.
	poorStart = 0.1
	// fairStart is a share: if a packing of at least manyPods pods costs at most this share more than the lower bound, it is improved
	// without first repacking its worst bins by value.
	fairStart = 1.0 / 80
	manyPods  = 600
)

// First returns the packing to improve. It returns the initial packing, or a packing with nodes of a single price, if that packing is close
// to the lower bound. It also returns the initial packing if that is much cheaper than the packing that the packer finds by value.
// Otherwise it returns the refined packing of the packer. If limits bind, only the packer is used.
func (k *Packer) First(ctx context.Context) *Bins {
	p, v := k.p, k.v
	var seeded *Bins
	if k.gate == nil {
		seeded = k.seeded()
	}
	good := func(g *Bins) bool { return g != nil && float64(g.cost(p)) <= v.Bound*(1+goodSeed) }
	if good(seeded) {
		clear(k.Left)
		return seeded
	}
	patterned := len(p.Items) < pricing.FewItems || v.Program.Nodes() >= nodesPerItem*len(p.Items)
	if seeded != nil && !patterned && len(p.Options) <= fewOptions {
		if balanced := k.balanced(ctx); good(balanced) {
			clear(k.Left)
			return balanced
		}
	}
	packed := &Bins{}
	if s := newPatterns(k.Task); s != nil && k.gate == nil && k.node == nil && patterned {
		packed = s.pack(ctx, k.Left)
	}
	packed.List = append(packed.List, k.Pack(ctx).List...)
	switch {
	case k.gate != nil:
	case seeded != nil && k.Waiting() == 0 && float64(packed.cost(p)) > float64(seeded.cost(p))*(1+poorStart):
		return seeded
	default:
		k.refine(ctx, packed)
	}
	return packed
}

// seeded returns the initial packing of the problem, or nil if the problem has no seeds.
func (k *Task) seeded() *Bins {
	p := k.p
	if len(p.Seeds) == 0 {
		return nil
	}
	g := &Bins{List: make([]Bin, len(p.Seeds))}
	for i, s := range p.Seeds {
		g.List[i] = k.newBin(s.Option, s.Load)
	}
	return g
}

// balanced returns a packing by the values, from package packing. It prefers nodes with a price near the program's MeanPrice. Each node is
// filled so that its resources run out together. It returns nil if there is no such packing.
func (k *Task) balanced(ctx context.Context) *Bins {
	q := newPackings(k, k.v.Item, k.v.Ratio)
	q.out.Likely = k.v.Program.MeanPrice()
	found := packing.Pack(ctx, &q.out, nil, 0, packing.Effort{Starts: 1, Steps: 100 * min(podsOf(k.p), 5_000)})
	if found == nil {
		return nil
	}
	g := &Bins{}
	for i := range found {
		g.List = append(g.List, k.newBin(found[i].Option, fromPacking(found[i].Load)))
	}
	return g
}

// podsOf returns the number of pods of the problem.
func podsOf(p *pricing.Problem) int {
	sum := 0
	for i := range p.Items {
		sum += p.Items[i].Count
	}
	return sum
}

// refine makes a packing cheaper and keeps all its pods.
func (k *Task) refine(ctx context.Context, g *Bins) {
	k.rightSize(g)
	k.dropEmptiable(g)
	k.rightSize(g)
	if !k.fair(g) {
		k.repack(ctx, g)
	}
	k.merge(ctx, g)
	k.packExactly(g)
}

// fair reports whether repacking bins by value would save too little for its time. It returns true if the values are rough (Problem.Rough),
// there are few options, and the packing has many pods and costs little more than its lower bound.
func (k *Task) fair(g *Bins) bool {
	return k.p.Rough && len(k.p.Options) <= fewOptions && float64(g.cost(k.p)) <= k.v.Bound*(1+fairStart) && podsOf(k.p) > manyPods
}

// Waiting returns how many pods have no node yet.
func (k *Packer) Waiting() int {
	sum := 0
	for _, n := range k.Left {
		sum += n
	}
	return sum
}

// Improve replaces the packing by the cheapest one that it finds within the effort.
func (k *Packer) Improve(ctx context.Context, g *Bins, e packing.Effort) {
	newPackings(k.Task, k.v.Item, k.v.Ratio).improve(ctx, g, e)
}
