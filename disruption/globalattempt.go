package disruption

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/scheduling"
)

// tryGroup tries to consolidate the units, and notes what is in the way.
func (s *search) tryGroup(group []*unit, where places) error {
	method := MethodMultiNode
	if len(group) == 1 {
		method = MethodSingleNode
	}
	why, err := s.attempt(method, group, where)
	if err != nil || why == nil {
		return err
	}
	for _, u := range group {
		if known := s.why[u.Name]; known == nil || len(group) == 1 {
			s.why[u.Name] = why
		}
	}
	return nil
}

// places say where pods may go.
type places int

const (
	// onlyRoom: on nodes there are.
	onlyRoom places = iota
	// useRoom: there first, else on new ones.
	useRoom
	// onlyNew: on new ones.
	onlyNew
)

// attempt removes the units if that is worth it: it then becomes a step. Else nothing has changed, and the block says why.
func (s *search) attempt(method Method, group []*unit, where places) (*Block, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	if s.work++; s.work > s.Global.work() && method != MethodDrift {
		s.pass.waiting = true
		return &Block{Code: BlockNotReached}, nil
	}
	if why := s.admissible(method, group); why != nil {
		return why, nil
	}
	mark := s.trial.Mark()
	st, why, err := s.try(method, group, where, mark)
	if err == nil && why == nil {
		why = s.take(method, st)
	}
	if err != nil || why != nil {
		if back := s.trial.Rollback(mark); back != nil && err == nil {
			err = back
		}
		return why, err
	}
	s.accept(st, s.trial.Receivers(mark))
	return nil, nil
}

// admissible looks at what needs no trial.
func (s *search) admissible(method Method, group []*unit) *Block {
	for _, u := range group {
		if why := s.pass.ledger.Blocks(u.Candidate, method.Reason()); why != nil {
			return why
		}
		if limit := s.drainLimit(); limit > 0 && u.drain > limit && !u.due {
			d := u.longest(s.Global)
			return &Block{Code: BlockDrain, Budgets: budgetList(d), Count: d.pods, Need: d.allowed, Duration: u.drain.String()}
		}
	}
	return nil
}

// try does it on the trial.
func (s *search) try(method Method, group []*unit, where places, mark scheduling.Mark) (*step, *Block, error) {
	st := &step{method: method, members: group}
	spent := int64(0)
	for _, u := range group {
		if _, err := s.trial.HideMoving(u.Name, u.moves); err != nil {
			return nil, nil, err
		}
		spent += u.price
		st.pods += len(u.moving)
	}
	left := 0
	if where == onlyNew {
		left = st.pods
	} else {
		left = s.trial.Move(s.Query)
	}
	most := s.mostFor(method, group, spent)
	if left > 0 {
		why, err := s.launch(where, most)
		if err != nil || why != nil {
			return nil, why, err
		}
		bins := s.trial.Planned(mark, max(typesToList, s.pass.spotTypes()))
		if len(bins) > s.maxBins() && method != MethodDrift {
			return nil, &Block{Code: BlockManyNodes, Count: len(bins), Need: s.maxBins()}, nil
		}
		narrowed, why := s.pass.flexible(method, group, bins, spent, most, max(typesToTry, s.pass.spotTypes()))
		if why != nil {
			return nil, why, nil
		}
		st.bins, st.planned = narrowed, bins
	}
	st.saving = spent
	for i := range st.bins {
		st.saving -= nanoUSD(st.bins[i].InstanceTypes[0].Price)
	}
	st.value = s.valueOf(st)
	return st, s.pays(st, spent), nil
}

// mostFor is what new nodes for the group may cost at most, nano-USD per hour.
func (s *search) mostFor(method Method, group []*unit, spent int64) int64 {
	if method == MethodDrift || slices.ContainsFunc(group, func(u *unit) bool { return u.due }) {
		return unlimited
	}
	return spent - max(int64(s.share()*float64(spent)), nanoUSD(s.MinSaving))
}

// take draws on the budgets for all members, or none.
func (s *search) take(method Method, st *step) *Block {
	batch := make([]*Candidate, len(st.members))
	for i, u := range st.members {
		batch[i] = u.Candidate
	}
	_, why := s.pass.ledger.TakeAll(batch, method.Reason())
	return why
}

func (s *search) accept(st *step, receivers []string) {
	for _, u := range st.members {
		s.gone[u] = true
	}
	for _, name := range receivers {
		if u := s.byName[name]; u != nil {
			s.fixed[u] = true
		}
	}
	s.steps = append(s.steps, st)
	s.value += st.value
}

func (u *unit) longest(g *Global) draw {
	for _, d := range u.draws {
		if g.drainTime(d.pods, d.allowed) == u.drain {
			return d
		}
	}
	return draw{}
}

func budgetList(d draw) []types.NamespacedName { return []types.NamespacedName{d.budget} }
