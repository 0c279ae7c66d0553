package solving

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/filling"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// When pods are placed in bulk, they are assigned to zones, class by class, before they are packed. With few pods, two half-empty nodes in
// two zones may cost more than one full node in one zone. Therefore a plan with few pods is repacked: the pods of some nodes are placed
// again by the exact rules. Each pod gets the place where it adds least to the cost, and nodes are replaced by larger nodes if necessary. A
// pod may also use room on a node of the snapshot that another pod needs, because further pods must follow that other pod. Therefore the
// nodes of the snapshot are sometimes filled again as well.

const (
	// maxRearranged is the maximum number of pods in a plan that is repacked. maxRearrangeSteps is the maximum value of rearranging.limit.
	maxRearranged     = 128
	maxRearrangeSteps = 2400
	// stepsPerPod is the number of steps for each pod of the plan. The total is limited to maxRearrangeSteps.
	stepsPerPod = 80
)

// recipe says in which order pods are placed again, and how they are placed if no node has room.
type recipe struct {
	// ruledFirst places pods with topology rules before other pods of the same priority; within each of these two groups, larger pods come
	// first. If ruledFirst is false, pods of the same priority are sorted by size only.
	ruledFirst bool
	// growFirst means that for a pod without room, a new node of the plan is replaced by a larger node if possible. Only if that is
	// impossible, one more node is bought. This also holds if one more node would be cheaper.
	growFirst bool
	// draw is a seed. If it is not 0, the pods of each priority are shuffled with it instead of sorted.
	draw uint64
	// afresh means that pods on nodes of the snapshot are also placed again. If afresh is false, these pods stay on their nodes.
	afresh bool
}

// recipes lists all recipes, the most successful first.
var recipes = [...]recipe{{ruledFirst: true}, {}, {ruledFirst: true, growFirst: true}, {growFirst: true}}

// rearranging is the state of one search for a cheaper plan by placing pods of some nodes again.
type rearranging struct {
	t          *trial.Trial
	before     trial.Mark
	priorities []int32
	// size has, for each class, the size of a pod as the method shares computes it.
	size []float64
	best state.Record
	// placed, broken and cost describe the best plan so far: the number of pods by priority, the number of preferences that are not kept,
	// and the cost in nano-USD per hour. ranks has, for each class, the sum of the positions of its pods' stages.
	placed []int
	broken int
	cost   int64
	ranks  map[int32]int
	// spans is the result of spansNodes: whether rules over domains larger than a node concern pods, and nodes of the snapshot hold such
	// pods.
	spans bool
	// steps is the number of nodes tried plus the number of pods moved back. limit is the maximum of steps.
	steps, limit int
	// tried are the nodes of the snapshot on which some attempt placed pods. These nodes are recorded only if there are few pods.
	tried []int32
}

// rearrange looks for cheaper places for the pods that were placed since the mark on two or more new nodes, or on one new node that may be
// in the wrong domain. The new plan must keep at least as many preferences of these pods. If there are few pods, it returns the nodes of
// the snapshot that it used during the search.
func (t Improving) rearrange(ctx context.Context, before trial.Mark, classes []int32) (tried []int32) {
	if t.Options.ExistingOnly || t.Options.MinValues == planning.MinValuesBestEffort || t.S.Tight > 0 || t.S.Planned.Filled() == 0 || t.nearlyProven() || t.S.Placed.PodsSince(&t.S.Log, before.At) > maxRearranged {
		return nil
	}
	found, proof := t.S.Record(before.At), t.Proof
	if len(found.Nodes) == 0 || (len(found.Nodes) == 1 && !t.concernsAny(found)) {
		return nil
	}
	r := &rearranging{t: t.Trial, before: before, priorities: t.prioritiesOf(classes), size: t.shares(classes), best: found, cost: newnodes.Of(t.Trial).NewCost(), broken: t.countBroken(), ranks: t.ranks(found),
		limit: min(found.Pods()*stepsPerPod, maxRearrangeSteps)}
	r.placed = t.value(found, r.priorities)
	r.spans = t.spansNodes(found)
	if !t.Begin(classes) {
		return nil
	}
	improved := r.all(ctx)
	t.Undo(before)
	if !improved {
		r.best = found
	}
	t.Restore(r.best)
	if improved {
		Of(t.Trial).placeLeft(ctx, classes) // changed nodes or new domains may now have room for pods that had no place
	}
	if !improved || maps.Equal(found.Stages(), r.best.Stages()) {
		t.Proof = proof // the proof depends on the pods with new nodes and on their stages, but not on the nodes
	}
	return r.tried
}

