package global

import (
	"context"
	"fmt"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// plannedNode is a new node of the plan in the making, which can still be given up.
type plannedNode struct {
	// number is what the trial calls it.
	number int
	// step opened it; spot says that all nodes that go for it are spot.
	step *step
	spot bool
}

// refine plans on from where the search has come to, as the next plan would, until nothing more is found: nodes that have
// received pods may go after all, and new nodes, which nobody has launched yet, are given up for fewer or cheaper ones. No
// pod moves more often for that. What the next plan would find is so in this one already.
func (s *search) refine(ctx context.Context) error {
	if len(s.steps)+len(s.made) == 0 {
		return nil // all ways have been gone in vain
	}
	if s.trial.Ruled() {
		s.unrefined = s.commands()
	}
	s.refining, s.strict = true, true
	s.scouts = s.newScouts()
	defer func() { s.scouts = nil }()
	list := append(ways(), way{theta: 1000, subsets: true})
	if !s.many() {
		for _, w := range ways()[:3] {
			list = append(list, way{theta: w.theta, salt: 1})
		}
	}
	swept := 0 // how many steps there were when all groups were last looked at once more
	for i, idle := 0, 0; idle < len(list) && s.work <= s.most; i++ {
		before := len(s.steps)
		s.way, s.lap = list[i%len(list)], i
		if err := s.release(); err != nil {
			return err
		}
		if !s.way.subsets || s.few() {
			if err := s.consolidate(ctx); err != nil {
				return err
			}
		}
		if idle++; len(s.steps) > before {
			idle = 0
		}
		if idle == len(list) && !s.many() && (s.strict || len(s.steps) > swept) {
			idle, s.strict, swept = 0, false, len(s.steps)
			clear(s.tried)
		}
	}
	return nil
}

// thoroughFleet is how many candidates are few enough for each way to look at all groups while refining, and once more in the end.
const thoroughFleet = 750

// many says that there are too many for that, however few of them are left: what a fleet of 1,000 nodes gains by it is a thousandth
// of what is saved, and takes seven times as long as all the rest.
func (s *search) many() bool { return len(s.units) > thoroughFleet }

// news reports whether it is worth trying the group once more while refining: not as long as no member has received pods since it came
// to nothing, whichever way that was, until all groups are looked at once more in the end. Where nodes are many, there is no such end,
// and ways after the first look only at groups with a member that is a new node or has received pods: what else has happened has
// taken room, or opened nodes, which are looked at themselves. Few nodes are looked at each time, and so is whether all pods of one
// have room elsewhere.
func (s *search) news(group []*unit, where places) bool {
	many := s.many()
	switch {
	case !s.refining || s.few():
		return true
	case where == onlyRoom && !many:
		return true
	case many && s.lap > 0 && !slices.ContainsFunc(group, func(u *unit) bool { return s.changed[u.identity()] > 0 }):
		return false
	}
	return !s.tried[s.state(group, where)]
}

// state is the group as it is, its members with how often they have received pods, and where its pods may go, as a number.
func (s *search) state(group []*unit, where places) uint64 {
	sum := uint64(where)
	for _, u := range group {
		id := u.identity()
		mixed := dice(uint64(id.node)<<40 ^ uint64(id.planned)<<16 ^ uint64(s.changed[id]))
		sum += mixed.draw()
	}
	return sum
}

// identity tells units apart, new nodes too, however often they are made again.
type identity struct{ node, planned int }

func (u *unit) identity() identity {
	if u.planned != nil {
		return identity{planned: u.planned.number + 1}
	}
	return identity{node: u.number + 1}
}

// release frees all nodes again that have neither drifted nor receive pods of such, and begins to treat new nodes as nodes.
func (s *search) release() error {
	if s.released < len(s.steps) {
		s.vain.forget() // nodes are offered in another order from now on
	}
	s.released = len(s.steps)
	received, planned := s.worth.Loads(s.trial.Trial)
	clear(s.fixed)
	s.received, s.live = map[*unit]valuing.Load{}, nil
	for _, u := range s.units {
		if s.gone[u] {
			continue
		}
		s.fixed[u] = s.firm[u]
		s.live = append(s.live, u)
		if load, has := received[u.Name]; has {
			s.received[u] = load
		}
	}
	for _, st := range s.steps {
		if st.method == decision.MethodDrift {
			continue
		}
		for i, number := range st.numbers {
			if load := planned[number]; load.Pods > 0 {
				s.live = append(s.live, s.plannedUnit(st, i, load))
			}
		}
	}
	order := s.rank(s.worthOn)
	s.scouts.note(deed{order: order})
	return s.trial.Rank(order)
}

// plannedUnit is a step's new node as a node that could go. Evicting nobody costs nothing, but the order of the search goes
// by what its pods will cost to move once it is there.
func (s *search) plannedUnit(st *step, i int, load valuing.Load) *unit {
	bin := &st.bins[i]
	first := &bin.InstanceTypes[0]
	c := &decision.Candidate{
		Name: fmt.Sprintf("~%06d", st.numbers[i]), Pool: &planning.NodePool{Key: bin.Pool}, Zone: first.Zone, CapacityType: v1.CapacityTypeOnDemand,
		Price: first.Price, Cost: float64(1 + load.Pods),
	}
	p := &plannedNode{number: st.numbers[i], step: st, spot: true}
	for _, u := range st.members {
		p.spot = p.spot && u.CapacityType == v1.CapacityTypeSpot
	}
	if p.spot {
		c.CapacityType = v1.CapacityTypeSpot
	}
	return &unit{Candidate: c, like: likenessOf(c), price: money.NanoUSD(first.Price), worth: money.NanoUSD(load.Worth), planned: p}
}
