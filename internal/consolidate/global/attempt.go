package global

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// tryGroup tries to consolidate the units, and notes what is in the way.
func (s *search) tryGroup(ctx context.Context, group []*unit, where places) error {
	if !s.news(group, where) {
		return nil
	}
	s.withheld = false
	why, err := s.attempt(ctx, methodFor(group), group, where)
	if err != nil || why == nil {
		return err
	}
	if s.refining && !s.withheld {
		s.tried[s.state(group, where)] = true
	}
	for _, u := range group {
		if u.planned != nil {
			continue
		}
		if known := s.why[u.Name]; known == nil || len(group) == 1 && why.Code != decision.BlockNotReached && !(where == onlyRoom && why.Code == decision.BlockUnschedulable) {
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
	// afresh: on new ones, as many as a command may launch, found as provisioning does.
	afresh
)

// room reports whether nodes that are there may be used.
func (p places) room() bool { return p == onlyRoom || p == useRoom }

// attempt removes the units if that is worth it: it then becomes a step. Else nothing has changed, and the block says why.
func (s *search) attempt(ctx context.Context, method decision.Method, group []*unit, where places) (*decision.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.work++; s.work > s.most && method != decision.MethodDrift {
		s.pass.Waiting = true
		return &decision.Block{Code: decision.BlockNotReached}, nil
	}
	if s.found != nil {
		s.work, s.withheld = s.work+s.found.work, s.found.withheld
		return s.found.why, nil
	}
	if why := s.admissible(method, group); why != nil {
		return why, nil
	}
	if !s.few() {
		return s.attemptUntried(ctx, method, group, where)
	}
	asked := s.question(method, group, where)
	if known := s.vain.of(asked); known != nil {
		s.withheld = s.withheld || known.withheld
		return known.why, nil
	}
	why, err := s.attemptUntried(ctx, method, group, where)
	if err == nil && why != nil {
		s.vain.note(asked, vainAttempt{why, s.withheld})
	}
	return why, err
}

// attemptUntried is attempt for what was not tried in vain.
func (s *search) attemptUntried(ctx context.Context, method decision.Method, group []*unit, where places) (*decision.Block, error) {
	mark := s.trial.Mark()
	st, why, err := s.tryWithin(ctx, method, group, where, mark)
	if err == nil && why == nil {
		why = s.take(method, st)
	}
	if err != nil || why != nil {
		if back := s.trial.Rollback(mark); back != nil && err == nil {
			err = back
		}
		return why, err
	}
	as := *s
	as.ungrown = st.ungrown
	s.scouts.note(deed{as: as, method: method, group: group, where: where, newNodes: s.trial.NewNodes()})
	s.accept(st, s.trial.Receivers(mark))
	return nil, nil
}

// tryWithin tries it, within what a command may remove and launch.
func (s *search) tryWithin(ctx context.Context, method decision.Method, group []*unit, where places, mark trial.Mark) (*step, *decision.Block, error) {
	st, why, err := s.tryBounded(ctx, method, group, where, mark)
	if err != nil || why != s.families.full || st == nil || len(st.grown) == 0 || s.many() {
		return st, why, err
	}
	if err := s.trial.Rollback(mark); err != nil {
		return nil, nil, err
	}
	s.work++
	s.ungrown = true
	defer func() { s.ungrown = false }()
	if st, why, err = s.tryBounded(ctx, method, group, where, mark); why != nil {
		why = s.families.full // there are places: only not in one command
	}
	return st, why, err
}

// tryBounded tries it, and is in vain where more would have to go together than a command may remove and launch.
func (s *search) tryBounded(ctx context.Context, method decision.Method, group []*unit, where places, mark trial.Mark) (*step, *decision.Block, error) {
	st, why, err := s.try(ctx, method, group, where, mark)
	if err == nil && why == nil {
		why = s.tooLarge(st)
	}
	return st, why, err
}

// admissible looks at what needs no trial.
func (s *search) admissible(method decision.Method, group []*unit) *decision.Block {
	if s.refining {
		if _, size := s.families.parties(group); size.members > s.MaxMembers && (size.bins > 1 || size.members > s.maxMerged()) {
			return s.families.full
		}
	}
	for _, u := range standing(group) {
		if why := s.pass.Ledger.Blocks(u.Candidate, method.Reason()); why != nil {
			return why
		}
		if limit := s.DrainLimit; limit > 0 && u.drain > limit && !u.due {
			d := u.longest(s.Options)
			return &decision.Block{Code: decision.BlockDrain, Budgets: budgetList(d), Count: d.pods, Need: d.allowed, Duration: u.drain.String()}
		}
	}
	return nil
}

// try does it on the trial.
func (s *search) try(ctx context.Context, method decision.Method, group []*unit, where places, mark trial.Mark) (*step, *decision.Block, error) {
	st := &step{method: method, members: group, where: where, ungrown: s.ungrown}
	spent, first := int64(0), s.trial.NewNodes()
	for _, u := range group {
		pods, err := s.hide(u)
		if err != nil {
			return nil, nil, err
		}
		spent += u.price
		st.pods += pods
	}
	left := st.pods
	if where.room() {
		left = placing.Of(s.trial.Trial).Move(s.Query)
		if left > 0 && s.refining && !s.ungrown {
			left = placing.Of(s.trial.Trial).Fill(s.Query)
		}
	}
	most := s.mostFor(method, group, spent)
	if left > 0 && len(s.coming) > 0 {
		if why := s.awaited(s.trial); why != nil {
			return nil, why, nil
		}
	}
	if left > 0 {
		why, err := s.launch(ctx, where, most, left)
		if err != nil || why != nil {
			return nil, why, err
		}
		bins := s.trial.written.Planned(mark, max(typesToTry, s.pass.SpotTypes()))
		if most := s.mostBins(where, len(group)); len(bins) > most && method != decision.MethodDrift {
			return nil, &decision.Block{Code: decision.BlockManyNodes, Count: len(bins), Need: most}, nil
		}
		// Refining goes by shares: steps that leave the family they join no slack keep others from joining it.
		if st.bins, why = s.pass.flexible(method, group, bins, spent, most, max(typesToTry, s.pass.SpotTypes()), s.strict); why != nil {
			s.withheld = s.withheld || s.strict && len(bins) > 1
			return nil, why, nil
		}
		st.numbers = s.trial.Filled(first)
	}
	if s.refining {
		st.grown = s.trial.Grown(mark)
	}
	st.saving = spent
	for i := range st.bins {
		st.saving -= money.NanoUSD(st.bins[i].InstanceTypes[0].Price)
	}
	st.value = s.valueOf(st)
	return st, s.pays(s.pass, st), nil
}

// mostBins is how many nodes may be launched at once for so many.
func (s *search) mostBins(where places, members int) int {
	switch {
	case members > s.MaxMembers:
		return 1
	case where == afresh:
		return s.MaxBins
	}
	return s.launched()
}

// hide takes the unit out of the trial; it reports how many pods then wait.
func (s *search) hide(u *unit) (pods int, err error) {
	if u.planned != nil {
		return s.trial.Drop(u.planned.number)
	}
	if _, err := s.trial.HideMoving(u.Name, u.moves); err != nil {
		return 0, err
	}
	return len(u.moving) + s.received[u].Pods, nil
}

// mostFor is what new nodes for the group may cost at most, nano-USD per hour.
func (g *ground) mostFor(method decision.Method, group []*unit, spent int64) int64 {
	if method == decision.MethodDrift || slices.ContainsFunc(group, func(u *unit) bool { return u.due }) {
		return unlimited
	}
	return spent - g.required(group)
}

// take draws on the budgets for all members, or none.
func (s *search) take(method decision.Method, st *step) *decision.Block {
	_, why := s.pass.Ledger.TakeAll(candidates(standing(st.members)), method.Reason())
	return why
}

// tooLarge is the block of a step with which nodes would have to go together that are more than a command may remove, or for
// more new ones than it may launch.
func (s *search) tooLarge(st *step) *decision.Block {
	if !s.refining {
		return nil // each step is a command
	}
	_, size := s.families.parties(st.members, s.families.mixed(st.members, st.numbers, st.grown)...)
	size.bins += len(st.numbers)
	if st.method == decision.MethodDrift {
		size.bins = min(size.bins, s.MaxBins)
	}
	if !s.bears(size) {
		return s.families.full
	}
	return nil
}

func (s *search) accept(st *step, receivers []string) {
	for _, u := range st.members {
		s.gone[u] = true
	}
	roots, size := s.families.parties(st.members, s.families.mixed(st.members, st.numbers, st.grown)...)
	s.families.join(roots, size, st.numbers)
	if s.refining {
		for _, number := range append(st.grown, st.numbers...) {
			s.changed[identity{planned: number + 1}]++
		}
	}
	for _, name := range receivers {
		u := s.byName[name]
		if u == nil {
			continue
		}
		if s.refining {
			s.changed[u.identity()]++
		}
		s.families.receive(u, st.members)
		if st.method == decision.MethodDrift {
			s.firm[u] = true
		}
		if !s.refining || s.firm[u] {
			s.fixed[u] = true
		}
	}
	s.steps = append(s.steps, st)
	s.value += st.value
	s.vain.forget()
}

func (u *unit) longest(g *Options) draw {
	for _, d := range u.draws {
		if g.drainTime(d.pods, d.allowed) == u.drain {
			return d
		}
	}
	return draw{}
}

func budgetList(d draw) []types.NamespacedName { return []types.NamespacedName{d.budget} }
