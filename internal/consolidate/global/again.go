package global

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/internal/consolidate/sighting"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Numbers of plans that begin with an earlier one.
const (
	// leastAgain is how many candidates a fleet has for which that is worth it.
	leastAgain = 100
	// againShare is which part of the nodes, one in so many, may have to be looked at again.
	againShare = 3
	// againRounds is how often on average each node is looked at again until all is planned from nothing.
	againRounds = 2
	// againLeast is how many what-ifs are made where nodes are few.
	againLeast = 4000
	// againWork is how many what-ifs each node that is looked at again may take.
	againWork = 8
)

// again searches on from what the memory has: commands whose nodes are as they were are made once more, and what is left of the
// nodes that have changed or had to do with these is consolidated. Nil where too much has changed. looked is how often nodes were
// looked at again since all was planned from nothing; a pod that waited and is gone counts as one, as it may have left room on any.
func (g *ground) again(ctx context.Context, m *Memory, sight *sighting.Sighting) (best *search, looked int, err error) {
	if len(g.units) < leastAgain {
		return nil, 0, nil
	}
	changed := m.sight.Changed(sight)
	for _, u := range g.units {
		if was := m.units[u.Name]; was == nil || was.fact() != u.fact() {
			changed[u.Name] = true
		}
	}
	gone := m.sight.GaveUp(sight, changed)
	tooMany := func(n int) bool {
		return n+gone > len(g.units)/againShare || m.looked+n+gone > againRounds*len(g.units)
	}
	if tooMany(len(changed)) {
		return nil, 0, nil
	}
	s, err := g.newSearch(ctx, way{theta: 1000})
	if err != nil {
		return nil, 0, err
	}
	if err := s.removeEmpty(ctx); err != nil {
		return nil, 0, err
	}
	if err := s.removeDrifted(ctx); err != nil {
		return nil, 0, err
	}
	if err := s.redoAll(ctx, m, changed); err != nil {
		return nil, 0, err
	}
	if tooMany(len(changed)) {
		return nil, 0, nil
	}
	s.recall(m, changed)
	return s, m.looked + len(changed) + gone, s.lookAt(ctx, changed)
}

// redoAll makes the commands of the memory once more that it can. Nodes of the others are added to those that have changed.
func (s *search) redoAll(ctx context.Context, m *Memory, changed map[string]bool) error {
	s.trial.Expect(plannedBy(m.plan.Commands))
	for _, cmd := range madeAt(m.plan, s.fleet.Now).Commands {
		if cmd.Reason != decision.ReasonUnderutilized {
			continue
		}
		same := !slices.ContainsFunc(cmd.Members, func(m decision.Member) bool { return changed[m.Node] })
		done, err := s.redo(ctx, cmd, same)
		if err != nil {
			return err
		}
		if done {
			if same && s.trial.Ruled() {
				s.unrefined = append(s.unrefined, cmd)
			}
			continue
		}
		for i := range cmd.Members {
			changed[cmd.Members[i].Node] = true
		}
	}
	return nil
}

