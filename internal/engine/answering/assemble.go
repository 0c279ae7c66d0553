package answering

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	options "github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/scheduling/planning"

	"github.com/drawknife/drawknife/internal/engine/certify"
	"github.com/drawknife/drawknife/internal/engine/explain"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Solve places the snapshot's pending pods on existing and planned nodes, and explains why some pods have no place. The same model and
// query give the same plan. If ctx is cancelled, Solve returns ctx.Err() and no plan.
func Solve(ctx context.Context, m *model.Model, q planning.Query) (*planning.Plan, error) {
	if ctx == nil {
		return nil, options.Missing("Model.Solve", "the context")
	}
	t := trial.New(m)
	if _, err := solving.Of(t).Place(ctx, planning.PlaceOptions{Query: q}); err != nil {
		return nil, err
	}
	expected := solving.Preemptions(ctx, m, t, q)
	if len(expected.List) > 0 && q.Preemption == planning.PreemptionExpect {
		t = trial.New(m)
		solving.Of(t).LeaveTo(expected)
		if _, err := solving.Of(t).Place(ctx, planning.PlaceOptions{Query: q}); err != nil {
			return nil, err
		}
	}
	p, err := On(t).Plan(ctx)
	if err != nil {
		return nil, err
	}
	p.Preemptions = expected.List
	return p, nil
}

// Plan writes the trial's results so far as a plan, like Solve. The plan has the places of pods, including pods of hidden nodes, and the
// reasons why other pods have no place. Plan does not change the trial, so the trial can then be rolled back or continued. If ctx is
// cancelled, Plan returns early with ctx.Err().
func (t *Answering) Plan(ctx context.Context) (*planning.Plan, error) {
	out := &planning.Plan{Notes: slices.Clone(t.M.Notes), SpotSplits: t.M.Spot.Splits()}
	q := trial.NewPodQueues(t.Trial)
	t.writeBindings(out, q)
	explain.Of(t.Trial).WriteGangs(ctx, out)
	if t.S.Topology != nil {
		t.S.Topology.Binding = true // pods without a place were last tried with Binding set to true: see PlaceTightly
		defer func() { t.S.Topology.Binding = false }()
	}
	explain.Of(t.Trial).WriteUnschedulable(out, q)
	if len(out.NewNodes) > 0 {
		t.writePrices(out)
		pf := certify.Of(t.Trial).Counted(ctx, certify.Of(t.Trial).ProofOf(ctx, t.bindOrder))
		out.LowerBound = pf.V.Bound / market.NanoPerUSD
		out.Certificate = certify.Certificate(t.M, pf)
	}
	return out, ctx.Err()
}

// writeBindings writes the placed pods to out in the order in which they can be bound, and also grouped by host.
func (t *Answering) writeBindings(out *planning.Plan, q *trial.PodQueues) {
	m := t.M
	total := 0
	counts := make([]int, len(m.Nodes)+len(t.S.Planned))
	for _, b := range t.S.Placed.All {
		total += int(b.Count)
		counts[b.Host] += int(b.Count)
	}
	out.Order = make([]planning.PodKey, 0, total)
	flat := make([]planning.PodKey, total)
	pods := make([][]planning.PodKey, len(counts))
	loads := make([][]state.Binding, len(t.S.Planned))
	at := 0
	for host, n := range counts {
		pods[host] = flat[at : at : at+n]
		at += n
	}
	for _, b := range t.bindOrder() {
		from := len(out.Order)
		out.Order = q.Take(out.Order, b.Class, int(b.Count))
		pods[b.Host] = append(pods[b.Host], out.Order[from:]...)
		if i := int(b.Host) - len(m.Nodes); i >= 0 {
			loads[i] = append(loads[i], b)
		}
	}
	for i := range m.Nodes {
		if len(pods[i]) > 0 {
			out.Existing = append(out.Existing, planning.ExistingNode{Name: m.Nodes[i].Name, Pods: pods[i]})
		}
	}
	slices.SortFunc(out.Existing, func(a, b planning.ExistingNode) int { return cmp.Compare(a.Name, b.Name) })
	t.writeNodes(out, pods[len(m.Nodes):], loads)
	t.noteChoices(out, loads)
	t.writeRelaxations(out)
}

