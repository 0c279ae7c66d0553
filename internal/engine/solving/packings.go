package solving

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/certify"
	"github.com/drawknife/drawknife/internal/engine/filling"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// packings packs pods onto new nodes. It caches the results, so equal sets of pods are packed only once.
type packings struct{ Solving }

// pack returns the nodes to buy, and the number of pods of each item that got no node.
func (t packings) pack(ctx context.Context, p *offers.Choice, v *pricing.Values) (packed *filling.Bins, left []int) {
	var g filling.Gate
	if t.gated(p) {
		g = newAccount(t.Trial, p)
	}
	k := filling.NewPacker(filling.NewTask(&p.Problem, v, hostRules(t.M)), g)
	packed = k.First(ctx)
	if g == nil && len(packed.List) > 0 && podsOf(p.Items) > 1 && k.Waiting() == 0 {
		effort := packingEffort(t.Options.Effort, podsOf(p.Items))
		if t.Options.Effort != planning.EffortThorough && p.Rough && len(p.Options) <= fewKinds {
			effort = lighter(effort, podsOf(p.Items))
		}
		k.Improve(ctx, packed, effort)
	}
	return packed, k.Left
}

// buyAll buys the packing's nodes. The problem is kept for the proof of the plan's lower bound if the plan has no other new nodes, all pods
// got a node, and no rules about pods prevent the proof.
func (t packings) buyAll(p *offers.Choice, v *pricing.Values, packed *filling.Bins, left []int) {
	m, items, first := t.M, p.Items, len(t.S.Planned) == 0
	t.buy(p, packed)
	t.Proof = nil
	shares := slices.ContainsFunc(items, func(it pricing.Item) bool { return len(m.Classes[it.Class].Shared) > 0 })
	if first && !slices.ContainsFunc(left, func(n int) bool { return n > 0 }) && t.S.Topology == nil && !shares && !certify.Ruled(m, items) && !certify.CountsTooFew(m) {
		t.Proof = &trial.Proof{P: p, V: v}
	}
}

// keyOf returns a key that identifies the pods and the effort of packing them. It is empty if packings are not cached.
func (t packings) keyOf(items []pricing.Item) string {
	if !valuing.Of(t.Trial).Remembers(items) {
		return ""
	}
	key := append(make([]byte, 0, 16*len(items)), t.Options.Effort...)
	for i := range items {
		it := &items[i]
		key = binary.LittleEndian.AppendUint32(key, uint32(it.Class))
		key = binary.LittleEndian.AppendUint32(key, uint32(it.Stage))
		key = append(binary.LittleEndian.AppendUint32(key, uint32(it.Count)), byte(it.Rules))
	}
	return string(key)
}

// known returns the cached packing with the key, or nil if no such packing is cached. It also returns nil for the first new nodes of a
// plan. These nodes must be packed again, because the proof of the plan's lower bound uses their problem.
func (t packings) known(key string) *trial.Packed {
	if key == "" || len(t.S.Planned) == 0 {
		return nil
	}
	return t.Packings.Packed[key]
}

// buyKnown buys the packing's nodes, and returns the number of pods of each item that got no node.
func (t packings) buyKnown(known *trial.Packed) []int {
	packed := &filling.Bins{List: make([]filling.Bin, len(known.Loads))}
	for i, load := range known.Loads {
		packed.List[i] = filling.Bin{Option: int32(i), Load: load}
	}
	t.buy(known.Choice, packed)
	t.Proof = nil
	return known.Choice.Alike.Left(known.Left)
}

// remember caches the packing, unless options are limited (see Solving.gated) or ctx has ended.
func (t packings) remember(ctx context.Context, key string, p *offers.Choice, packed *filling.Bins, left []int) {
	if key == "" || t.gated(p) || ctx.Err() != nil {
		return
	}
	options, loads := make([]int32, len(packed.List)), make([][]pricing.Load, len(packed.List))
	for i := range packed.List {
		options[i], loads[i] = packed.List[i].Option, packed.List[i].Load
	}
	t.Packings.Remember(key, p, options, loads, left)
}