// concernsAny reports whether rules over domains larger than a node concern pods of the record. In this case, even a single new node may be
// in the wrong domain. The cause may be pods that were placed before this node was bought, or pods that were assigned to the same domain
// but have no place in the end.
func (t Improving) concernsAny(w state.Record) bool {
	return slices.ContainsFunc(w.Bindings, func(b state.Binding) bool { return rulesConcern(t.M, t.M.Classes[b.Class].Topology) })
}

// spansNodes reports whether nodes of the snapshot hold pods of the record, and whether rules over domains larger than a node concern some
// of these pods.
func (t Improving) spansNodes(w state.Record) bool {
	return t.concernsAny(w) && slices.ContainsFunc(w.Bindings, func(b state.Binding) bool { return b.Host < w.Existing })
}

// nearlyProven reports whether the plan's cost is so close to its lower bound that a search for a cheaper plan is not worth it.
func (t Improving) nearlyProven() bool {
	return t.Proof != nil && float64(newnodes.Of(t.Trial).NewCost()) <= t.Proof.V.Bound*(1+1.0/filling.WorthRepacking)
}

// shares returns, for each class, the size of a pod: the largest share of any resource that it requests. This share is the request divided
// by the largest amount of the resource on any new node.
func (t Improving) shares(classes []int32) []float64 {
	m := t.M
	dims := m.Resources.Len()
	most := make([]int64, dims)
	for _, p := range m.Pools {
		for row := range p.Rows.Members {
			for d, n := range p.Table.AllocOf(row, dims) {
				most[d] = max(most[d], n)
			}
		}
	}
	out := make([]float64, len(m.Classes))
	for _, class := range classes {
		out[class] = resources.LargestShare(m.Classes[class].Requests, most)
	}
	return out
}

// countBroken returns the number of preferences of placed pods that are not kept.
func (t Improving) countBroken() int {
	n := 0
	for _, b := range t.S.Placed.All {
		newnodes.Of(t.Trial).BrokenWishes(b, func(planning.RelaxationCode, string) { n += int(b.Count) })
	}
	return n
}

// ranks returns, for each class, the sum of the ranks of the stages of the record's pods.
func (t Improving) ranks(w state.Record) map[int32]int {
	out := map[int32]int{}
	for _, b := range w.Bindings {
		out[b.Class] += t.rank(b.Class, b.Stage) * int(b.Count)
	}
	return out
}

// rank returns the position of a stage among the stages of the class, or 0 for a pod on a node of the snapshot.
func (t Improving) rank(class, stage int32) int {
	return max(slices.Index(t.StagesFor(t.M.Classes[class]), stage), 0)
}

// all places all pods again, once by each recipe. Then it repacks single nodes and pairs of nodes of the best plan until the plan gets no
// cheaper. After that it repacks randomly chosen nodes, with the pods in random order.
func (r *rearranging) all(ctx context.Context) (improved bool) {
	everything := func(int32) bool { return true }
	for _, how := range recipes {
		improved = r.without(ctx, everything, how) || improved
	}
	for again := true; again && r.steps < r.limit && ctx.Err() == nil; {
		again = r.some(ctx)
		improved = improved || again
	}
	for draw := uint64(1); draw <= uint64(r.limit) && r.steps < r.limit && ctx.Err() == nil; draw++ {
		improved = r.drawn(ctx, draw) || improved
	}
	return improved
}