func (t *Answering) writeNodes(out *planning.Plan, pods [][]planning.PodKey, loads [][]state.Binding) {
	m := t.M
	numbers := map[int32]int{}
	described := newnodes.NewDescriptions()
	described.Spare = t.SpareLimits(func(i int) bool { return len(pods[i]) > 0 })
	var bought []newnodes.BoughtNode
	admission := t.NewDeviceAdmission()
	for i := range t.S.Planned {
		mc := &t.S.Planned[i]
		if len(pods[i]) == 0 {
			continue // the trial has placed no pod on this node
		}
		numbers[mc.Pool]++
		node := planning.NewNode{
			Name: fmt.Sprintf("%s-%d", m.Pools[mc.Pool].Key, numbers[mc.Pool]),
			Pool: m.Pools[mc.Pool].Key,
			Pods: pods[i],
		}
		d := newnodes.Of(t.Trial).Describe(&node, mc, loads[i], described)
		if admission != nil {
			d = newnodes.Of(t.Trial).Keep(&node, admission.Options(&node, mc.Pool, loads[i]), mc, loads[i], d, described)
		}
		out.NewNodes = append(out.NewNodes, node)
		if m.Standings != nil {
			bought = append(bought, newnodes.BoughtNode{Planned: mc, Description: d})
		}
	}
	newnodes.Of(t.Trial).WriteCommitments(out, bought)
	cost := int64(0)
	for i := range out.NewNodes {
		cost += market.NanoUSD(out.NewNodes[i].InstanceTypes[0].Price)
	}
	out.HourlyCost = float64(cost) / market.NanoPerUSD
}

// Placed returns a plan with the places of the trial's pods so far. The plan has no lower bound, and no reasons for pods without a place.
// Placed is fast enough for planners that try many removals. Pods and nodes have the same order and names as in a plan of Solve.
func (t *Answering) Placed() *planning.Plan {
	out := &planning.Plan{}
	t.writeBindings(out, trial.NewPodQueues(t.Trial))
	return out
}

// Planned returns the new nodes that were opened since the mark and have pods, in the order in which they were opened. The nodes are as in
// Placed, but without names and pods. If the pool has no minValues, a node lists only the cheapest instance types, at most the number in
// the parameter types. 0 means all types. Equal nodes share their lists of types and amounts, even between results of several calls, so
// don't change these lists.
//
// The price of a node is the amount that the node adds to the bill. Commitments reduce this price only as far as they cover every allowed
// offering that could be launched.
func (t *Answering) Planned(since trial.Mark, types int) []planning.NewNode {
	first := len(t.S.Planned) - t.S.Log.OpenedSince(since.At)
	loads := make([][]state.Binding, len(t.S.Planned)-first)
	for _, b := range t.S.Placed.Since(&t.S.Log, since.At) {
		if i := int(b.Host) - len(t.M.Nodes) - first; i >= 0 && b.Count > 0 {
			loads[i] = append(loads[i], b)
		}
	}
	var out []planning.NewNode
	var bought []newnodes.BoughtNode
	if t.described == nil {
		t.described = newnodes.NewShared()
	}
	described := t.described
	described.Begin(types)
	for i := first; i < len(t.S.Planned); i++ {
		if mc := &t.S.Planned[i]; !mc.Empty() {
			node := planning.NewNode{Pool: t.M.Pools[mc.Pool].Key}
			d := newnodes.Of(t.Trial).Describe(&node, mc, loads[i-first], described)
			out = append(out, node)
			if t.M.Standings != nil {
				bought = append(bought, newnodes.BoughtNode{Planned: mc, Description: d})
			}
		}
	}
	newnodes.Of(t.Trial).PriceMarginally(out, bought, first)
	return out
}
