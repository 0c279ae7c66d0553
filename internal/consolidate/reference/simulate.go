package reference

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/updating"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// simulator simulates the removal of nodes. It first places pending pods on existing nodes, once for all simulations, so these pods use
// free room before any node is removed. Pending pods without a place on existing nodes are left to provisioning. So such a pod does not
// prevent removals, even if it needs a new node or has no place at all.
type simulator struct {
	fleet *survey.Fleet
	query planning.Query
	trial *answering.Answering
	// uninitialized are the names of nodes that may never become ready. So no pod is moved to them.
	uninitialized map[string]bool
	// fee, in nano-USD per hour, is added to the price of each new node.
	fee int64
}

// newNodeFee, in USD per hour, is more than any node costs. It makes plans use as few new nodes as possible, because consolidation launches
// at most one new node. Without the fee, plans would often use two small nodes, because two small nodes often cost no more than a large
// one.
const newNodeFee = 10_000

// maxCostTerms is the largest number of terms of a cost model.
const maxCostTerms = 256

// simulation is the result of a removal.
type simulation struct {
	// newNodes are the new nodes that the removal would need.
	newNodes []planning.NewNode
	// receivers are the nodes that take pods of removed nodes.
	receivers []planning.ExistingNode
}

// newSimulator places the pending pods. A simulator for consolidation puts no pods on nodes whose own consolidateAfter has not passed, and
// plans as few new nodes as possible.
func newSimulator(ctx context.Context, f *survey.Fleet, q planning.Query, consolidates bool) (*simulator, error) {
	settled, err := Settled(ctx, f, q)
	if err != nil {
		return nil, err
	}
	s := &simulator{fleet: f, query: q, uninitialized: map[string]bool{}}
	if consolidates {
		if settled, s.fee, err = sparing(settled, f.In.View.Snapshot); err != nil {
			return nil, err
		}
	}
	s.trial = answering.On(trial.New(settled.Model))
	if _, err := solving.Of(s.trial.Trial).Place(ctx, planning.PlaceOptions{Query: q, ExistingOnly: true}); err != nil {
		return nil, err
	}
	for i := range f.In.View.Nodes {
		m := &f.In.View.Nodes[i]
		if m.Claim != nil && m.Phase != cluster.PhaseInitialized {
			s.uninitialized[m.Name] = true
		}
		p := f.Pools[m.Pool]
		if consolidates && p != nil && survey.ClosedTo(m, p.Object, f.Now) {
			if err := s.trial.Close(m.Name); err != nil {
				return nil, err
			}
		}
	}
	s.trial.Commit()
	return s, nil
}

// sparing returns the model with newNodeFee added to the price of new nodes, and the fee in nano-USD. If the cost model already has
// maxCostTerms terms, it returns the unchanged model and the fee 0.
func sparing(from *SimulatorModel, snapshot *planning.Snapshot) (*SimulatorModel, int64, error) {
	fee := float64(newNodeFee)
	terms := []planning.CostTerm{{Name: "drawknife: fewest new nodes", Source: "consolidation launches at most one node", PerNode: &fee}}
	if snapshot.CostModel != nil {
		if len(snapshot.CostModel.Terms) >= maxCostTerms {
			return from, 0, nil
		}
		terms = append(slices.Clone(snapshot.CostModel.Terms), terms...)
	}
	dear := *from.Snapshot
	dear.CostModel = &planning.CostModel{Terms: terms}
	next, err := updating.Update(from.Model, &dear)
	if err != nil {
		return nil, 0, err
	}
	return &SimulatorModel{next, &dear}, money.NanoUSD(fee), nil
}

// SimulatorModel is a model and the snapshot it was compiled from.
type SimulatorModel struct {
	*model.Model
	Snapshot *planning.Snapshot
}

// withoutFee returns the planned nodes, and subtracts the fee from their prices.
func (s *simulator) withoutFee(nodes []planning.NewNode) []planning.NewNode {
	if s.fee == 0 {
		return nodes
	}
	for i := range nodes {
		options := slices.Clone(nodes[i].InstanceTypes)
		for j := range options {
			o := &options[j]
			o.Price = money.USD(money.NanoUSD(o.Price) - s.fee)
			if o.Terms = o.Terms[:max(0, len(o.Terms)-1)]; s.fleet.In.View.Snapshot.CostModel == nil {
				o.Terms = nil
			}
		}
		nodes[i].InstanceTypes = options
	}
	return nodes
}

// Settled returns a model without those pending pods that have no place on existing nodes: see the type simulator.
func Settled(ctx context.Context, f *survey.Fleet, q planning.Query) (*SimulatorModel, error) {
	snapshot := f.In.View.Snapshot
	if len(snapshot.Pods)+len(snapshot.Placeholders) == 0 {
		return &SimulatorModel{f.In.Model, snapshot}, nil
	}
	t := trial.New(f.In.Model)
	out, err := solving.Of(t).Place(ctx, planning.PlaceOptions{Query: q, ExistingOnly: true})
	if err != nil || out.Unplaced == 0 {
		return &SimulatorModel{f.In.Model, snapshot}, err
	}
	placed := map[planning.PodKey]bool{}
	for _, key := range answering.On(t).Placed().Order {
		placed[key] = true
	}
	homeless := func(pod *corev1.Pod) bool { return !placed[survey.KeyOf(pod)] }
	reduced := *snapshot
	reduced.Pods = slices.DeleteFunc(slices.Clone(snapshot.Pods), homeless)
	reduced.Placeholders = slices.DeleteFunc(slices.Clone(snapshot.Placeholders), homeless)
	settled, err := updating.Update(f.In.Model, &reduced)
	return &SimulatorModel{settled, &reduced}, err
}

