package solving

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// The search tries all combinations of domains that agree with what the groups of the gangs share. If there are few combinations, the pods
// of all gangs are packed together in each combination. If there are many combinations, the gangs are placed one after another, each in the
// domains that remain possible, with at most mostFamilyTries attempts. The search keeps the cheapest result. Then it tries, in the same
// way, the combinations that keep preferred domains. Their cost may exceed the cheapest result by at most the premium.

const (
	// mostFamilyTries is the maximum number of attempts to place gangs of a family in domains. Each domain that the gangs could share gets
	// a part of these attempts.
	mostFamilyTries = 512
	// mostJointTries is the largest number of combinations within a shared domain for which the pods of all gangs are packed together.
	mostJointTries = 64
)

// together searches for the best places for the gangs of a family.
type together struct {
	Gangs
	// order contains the gangs. Gangs that need the most pods come first.
	order []int32
	// groups are the groups of the gangs, the outermost first. The field in has, for each gang in order, the indexes of its groups.
	groups []sharing
	in     [][]int
	// options has, for each gang and each number of kept preferences, the options that agree with at least one option of each other gang.
	options [][][]model.GangOption
	// ways are the pending states chosen so far for the first gangs, and kept is the number of preferences that these states keep. tries is
	// the number of remaining attempts. The search ends before the gang with the index end.
	ways             []int32
	kept, tries, end int
	// start is the state of the trial before the search. cost is the cost of the new nodes at start, and limit is the maximum cost of
	// further new nodes.
	start state.Mark
	cost  int64
	limit int64
	// best is the best result so far, or nil. The field most is the number of preferences that the search tries to keep.
	best *togetherTrial
	most int
}

// sharing is the state of a group while the domains of its gangs are chosen.
type sharing struct {
	gangs.Group
	// domains are the domains that the group's gangs share. They are set if the number of gangs with a domain (chosen) is not 0.
	domains []planning.GangDomain
	chosen  int
}

// togetherTrial records how a family was placed.
type togetherTrial struct {
	order, ways []int32
	cost        int64
	kept        int
	done        state.Record
}

// bestTogether returns, of the combinations that the search found, the one that keeps the most preferences. Of several such combinations,
// it returns the cheapest. The cost of this combination exceeds the cost of the cheapest combination without preferences by at most the
// premium. It returns nil if no combination was found. It restores the trial.
func (t Gangs) bestTogether(ctx context.Context, family *gangs.Family) *togetherTrial {
	s := t.search(family)
	s.limit = math.MaxInt64
	if !s.prepare(0) {
		return nil
	}
	s.run(ctx)
	wishes := 0
	for _, number := range s.order {
		wishes += len(t.M.Gangs.List[number].Levels) - 1
	}
	if s.best == nil || wishes == 0 || t.Options.Preferences == planning.PreferencesIgnore {
		return s.best
	}
	s.limit = int64(min(float64(s.best.cost)*(1+t.Options.Premium()), math.MaxInt64/2))
	if s.prepare(wishes) {
		s.run(ctx)
	}
	return s.best
}

// search returns a search for a family.
func (t Gangs) search(family *gangs.Family) *together {
	x := t.M.Gangs
	sources, needs := make([]*planning.Gang, len(family.Needed)), make([]int, len(family.Needed))
	for i, number := range family.Needed {
		sources[i], needs[i] = x.List[number].Source, x.List[number].Needed
	}
	s := &together{Gangs: t, start: t.Mark().At, cost: newnodes.Of(t.Trial).NewCost()}
	ordered := make([]*planning.Gang, 0, len(sources))
	for _, at := range gangs.LargestFirst(sources, needs) {
		s.order, ordered = append(s.order, family.Needed[at]), append(ordered, sources[at])
	}
	s.end = len(s.order)
	groups, in := gangs.Groups(ordered)
	s.in = in
	for _, g := range groups {
		s.groups = append(s.groups, sharing{Group: g})
	}
	if family.Within >= 0 {
		s.followOthers(sources[0].Namespace)
	}
	return s
}

// followOthers sets the domains of those groups that contain other gangs which already have a place.
func (s *together) followOthers(namespace string) {
	x := s.M.Gangs
	for number := range x.List {
		g := &x.List[number]
		if g.Family < 0 || g.Source.Namespace != namespace || s.S.Ways[number] < model.GangOptions {
			continue
		}
		o := g.Option(s.S.Ways[number])
		of, _ := gangs.Groups([]*planning.Gang{g.Source})
		for i := range s.groups {
			own := &s.groups[i]
			if o != nil && slices.ContainsFunc(of, func(other gangs.Group) bool { return other.Name == own.Name }) {
				own.domains, own.chosen = o.Domains[:own.Shared], own.chosen+1
			}
		}
	}
}