// redo makes a command a step, if it is still sound, worth it and within budgets; nothing has changed if not. Same says that its
// members are as they were. Pods that have come, and those whose places are gone, go where there is room.
func (s *search) redo(ctx context.Context, cmd *decision.Command, same bool) (bool, error) {
	st := &step{method: cmd.Method, where: useRoom}
	for i := range cmd.Members {
		u := s.byName[cmd.Members[i].Node]
		if u == nil || u.blocked != nil || s.gone[u] || s.fixed[u] || u.Machine.Claim.UID != cmd.Members[i].UID {
			return false, nil
		}
		st.members = append(st.members, u)
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.work++
	if s.admissible(cmd.Method, st.members) != nil {
		return false, nil
	}
	mark := s.trial.Mark()
	why, err := s.tryAgain(ctx, cmd, same, st, mark)
	if err == nil && why == nil {
		why = s.take(cmd.Method, st)
	}
	if err == nil && why == nil {
		s.accept(st, s.trial.Receivers(mark))
		return true, nil
	}
	if back := s.trial.Rollback(mark); err == nil {
		err = back
	}
	return false, err
}

// tryAgain is try for places that are known.
func (s *search) tryAgain(ctx context.Context, cmd *decision.Command, same bool, st *step, mark trial.Mark) (*decision.Block, error) {
	first := s.trial.NewNodes()
	for _, u := range st.members {
		pods, err := s.trial.HideMoving(u.Name, u.moves)
		if err != nil {
			return nil, err
		}
		st.pods += pods
		st.saving += u.price
	}
	if !same || placesIn(cmd) > st.pods { // then for some that waited, and may be gone
		cmd = withOnly(cmd, s.waitingFor(st.members, same))
	}
	hidden := s.trial.Mark()
	r := replay.Replay{Pass: s.pass.Pass, Trial: s.trial.Trial}
	_, why, err := r.Put(ctx, cmd)
	if err != nil {
		return nil, err
	}
	same = same && placesIn(cmd) == st.pods
	if why != nil {
		if err := s.trial.Rollback(hidden); err != nil {
			return nil, err
		}
		if err := s.putSome(cmd); err != nil {
			return nil, err
		}
		same = false
	}
	// Pods that wait anyway and had room on a member are of no command.
	if same && len(s.trial.Waiting(1)) > 0 {
		same = false
	}
	if !same {
		left := placing.Of(s.trial.Trial).Move(s.Query)
		if left > 0 {
			left = placing.Of(s.trial.Trial).Fill(s.Query)
		}
		if left > 0 {
			return &decision.Block{Code: decision.BlockUnschedulable}, nil
		}
		st.grown = s.trial.Grown(mark)
	}
	if st.numbers = s.trial.Filled(first); same {
		for i := range cmd.Replacements {
			st.bins = append(st.bins, *cmd.Replacements[i].Node)
		}
	} else if len(st.numbers) > 0 {
		types := max(typesToTry, s.pass.SpotTypes())
		if st.bins, why = s.pass.flexible(cmd.Method, st.members, s.trial.written.Planned(mark, types), st.saving, s.mostFor(cmd.Method, st.members, st.saving), types, false); why != nil {
			return why, nil
		}
	}
	for i := range st.bins {
		st.saving -= money.NanoUSD(st.bins[i].InstanceTypes[0].Price)
	}
	st.value = s.valueOf(st)
	if why := s.pays(s.pass, st); why != nil {
		return why, nil
	}
	if _, size := s.families.parties(st.members, s.families.mixed(st.members, st.numbers, st.grown)...); !s.bears(familySize{size.members, size.bins + len(st.numbers)}) {
		return s.families.full, nil
	}
	return nil, nil
}

// waitingFor are the pods of the members that need another place, and those that wait anyway where asked for.
func (s *search) waitingFor(members []*unit, anyway bool) map[planning.PodKey]bool {
	out := map[planning.PodKey]bool{}
	note := func(list []*corev1.Pod) {
		for _, pod := range list {
			out[survey.KeyOf(pod)] = true
		}
	}
	for _, u := range members {
		note(u.moving)
	}
	if anyway {
		note(s.fleet.In.View.Snapshot.Pods)
		note(s.fleet.In.View.Snapshot.Placeholders)
	}
	return out
}

// putSome puts pods where the command has them, as far as there is still a place.
func (s *search) putSome(cmd *decision.Command) error {
	for i := range cmd.Receivers {
		e := &cmd.Receivers[i]
		for k := range e.Pods {
			mark := s.trial.Mark()
			if placing.Of(s.trial.Trial).Put(e.Name, e.Pods[k:k+1]) == nil {
				continue
			}
			if err := s.trial.Rollback(mark); err != nil {
				return err
			}
		}
	}
	for i := range cmd.Replacements {
		mark := s.trial.Mark()
		if placing.Of(s.trial.Trial).PutNew(cmd.Replacements[i].Node) == nil {
			continue
		}
		if err := s.trial.Rollback(mark); err != nil {
			return err
		}
	}
	return nil
}

// placesIn is how many pods the command has places for.
func placesIn(c *decision.Command) int {
	n := 0
	for i := range c.Receivers {
		n += len(c.Receivers[i].Pods)
	}
	for i := range c.Replacements {
		if c.Replacements[i].Node != nil {
			n += len(c.Replacements[i].Node.Pods)
		}
	}
	return n
}

// plannedBy is how many pods the commands have places for.
func plannedBy(commands []*decision.Command) int {
	n := 0
	for _, cmd := range commands {
		n += placesIn(cmd)
	}
	return n
}

// withOnly is the command with places for no pods but these.
func withOnly(c *decision.Command, pods map[planning.PodKey]bool) *decision.Command {
	gone := func(key planning.PodKey) bool { return !pods[key] }
	out := *c
	out.Receivers, out.Replacements, out.Order = nil, nil, nil
	for _, e := range c.Receivers {
		if e.Pods = slices.DeleteFunc(slices.Clone(e.Pods), gone); len(e.Pods) > 0 {
			out.Receivers = append(out.Receivers, e)
		}
	}
	for _, r := range c.Replacements {
		if r.Node == nil {
			continue
		}
		n := *r.Node
		if n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), gone); len(n.Pods) > 0 {
			out.Replacements = append(out.Replacements, decision.Replacement{Node: &n, Pool: r.Pool})
		}
	}
	return &out
}

