package disruption

import (
	"fmt"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// plannedNode is a new node of the plan in the making, which can still be given up.
type plannedNode struct {
	// number is what the trial calls it.
	number int
	// step opened it; spot tells that all nodes that go for it are spot.
	step *step
	spot bool
}

// refine plans on from where the search has come to, as the next plan would, until nothing more is found: nodes that have
// received pods may go after all, and new nodes, which nobody has launched yet, are given up for fewer or cheaper ones. No
// pod moves more often for that. What the next plan would find is so in this one already.
func (s *search) refine() error {
	if len(s.steps)+len(s.made) == 0 {
		return nil // all ways have been gone in vain
	}
	if s.trial.Ruled() {
		s.unrefined = s.commands()
	}
	s.refining = true
	list := append(ways(), way{theta: 1000, subsets: true})
	since := make([]int, len(list)) // when each way was gone last
	since[0] = never
	for i, idle := 0, 0; idle < len(list) && s.work <= s.Global.work(); i++ {
		before := len(s.steps)
		s.way = list[i%len(list)]
		s.lap, s.since = i, since[i%len(list)]
		since[i%len(list)] = i
		if err := s.release(); err != nil {
			return err
		}
		if !s.way.subsets || len(s.live) <= smallFleet {
			if err := s.consolidate(); err != nil {
				return err
			}
		}
		if idle++; len(s.steps) > before {
			idle = 0
		}
	}
	return nil
}

// never is when nodes changed last that refining has not touched: the first way looks at them, the others need not.
const never = -1

// news reports whether there is something new about the group since the way was gone last: a member is a new node, or has
// received pods. Of others it is known that they come to nothing: what else has happened has taken room, or opened nodes, which are
// looked at themselves. Few nodes are looked at each time.
func (s *search) news(group []*unit) bool {
	if !s.refining || s.since == never || len(s.live) <= smallFleet {
		return true
	}
	return slices.ContainsFunc(group, func(u *unit) bool {
		lap, changed := s.changed[u.identity()]
		return changed && lap >= s.since
	})
}

// identity tells units apart, new nodes too, however often they are made anew.
type identity struct{ node, planned int }

func (u *unit) identity() identity {
	if u.planned != nil {
		return identity{planned: u.planned.number + 1}
	}
	return identity{node: u.number + 1}
}

// release frees all nodes again that have neither drifted nor receive pods of such, and begins to treat new nodes as nodes.
func (s *search) release() error {
	received, planned := s.worth.Loads(s.trial)
	clear(s.fixed)
	s.received, s.live = map[*unit]scheduling.Load{}, nil
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
		if st.method == MethodDrift {
			continue
		}
		for i, number := range st.numbers {
			if load := planned[number]; load.Pods > 0 {
				s.live = append(s.live, s.plannedUnit(st, i, load))
			}
		}
	}
	return s.trial.Rank(s.rank(s.worthOn))
}

// plannedUnit is a step's new node as a node that could go. Evicting nobody costs nothing, but the order of the search goes
// by what its pods will cost to move once it is there.
func (s *search) plannedUnit(st *step, i int, load scheduling.Load) *unit {
	bin := &st.bins[i]
	first := &bin.InstanceTypes[0]
	c := &Candidate{
		Name: fmt.Sprintf("~%06d", st.numbers[i]), Pool: &scheduling.NodePool{Key: bin.Pool}, Zone: first.Zone, CapacityType: v1.CapacityTypeOnDemand,
		Price: first.Price, Cost: float64(1 + load.Pods),
	}
	p := &plannedNode{number: st.numbers[i], step: st, spot: true}
	for _, u := range st.members {
		p.spot = p.spot && u.CapacityType == v1.CapacityTypeSpot
	}
	if p.spot {
		c.CapacityType = v1.CapacityTypeSpot
	}
	return &unit{Candidate: c, price: nanoUSD(first.Price), worth: nanoUSD(load.Worth), planned: p}
}
