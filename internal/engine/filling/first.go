package filling

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/packing"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Task is pods to buy nodes for, what each is worth, and which rules about single nodes hold.
type Task struct {
	p *pricing.Problem
	v *pricing.Values
	// at is, by item, the position of its place.
	at    []int
	rules *Rules
}

// NewTask has values that go with the problem.
func NewTask(p *pricing.Problem, v *pricing.Values, rules *Rules) *Task {
	k := &Task{p: p, v: v, at: make([]int, len(p.Items)), rules: rules}
	places := pricing.PlacesInUse(p.Items)
	for i := range p.Items {
		k.at[i] = slices.Index(places, p.Items[i].Place)
	}
	return k
}

// Rules are rules about single nodes, and the DaemonSet pods on new nodes that they count.
type Rules struct {
	Groups []topology.Group
	// Residents counts the DaemonSet pods of a new node.
	Residents func(n *topology.OneNode, pool, row int32)
}

// newNode is an empty node of the option.
func (r *Rules) newNode(opt *pricing.Option) *topology.OneNode {
	n := topology.NewOneNode(r.Groups)
	r.Residents(n, opt.Pool, opt.Row)
	return n
}

// begin makes n an empty node of the option.
func (r *Rules) begin(n *topology.OneNode, opt *pricing.Option) {
	n.Begin(nil)
	r.Residents(n, opt.Pool, opt.Row)
}

// Gate says which nodes may be bought.
type Gate interface {
	// Open reports whether one more node of the option may be bought.
	Open(option int32) bool
	// Buy takes one node of the option, if it may be bought.
	Buy(option int32) bool
}

// nodesPerItem is how many nodes there must be for each item for whole patterns to be worth their while: they are bought as often as
// the linear program says, rounded down.
const nodesPerItem = 2

const (
	// goodSeed is by which part of the bound the packing that the values began with may cost more for no other to be made: where prices
	// grow with sizes, a packer by value does not come near that.
	goodSeed = 1.0 / 22
	// fewOptions is how many options count as few: nodes of one price may then be as good as any others.
	fewOptions = 256
	// poorStart is by which part a packing may cost more than another for it to be refined all the same.
	poorStart = 0.1
)

// First is the packing to improve: the one that the values began with, or one of nodes of a single price, if it is near their bound;
// the former, too, if it is far cheaper than what the packer finds by value; else that, refined. Where limits bind only the packer is
// asked.
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

// seeded is the packing that the values began with; nil if there is none.
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

// balanced is a packing by the values of nodes of one price, each filled so that its resources run out together; nil if there is none.
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

// podsOf is how many pods the problem has.
func podsOf(p *pricing.Problem) int {
	sum := 0
	for i := range p.Items {
		sum += p.Items[i].Count
	}
	return sum
}

// refine makes a packing cheaper without losing a pod.
func (k *Task) refine(ctx context.Context, g *Bins) {
	k.rightSize(g)
	k.dropEmptiable(g)
	k.rightSize(g)
	k.repack(ctx, g)
	k.merge(ctx, g)
	k.packExactly(g)
}

// Waiting is how many pods have no node yet.
func (k *Packer) Waiting() int {
	sum := 0
	for _, n := range k.Left {
		sum += n
	}
	return sum
}

// Improve replaces the nodes by the cheapest found within the effort.
func (k *Packer) Improve(ctx context.Context, g *Bins, e packing.Effort) {
	newPackings(k.Task, k.v.Item, k.v.Ratio).improve(ctx, g, e)
}