// drawn places the pods of a few random new nodes again in a random order. If there are few new nodes, it places the pods of all new nodes
// again. If the field spans is set, every second call of drawn places all pods again, including pods on nodes of the snapshot.
func (r *rearranging) drawn(ctx context.Context, draw uint64) bool {
	const few = 3
	n := uint64(len(r.best.Nodes))
	how := recipe{draw: draw, growFirst: draw%4 == 0, afresh: r.spans && draw%2 == 1}
	if n <= few || how.afresh {
		return r.without(ctx, func(int32) bool { return true }, how)
	}
	var lots [few]uint64
	for i := range lots {
		lots[i] = mixed(draw, uint64(i)) % n
	}
	return r.without(ctx, func(host int32) bool { return slices.Contains(lots[:], uint64(host-r.best.First)) }, how)
}

// mixed returns a pseudorandom number that depends only on the numbers a and b. It uses the finalizer of SplitMix64.
func mixed(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b*0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// The method some places the pods of one or two new nodes again, and reports whether the plan has improved.
func (r *rearranging) some(ctx context.Context) bool {
	n := int32(len(r.best.Nodes))
	first := r.best.First
	for i := range n {
		if r.without(ctx, func(host int32) bool { return host == first+i }, recipes[0]) {
			return true
		}
	}
	for i := range n {
		for j := range i {
			for _, how := range recipes[:2] {
				if r.without(ctx, func(host int32) bool { return host == first+i || host == first+j }, how) {
					return true
				}
			}
		}
	}
	return false
}

// The method without restores the best plan, except for the nodes for which gone returns true, and places the pods of these nodes again. It
// keeps the result if it is better than the best plan.
func (r *rearranging) without(ctx context.Context, gone func(host int32) bool, how recipe) bool {
	t := r.t
	if r.steps >= r.limit || ctx.Err() != nil {
		return false
	}
	t.Undo(r.before)
	if !how.afresh {
		ImprovingOf(t).restoreBut(r.best, gone)
	}
	r.steps += len(r.best.Bindings)
	var order []int32
	for class, n := range t.S.Waiting {
		if c := t.M.Classes[class]; n > 0 && c.Invalid == nil && !c.Placeholder {
			order = append(order, int32(class))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		ca, cb := t.M.Classes[a], t.M.Classes[b]
		if how.draw > 0 {
			return cmp.Or(cmp.Compare(cb.Priority, ca.Priority), cmp.Compare(mixed(how.draw, uint64(a)), mixed(how.draw, uint64(b))))
		}
		ruled := 0
		if how.ruledFirst {
			ruled = model.BoolCompare(cb.Topology != nil, ca.Topology != nil)
		}
		return cmp.Or(cmp.Compare(cb.Priority, ca.Priority), ruled, -cmp.Compare(r.size[a], r.size[b]))
	})
	for progress := true; progress; {
		progress = false
		for _, class := range order {
			for t.S.Waiting[class] > 0 && ctx.Err() == nil && r.insert(class, how) {
				progress = true
			}
		}
	}
	return r.consider()
}

// lower compares two results of Improving.ranks. It reports whether pods of some class use later stages in the first result (ranks) than in
// the second result (than).
func lower(ranks, than map[int32]int) bool {
	for class, rank := range ranks {
		if rank > than[class] {
			return true
		}
	}
	return false
}

// consider compares the current plan with the best plan. If the current plan is better, or equally good but different, it becomes the best
// plan, from which the search continues. consider reports whether the current plan is better.
func (r *rearranging) consider() bool {
	t := r.t
	w := t.S.Record(r.before.At)
	if w.Pods() <= maxSparing {
		r.tried = mergeNodes(r.tried, w.NodesUsed())
	}
	placed := ImprovingOf(t).value(w, r.priorities)
	more := slices.Compare(placed, r.placed)
	cost := newnodes.Of(t).NewCost()
	if more < 0 || (more == 0 && (cost > r.cost || (cost == r.cost && len(w.Nodes) > len(r.best.Nodes)))) {
		return false
	}
	broken, ranks := ImprovingOf(t).countBroken(), ImprovingOf(t).ranks(w)
	if more == 0 && (broken > r.broken || lower(ranks, r.ranks)) || !placing.GrowthOf(t).AllVaried() {
		return false
	}
	better := more > 0 || cost < r.cost || len(w.Nodes) < len(r.best.Nodes)
	r.best, r.placed, r.broken, r.ranks, r.cost = w, placed, broken, ranks, cost
	return better
}

// insert places pods of the class where they add least to the cost. If a node has free room, it places as many pods there as fit. If no
// node has free room, it places one pod on one more node, or on a node that it replaces by a larger node.
func (r *rearranging) insert(class int32, how recipe) bool {
	t := r.t
	if host, stage := placing.Of(t).FindHost(class); host >= 0 {
		t.Add(state.Binding{Class: class, Host: host, Count: placing.Of(t).BulkOn(class, host), Stage: stage, Tight: placing.SpreadsOf(t).Tightly(class)})
		return true
	}
	c := t.M.Classes[class]
	loads, waits := t.S.Placed.Loads(0), t.AwaitsReservation(c)
	s := placing.SitesOf(t).FindSite(t.Cells, class)
	if s == nil {
		s = placing.SitesOf(t).FindVariedSite(t.Cells, class)
	}
	before, cost := t.Mark(), newnodes.Of(t).NewCost()
	for _, stage := range t.StagesFor(c) {
		best, least := int32(-1), int64(math.MaxInt64)
		for i := range t.S.Planned {
			mc := &t.S.Planned[i]
			if mc.Empty() || (waits && mc.Reservation(t.M.Pools) == "") || !placing.GrowthOf(t).CouldAdmit(c, int32(i)) {
				continue
			}
			r.steps++
			if placing.GrowthOf(t).GrowTo(class, int32(i), stage, loads[i]) {
				if more := newnodes.Of(t).NewCost() - cost; more < least {
					best, least = int32(i), more
				}
				t.Undo(before)
			}
		}
		if s != nil && s.Stage == stage && (best < 0 || (!how.growFirst && s.Price < least)) {
			host := t.S.Open(state.Node{Pool: s.Pool, Row: s.Row, Slot: s.Slot, Price: s.Price, Labels: t.Assignments[s.Stage][s.Pool][s.Assign].Labels})
			t.Add(state.Binding{Class: class, Host: host, Count: 1, Stage: stage, Tight: placing.SpreadsOf(t).Tightly(class)})
			return true
		}
		if best >= 0 {
			return placing.GrowthOf(t).GrowTo(class, best, stage, loads[best])
		}
	}
	return false
}

// restoreBut restores the record, except for the pods of the new nodes for which gone returns true. If the exact rules do not admit a pod,
// it stays pending.
func (t Improving) restoreBut(w state.Record, gone func(host int32) bool) {
	w.Regrow(&t.S)
	number := make([]int32, len(w.Nodes))
	for i, mc := range w.Nodes {
		number[i] = -1
		if gone(w.First + int32(i)) {
			continue
		}
		before := t.Mark()
		if number[i] = t.S.Open(mc); placing.SpreadsOf(t.Trial).Disturbs(number[i]) {
			t.Undo(before)
			number[i] = -1
		}
	}
	var list []proposal
	for _, b := range w.Bindings {
		if b.Host >= w.First {
			if b.Host = number[b.Host-w.First]; b.Host < 0 {
				continue
			}
		}
		list = append(list, proposal{b, t.M.Classes[b.Class].Topology == nil})
	}
	Of(t.Trial).admit(list)
	t.S.AbandonEmpty()
}

// prioritiesOf returns the priorities of the classes, highest first.
func (t Improving) prioritiesOf(classes []int32) []int32 {
	var out []int32
	for _, tier := range Of(t.Trial).priorities(classes) {
		out = append(out, t.M.Classes[tier[0]].Priority)
	}
	return out
}

// value counts the pods that the record places, by priority.
func (t Improving) value(w state.Record, priorities []int32) []int {
	out := make([]int, len(priorities))
	for _, b := range w.Bindings {
		out[slices.Index(priorities, t.M.Classes[b.Class].Priority)] += int(b.Count)
	}
	return out
}