// prepare sets s.most, and the gangs' options for 0 to s.most kept preferences. It returns false if a gang has no options.
func (s *together) prepare(most int) bool {
	s.most, s.options = most, make([][][]model.GangOption, len(s.order))
	for at, number := range s.order {
		levels := s.M.Gangs.List[number].Levels
		for kept := range min(most+1, len(levels)) {
			s.options[at] = append(s.options[at], s.open(at, levels[kept]))
		}
	}
	for i := len(s.groups) - 1; i >= 0; i-- {
		s.agree(&s.groups[i])
	}
	for i := range s.groups {
		s.agree(&s.groups[i])
	}
	return !slices.ContainsFunc(s.options, func(levels [][]model.GangOption) bool { return len(levels[0]) == 0 })
}

// open returns the gang's options that agree with the domains chosen for the gang's groups.
func (s *together) open(at int, options []model.GangOption) (out []model.GangOption) {
	for i := range options {
		if s.agrees(at, &options[i]) {
			out = append(out, options[i])
		}
	}
	return out
}

func (s *together) agrees(at int, o *model.GangOption) bool {
	for _, in := range s.in[at] {
		if g := &s.groups[in]; g.chosen > 0 && !slices.Equal(o.Domains[:g.Shared], g.domains) {
			return false
		}
	}
	return true
}

// agree removes options of the gangs of the group g. It removes an option if some other gang of the group can't use the option's domain.
func (s *together) agree(g *sharing) {
	if g.Shared == 0 || len(g.Members) == 1 {
		return
	}
	openTo := map[string]int{}
	for n, at := range g.Members {
		for i := range s.options[at][0] {
			if text := planning.DomainsString(s.options[at][0][i].Domains[:g.Shared]); openTo[text] == n {
				openTo[text] = n + 1
			}
		}
	}
	for _, at := range g.Members {
		for kept := range s.options[at] {
			s.options[at][kept] = slices.DeleteFunc(s.options[at][kept], func(o model.GangOption) bool {
				return openTo[planning.DomainsString(o.Domains[:g.Shared])] < len(g.Members)
			})
		}
	}
}

// run tries the combinations in each domain that all gangs can share.
func (s *together) run(ctx context.Context) {
	common := s.common()
	domains := s.domainsOfGroup(common, 0)
	for _, shared := range domains {
		if common != nil {
			common.domains, common.chosen = shared, common.chosen+1
		}
		s.tries = max(mostFamilyTries/len(domains), 2*len(s.order))
		if combinations, few := s.combinations(min(s.tries, mostJointTries)); few {
			s.jointly(ctx, combinations)
		} else {
			s.groupByGroup(ctx, common)
			s.from(ctx, 0)
		}
		if common != nil {
			common.chosen--
		}
		if s.done() || ctx.Err() != nil {
			return
		}
	}
}

// common returns the innermost group that contains all gangs, or nil if there is no such group.
func (s *together) common() (out *sharing) {
	for i := range s.groups {
		if len(s.groups[i].Members) == len(s.order) {
			out = &s.groups[i]
		}
	}
	return out
}

// domainsOfGroup returns the domains that the group could be in, in the order of the options of its gang with index at. If g is nil, it
// returns one domain without labels.
func (s *together) domainsOfGroup(g *sharing, at int) (out [][]planning.GangDomain) {
	if g == nil {
		return [][]planning.GangDomain{nil}
	}
	for i := range s.options[at][0] {
		o := &s.options[at][0][i]
		shared := o.Domains[:g.Shared]
		if s.agrees(at, o) && !slices.ContainsFunc(out, func(known []planning.GangDomain) bool { return slices.Equal(known, shared) }) {
			out = append(out, shared)
		}
	}
	return out
}

// done reports whether no further result can be better than s.best.
func (s *together) done() bool { return s.best != nil && s.best.cost == 0 && s.best.kept == s.most }

// promising reports whether a result with at least this cost and at most this number of kept preferences could be better than s.best.
func (s *together) promising(kept int, cost int64) bool {
	if cost > s.limit {
		return false
	}
	return s.best == nil || kept > s.best.kept || kept == s.best.kept && cost < s.best.cost
}

// newCost returns the cost of the new nodes opened since start.
func (s *together) newCost() int64 { return newnodes.Of(s.Trial).NewCost() - s.cost }