// remove simulates the removal of all candidates together, or returns the block if pods have no place. A gang that requires or prefers one
// domain is placed as provisioning would place it: in the domain in which new nodes cost least, with the preferences that the premium
// allows.
func (s *simulator) remove(ctx context.Context, batch []*decision.Candidate) (*simulation, *decision.Block, error) {
	ways, nowhere := s.ways(batch)
	best, err := gangs.MostWishes(trial.Wishes(ways, s.query), s.query.Premium(), func(kept int) (*simulation, error) {
		sim, why, err := s.cheapest(ctx, batch, trial.Keeping(ways, kept))
		nowhere = cmp.Or(nowhere, why)
		return sim, err
	}, (*simulation).cost)
	switch {
	case err != nil:
		return nil, nil, err
	case best == nil:
		return nil, nowhere, nil
	}
	return best, nil, nil
}

// cheapest simulates the removal once with each of the given moves of the batch's gangs. It returns the simulation with the cheapest new
// nodes, or nil if no move is possible. It also returns the block of the first move that turns out to be impossible.
func (s *simulator) cheapest(ctx context.Context, batch []*decision.Candidate, ways []*trial.GangWay) (best *simulation, first *decision.Block, err error) {
	for _, way := range ways {
		mark := s.trial.Mark()
		sim, why, err := s.try(ctx, batch, way)
		if back := s.trial.Rollback(mark); back != nil && err == nil {
			err = back
		}
		if err != nil {
			return nil, nil, err
		}
		first = cmp.Or(first, why)
		if why == nil && (best == nil || sim.cost() < best.cost()) {
			best = sim
		}
		if best != nil && len(best.newNodes) == 0 {
			break
		}
	}
	return best, first, nil
}

// ways returns the possible moves of the batch's gangs, or a block if a gang can't move.
func (s *simulator) ways(batch []*decision.Candidate) ([]*trial.GangWay, *decision.Block) {
	tie := s.fleet.TieOf(batch[0].Name)
	if tie == nil {
		return []*trial.GangWay{nil}, nil
	}
	ways := trial.WaysOf(s.trial.M, tie.Gangs)
	if len(ways) == 0 {
		return nil, tie.Nowhere()
	}
	return ways, nil
}

// cost returns the lowest possible cost of the new nodes, in nano-USD per hour.
func (s *simulation) cost() (sum int64) {
	for i := range s.newNodes {
		sum += money.NanoUSD(s.newNodes[i].InstanceTypes[0].Price)
	}
	return sum
}

func (s *simulator) try(ctx context.Context, batch []*decision.Candidate, way *trial.GangWay) (*simulation, *decision.Block, error) {
	moving := map[planning.PodKey]bool{}
	for _, c := range batch {
		moves := s.fleet.Moves(c.State.Pool)
		for _, pod := range c.Pods {
			if moves(pod) {
				moving[survey.KeyOf(pod)] = true
			}
		}
		if _, err := trial.GangsOf(s.trial.Trial).HideIn(c.Name, func(pod *corev1.Pod) bool { return moving[survey.KeyOf(pod)] }, way); err != nil {
			return nil, nil, err
		}
	}
	if _, err := solving.Of(s.trial.Trial).Place(ctx, planning.PlaceOptions{Query: s.query}); err != nil {
		return nil, nil, err
	}
	placed := s.trial.Placed()
	for _, key := range placed.Order {
		delete(moving, key)
	}
	if len(moving) > 0 {
		lost := slices.SortedFunc(maps.Keys(moving), func(a, b planning.PodKey) int { return strings.Compare(a.String(), b.String()) })
		return nil, &decision.Block{Code: decision.BlockUnschedulable, Pods: lost}, nil
	}
	sim := &simulation{newNodes: s.withoutFee(placed.NewNodes)}
	own := map[planning.PodKey]bool{}
	for _, c := range batch {
		for _, pod := range c.Pods {
			own[survey.KeyOf(pod)] = true
		}
	}
	var unready []string
	for i := range placed.Existing {
		e := planning.ExistingNode{Name: placed.Existing[i].Name}
		for _, key := range placed.Existing[i].Pods {
			if own[key] {
				e.Pods = append(e.Pods, key)
			}
		}
		if len(e.Pods) == 0 {
			continue
		}
		if s.uninitialized[e.Name] {
			unready = append(unready, e.Name)
		}
		sim.receivers = append(sim.receivers, e)
	}
	if len(unready) > 0 {
		return nil, &decision.Block{Code: decision.BlockDependsOnUninitialized, Detail: strings.Join(unready, ", ")}, nil
	}
	return sim, nil, nil
}

// openSimulator returns Pass.open, and makes it at the first call.
func (p *Pass) openSimulator(ctx context.Context) (*simulator, error) {
	if p.open == nil {
		s, err := newSimulator(ctx, p.Fleet, p.Query, false)
		if err != nil {
			return nil, err
		}
		p.open = s
	}
	return p.open, nil
}

func (p *Pass) closedSimulator(ctx context.Context) (*simulator, error) {
	if p.closed == nil {
		s, err := newSimulator(ctx, p.Fleet, p.Query, true)
		if err != nil {
			return nil, err
		}
		p.closed = s
	}
	return p.closed, nil
}

// MaxNamed is the largest number of pods without a place that a block names.
const MaxNamed = 5
