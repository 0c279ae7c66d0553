package searching

import (
	"context"
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// refining is the part of a search that refines its result: it keeps the accepted steps and looks for further steps.
type refining struct{ *Search }

// all continues the search as the next plan would, until no strategy finds another step or the search has used up its what-ifs. Nodes that
// have received pods may now be removed. New nodes of steps, which are not launched yet, may be dropped for fewer or cheaper new nodes. A
// pod is still moved only once. So the present plan already has the commands that the next plan would otherwise find.
func (s refining) all(ctx context.Context) error {
	if len(s.steps)+len(s.made) == 0 {
		return nil // no strategy has found a step
	}
	if s.Trial.Ruled() {
		s.unrefined = s.Commands()
	}
	s.Refining, s.Strict = true, true
	s.scouts = newScouts(s.Search)
	defer func() { s.scouts = nil }()
	list := s.strategies()
	swept := 0 // the number of accepted steps when refinement last began to try all groups again
	for i, idle := 0, 0; idle < len(list) && s.Work <= s.most; i++ {
		before := len(s.steps)
		s.follow(list[i%len(list)])
		s.round = i
		if err := s.release(); err != nil {
			return err
		}
		if !s.strategy.subsets || s.Few {
			if err := s.consolidate(ctx); err != nil {
				return err
			}
		}
		if idle++; len(s.steps) > before {
			idle = 0
		}
		if idle == len(list) && !s.Many() && (s.Strict || len(s.steps) > swept) {
			idle, s.Strict, swept = 0, false, len(s.steps)
			clear(s.tried)
		}
	}
	return nil
}

// strategies returns the strategies of the refinement rounds. Each round uses the next strategy of the list.
func (s refining) strategies() []strategy {
	list := append(strategies(), strategy{roomWeight: 1000, subsets: true})
	if !s.Many() {
		for _, st := range strategies()[:3] {
			list = append(list, strategy{roomWeight: st.roomWeight, seed: 1})
		}
	}
	return list
}

// release makes fixed nodes candidates again, except nodes that have received pods of drifted nodes. It also adds the new nodes of steps
// that have pods to the candidates, except those that replace drifted nodes.
func (s *Search) release() error {
	if s.released < len(s.steps) {
		s.failed.forget() // the order in which nodes receive pods changes now, so cached failures are no longer valid
	}
	s.released = len(s.steps)
	received, planned := s.Worth.Loads(s.Trial.Trial)
	clear(s.fixed)
	s.Received, s.considered = map[*searchcontext.Candidate]valuing.Load{}, nil
	for _, c := range s.Candidates {
		if s.gone[c] {
			continue
		}
		s.fixed[c] = s.firm[c]
		s.considered = append(s.considered, c)
		if load, has := received[c.Name]; has {
			s.Received[c] = load
		}
	}
	for _, st := range s.steps {
		if st.Method == decision.MethodDrift {
			continue
		}
		for i, number := range st.Numbers {
			if load := planned[number]; load.Pods > 0 {
				s.considered = append(s.considered, plannedCandidate(st, i, load))
			}
		}
	}
	s.Few = !s.partly && len(s.considered) <= removing.FewCandidates
	order := s.Rank(s.worthOn)
	s.scouts.note(change{order: order})
	return s.Trial.Rank(order)
}

// plannedCandidate returns new node number i of the step as a candidate. Removing a node that is not launched evicts no pods, so it causes
// no disturbance. But the search sorts candidates by Cost, so Cost is set to the disturbance that moving the node's pods would cause.
func plannedCandidate(st *removing.Step, i int, load valuing.Load) *searchcontext.Candidate {
	node := &st.NewNodes[i]
	first := &node.InstanceTypes[0]
	c := &decision.Candidate{
		Name: fmt.Sprintf("~%06d", st.Numbers[i]), Pool: &planning.NodePool{Key: node.Pool}, Zone: first.Zone, CapacityType: v1.CapacityTypeOnDemand,
		Price: first.Price, Cost: float64(1 + load.Pods),
	}
	spot := true
	for _, m := range st.Members {
		spot = spot && m.CapacityType == v1.CapacityTypeSpot
	}
	if spot {
		c.CapacityType = v1.CapacityTypeSpot
	}
	return &searchcontext.Candidate{
		Candidate: c, Number: st.Numbers[i], Planned: true, Likeness: searchcontext.LikenessOf(c), NanoPrice: money.NanoUSD(first.Price),
		PodWorth: money.NanoUSD(load.Worth),
	}
}