// recall has nodes that are as they were stay for the reasons that they had, and adds those to the changed whose reasons may not
// last: they depend on the time, on budgets, or on what became of other nodes.
func (s *search) recall(m *Memory, changed map[string]bool) {
	receives := map[string]bool{}
	for _, u := range s.units {
		if s.fixed[u] {
			receives[u.Name] = true
		}
	}
	for _, u := range s.units {
		if u.blocked != nil || s.gone[u] || changed[u.Name] {
			continue
		}
		why := m.why[u.Name]
		if why == nil {
			if !receives[u.Name] {
				changed[u.Name] = true
			}
			continue
		}
		switch why.Code {
		case decision.BlockLater, decision.BlockNotReached, decision.BlockRobustness, decision.BlockBudget, decision.BlockDrain, decision.BlockDependsOnUninitialized:
			changed[u.Name] = true
		default:
			s.why[u.Name] = why
		}
	}
}

// lookAt consolidates the named nodes as refining does: each by itself, and where nodes are not many also in groups, in all ways.
func (s *search) lookAt(ctx context.Context, names map[string]bool) error {
	s.partly, s.refining, s.strict = true, true, true
	s.most = min(s.most, s.work+againWork*len(names))
	list, pass := []way{{theta: 1000}}, s.eachBySelf
	if len(s.units) <= thoroughFleet {
		list, pass = ways(), s.consolidate
		s.most = min(s.Options.Work, max(s.most, s.work+againLeast))
	}
	for i, idle := 0, 0; idle < len(list) && s.work <= s.most; i++ {
		before := len(s.steps)
		s.way, s.lap = list[i%len(list)], i
		if err := s.release(); err != nil {
			return err
		}
		s.live = slices.DeleteFunc(s.live, func(u *unit) bool { return u.planned == nil && !names[u.Name] })
		if err := pass(ctx); err != nil {
			return err
		}
		if idle++; len(s.steps) > before && len(list) > 1 {
			idle = 0
		}
	}
	return nil
}

// eachBySelf is consolidate without groups.
func (s *search) eachBySelf(ctx context.Context) error {
	if err := s.removeSingly(ctx); err != nil {
		return err
	}
	return s.replaceSingly(ctx)
}