// choose sets the domains of the gang's groups to the domains of the option. drop undoes this.
func (s *together) choose(at int, o *model.GangOption) {
	for _, in := range s.in[at] {
		g := &s.groups[in]
		if g.chosen++; g.chosen == 1 {
			g.domains = o.Domains[:g.Shared]
		}
	}
}

func (s *together) drop(at int) {
	for _, in := range s.in[at] {
		s.groups[in].chosen--
	}
}

// wishesFrom counts the preferences of the gangs with index >= at.
func (s *together) wishesFrom(at int) (n int) {
	for _, levels := range s.options[at:s.end] {
		n += len(levels) - 1
	}
	return n
}

// The method from places the gangs with index >= at. It tries each gang in all domains that agree with the domains of the gangs before it.
func (s *together) from(ctx context.Context, at int) {
	if at == s.end {
		s.best = &togetherTrial{s.order, slices.Clone(s.ways), s.newCost(), s.kept, s.S.Record(s.start)}
		return
	}
	number, later := s.order[at], s.wishesFrom(at+1)
	for kept := len(s.options[at]) - 1; kept >= 0; kept-- {
		most := s.kept + kept + later
		options := s.open(at, s.options[at][kept])
		for _, i := range s.Likeliest(number, options) {
			if s.tries--; s.tries < 0 || ctx.Err() != nil {
				return
			}
			before := s.Mark()
			if s.FitsOption(ctx, number, &options[i]) && s.promising(most, s.newCost()) {
				s.choose(at, &options[i])
				s.ways, s.kept = append(s.ways, options[i].Way), s.kept+kept
				s.from(ctx, at+1)
				s.ways, s.kept = s.ways[:at], s.kept-kept
				s.drop(at)
			}
			s.Undo(before)
			if s.done() {
				return
			}
		}
	}
}

// combination has a pending state for each gang.
type combination struct {
	ways []int32
	kept int
}

// choice is an option of a gang, with the number of preferences that it keeps.
type choice struct {
	option *model.GangOption
	kept   int
}

// combinations lists the combinations of options that agree. Combinations that keep the most preferences come first. If there are more
// combinations than the parameter most allows, few is false and the list is incomplete.
func (s *together) combinations(most int) (out []combination, few bool) {
	lists := make([][]choice, len(s.order))
	for at, number := range s.order {
		for kept := len(s.options[at]) - 1; kept >= 0; kept-- {
			options := s.open(at, s.options[at][kept])
			for _, i := range s.Likeliest(number, options) {
				lists[at] = append(lists[at], choice{&options[i], kept})
			}
		}
	}
	ways, kept := make([]int32, len(lists)), 0
	var list func(at int)
	list = func(at int) {
		if at < 0 {
			out = append(out, combination{slices.Clone(ways), kept})
			return
		}
		for _, c := range lists[at] {
			if len(out) > most {
				return
			}
			if s.agrees(at, c.option) {
				s.choose(at, c.option)
				ways[at], kept = c.option.Way, kept+c.kept
				list(at - 1)
				kept -= c.kept
				s.drop(at)
			}
		}
	}
	list(len(lists) - 1)
	slices.SortStableFunc(out, func(a, b combination) int { return cmp.Compare(b.kept, a.kept) })
	return out, len(out) <= most
}

// jointly packs the pods of all gangs together, in each combination of their options.
func (s *together) jointly(ctx context.Context, combinations []combination) {
	for _, c := range combinations {
		if ctx.Err() != nil || s.done() {
			return
		}
		if s.best != nil && !s.promising(c.kept, 0) {
			continue
		}
		before := s.Mark()
		if s.fill(ctx, c.ways) {
			if cost := s.newCost(); s.promising(c.kept, cost) {
				s.best = &togetherTrial{s.order, c.ways, cost, c.kept, s.S.Record(s.start)}
			}
		}
		s.Undo(before)
	}
}

// fill places the pods that the gangs need. ways has the pending state of each gang. It returns false if some of these pods have no place.
func (s *together) fill(ctx context.Context, ways []int32) bool {
	var classes []int32
	for i, number := range s.order {
		state.ChoosingOf(&s.S).Choose(number, ways[i])
		for _, class := range classesOf(s.M.Gangs.Ways[number].Ways[ways[i]]) {
			if s.M.Classes[class].Invalid != nil {
				return false
			}
			if !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
	}
	if len(classes) > 0 {
		s.placeReal(ctx, classes)
		s.admitDevices(ctx)
	}
	return !slices.ContainsFunc(classes, func(class int32) bool { return s.S.Waiting[class] > 0 })
}
