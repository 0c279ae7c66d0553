package global

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// step is one accepted removal: what will be a command. Steps never touch each other's nodes: none puts pods on a node
// that another removes, nor on one that another launches. So each is good without the others as far as room goes.
type step struct {
	method  decision.Method
	members []*unit
	// bins are the new nodes with the types that may be launched, numbers what the trial calls them.
	bins    []planning.NewNode
	numbers []int
	// grown are other new nodes that have received pods.
	grown []int
	// saving in nano-USD per hour, and what one step is worth in nano-USD: see search.value.
	saving, value int64
	pods          int
	// where its pods were allowed to go; ungrown says that those were none of the new nodes that others have opened.
	where   places
	ungrown bool
}

// search is one way of looking for a plan: what it has decided so far, how it looks at groups at present, and what it has tried in vain. It
// is not safe for concurrent use.
type search struct {
	*ground
	way   way
	pass  *pass
	trial *whatIf
	// start is the trial before anything was tried.
	start trial.Mark
	// live are the units that the search looks at: all, and once it is refined those left and those that stand for new nodes.
	live []*unit
	// received is what units have been given so far, as of when nodes were last freed again.
	received map[*unit]valuing.Load
	decided
	mode
	tries
	near []drawn // scratch of drawGroup
	// scouts try groups ahead; found is what one found of the group that is tried now. Nil for none.
	scouts *scouts
	found  *finding
}

// decided is what a search has come to, which becomes the plan.
type decided struct {
	// gone and fixed are units that are removed, and that receive pods: those stay. Those that receive pods of nodes that have
	// drifted are firm: they stay even when the search is refined.
	gone, fixed, firm map[*unit]bool
	steps             []*step
	families          *families
	// value is the sum of the steps'.
	value int64
	// made are commands that take no trial: of emptiness and of static pools.
	made []*decision.Command
	// unrefined are the commands that there were before the search was refined, where places depend on the order.
	unrefined []*decision.Command
	// later are units whose commands have no place in the order of the plan, frail those whose commands a wave has lost: see
	// Global.Robustness.
	later map[*unit]bool
	frail map[*unit]*decision.Block
	// why keeps units from being consolidated, by name.
	why map[string]*decision.Block
}

// mode is how a search looks at groups at present.
type mode struct {
	// partly says that only part of the fleet is looked at: see again.
	partly bool
	// refining says that new nodes are among the units.
	refining bool
	// lap numbers the times that a way was gone while refining.
	lap int
	// strict shares out what may be spent by prices alone, as refining does at first.
	strict bool
	// ungrown keeps pods from new nodes that others have opened.
	ungrown bool
	// accepting says that what is tried is worth every effort.
	accepting bool
}

// tries is what a search has tried, and how much more it may.
type tries struct {
	// work is how many what-ifs were made, most how many may be.
	work, most int
	// changed is how often nodes have received pods while refining, or 1 for new ones that were opened then; tried are groups that
	// came to nothing as they were: see news.
	changed map[identity]int
	tried   map[uint64]bool
	// vain are attempts that came to nothing since the last step, where nodes are few; released is how many steps there were when
	// nodes were last freed again.
	vain     vainAttempts
	released int
	// withheld says that mode.strict may have kept the group that was tried last from being consolidated.
	withheld bool
	// anyCost is what launchAny's nodes cost, nano-USD per hour.
	anyCost int64
}

// way is how a search goes about it.
type way struct {
	// theta is the price put on room that pods take on nodes there are, in thousandths of what the pods are worth: with 0
	// dear nodes go first, with 1000 those whose pods are worth least compared with their price.
	theta int64
	// salt draws other groups.
	salt uint64
	// rebuild tries to exchange groups of nodes for new ones before room on the others is used.
	rebuild bool
	// afresh begins with groups of nodes that are exchanged for what provisioning would launch.
	afresh bool
	// merged begins with as many nodes as one new one can take the pods of.
	merged bool
	// subsets tries all sets of a few nodes, and begins with the best.
	subsets bool
	// prepare is done before anything is consolidated; nil for nothing.
	prepare func(context.Context, *search) error
}

// ways are tried for each plan, and the best kept.
func ways() []way {
	return []way{{theta: 1000, rebuild: true}, {theta: 600}, {theta: 0}, {theta: 1000}}
}

// searchAll goes all ways and returns the best: the one that is worth most, of equals the first.
func (g *ground) searchAll(ctx context.Context) (*search, error) {
	list := ways()
	if g.thorough() {
		began, merged := list[len(list)-1], list[len(list)-1]
		began.afresh, merged.merged = true, true
		list = append(list, began, merged)
	}
	if len(g.units) <= smallFleet {
		list = append([]way{{theta: 1000, subsets: true}}, list...)
	}
	done, errs := make([]*search, len(list)), make([]error, len(list))
	var next atomic.Int32
	var all sync.WaitGroup
	for range min(g.Parallelism, len(list)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				done[i], errs[i] = g.search(ctx, list[i])
			}
		})
	}
	all.Wait()
	var best *search
	for i, s := range done {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if best == nil || s.better(best) {
			best = s
		}
	}
	return g.withinBudgets(ctx, best)
}

// thorough says that all is tried that may save more, since there is time for it. Commands of many nodes, and of nodes that are kept to
// one zone, are seldom settled by the checks, so that plans with checks are made of usual ones.
func (g *ground) thorough() bool { return len(g.units) <= thoroughFleet && g.Checks == 0 }

// search goes one way to its end.
func (g *ground) search(ctx context.Context, w way) (*search, error) {
	s, err := g.newSearch(ctx, w)
	if err == nil {
		err = s.run(ctx)
	}
	return s, err
}

func (s *search) better(other *search) bool {
	pods := func(s *search) int {
		n := 0
		for _, st := range s.steps {
			n += st.pods
		}
		return n
	}
	return cmp.Or(cmp.Compare(s.value, other.value), cmp.Compare(pods(other), pods(s))) > 0
}

func (g *ground) newSearch(ctx context.Context, w way) (*search, error) {
	p, err := g.Reference().begin(ctx, g.fleet)
	if err != nil {
		return nil, err
	}
	p.oneZone = g.thorough()
	for _, m := range decision.Methods() {
		p.Blocks[m] = map[string]*decision.Block{}
	}
	t, err := g.trial(ctx)
	if err != nil {
		return nil, err
	}
	return &search{
		ground: g, way: w, pass: p, trial: t, start: t.Mark(), live: g.units,
		decided: decided{
			gone: map[*unit]bool{}, fixed: map[*unit]bool{}, firm: map[*unit]bool{}, families: newFamilies(),
			later: map[*unit]bool{}, frail: map[*unit]*decision.Block{}, why: map[string]*decision.Block{},
		},
		tries: tries{most: g.Work, changed: map[identity]int{}, tried: map[uint64]bool{}},
	}, nil
}

// run is the order of work: what costs nothing first, then what has to go anyway, then what saves.
func (s *search) run(ctx context.Context) error {
	if err := s.removeEmpty(ctx); err != nil {
		return err
	}
	if err := s.removeDrifted(ctx); err != nil {
		return err
	}
	if s.way.prepare != nil {
		if err := s.way.prepare(ctx, s); err != nil {
			return err
		}
	}
	return s.consolidate(ctx)
}

// consolidate is what saves.
func (s *search) consolidate(ctx context.Context) error {
	if s.way.subsets {
		if err := s.bestSubset(ctx); err != nil {
			return err
		}
	}
	if s.way.merged {
		if err := s.mergeMany(ctx); err != nil {
			return err
		}
	}
	if s.way.afresh {
		if err := s.exchangeAfresh(ctx); err != nil {
			return err
		}
	}
	if s.way.rebuild {
		if err := s.rebuild(ctx); err != nil {
			return err
		}
	}
	if err := s.removeSingly(ctx); err != nil {
		return err
	}
	if err := s.replaceSingly(ctx); err != nil {
		return err
	}
	if s.refining && s.many() {
		return nil // what few groups there are left the next plan finds
	}
	return s.exchangeGroups(ctx)
}

// removeEmpty takes nodes from which nobody has to move, and drifted nodes of static pools.
func (s *search) removeEmpty(ctx context.Context) error {
	for _, m := range []decision.Method{decision.MethodEmptiness, decision.MethodStaticDrift} {
		accepted := s.accepted[m]
		if len(accepted) == 0 {
			continue
		}
		commands, err := s.pass.Run(ctx, m, accepted)
		if err != nil {
			return err
		}
		for _, cmd := range commands {
			s.made = append(s.made, cmd)
			for i := range cmd.Members {
				u := s.byName[cmd.Members[i].Node]
				if _, err := s.trial.HideMoving(u.Name, stays); err != nil {
					return err
				}
				s.gone[u] = true
				s.value += s.worthOf(u.price, 0)
			}
		}
	}
	return nil
}

// stays is for nodes whose pods all stay where they are.
func stays(*corev1.Pod) bool { return false }

// free are the units that could still be consolidated, in the order of the way: by what removing one saves, room charged
// at theta, for each unit of disturbance. Those that are due come first.
func (s *search) free() []*unit {
	var out []*unit
	for _, u := range s.live {
		if u.blocked == nil && !s.gone[u] && !s.fixed[u] {
			out = append(out, u)
		}
	}
	s.sort(out)
	return out
}

func (s *search) sort(list []*unit) {
	key := func(u *unit) int64 {
		return int64(float64(u.price-s.worthOn(u)/1000*s.way.theta) / u.Cost)
	}
	rank := func(u *unit) int {
		if u.due {
			return 0
		}
		return 1
	}
	slices.SortFunc(list, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(key(b), key(a)), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Name, b.Name))
	})
}

// removeDrifted takes the nodes that have drifted, the longest first, whatever that costs.
func (s *search) removeDrifted(ctx context.Context) error {
	accepted := slices.Clone(s.accepted[decision.MethodDrift])
	survey.ByDrift(accepted)
	for _, c := range accepted {
		u := s.byName[c.Name]
		if s.gone[u] || s.fixed[u] {
			if s.fixed[u] {
				s.pass.Block(decision.MethodDrift, c, &decision.Block{Code: decision.BlockReceiver})
			}
			continue
		}
		if why := s.pass.Ledger.Blocks(c, decision.ReasonDrifted); why != nil {
			s.pass.Block(decision.MethodDrift, c, why)
			continue
		}
		if why := s.fleet.In.BackOff.Blocks(c.Pool.Key, s.fleet.Now); why != nil {
			s.pass.Block(decision.MethodDrift, c, why)
			continue
		}
		why, err := s.attempt(ctx, decision.MethodDrift, []*unit{u}, useRoom)
		if err != nil {
			return err
		}
		if why != nil {
			s.pass.Block(decision.MethodDrift, c, why)
		}
	}
	return nil
}

// removeSingly takes nodes whose pods all have room elsewhere.
func (s *search) removeSingly(ctx context.Context) error {
	return s.tryEach(ctx, &singly{s.free(), onlyRoom})
}

// replaceSingly takes nodes whose pods, those that find no room elsewhere, cost less on a new one.
func (s *search) replaceSingly(ctx context.Context) error {
	return s.tryEach(ctx, &singly{s.free(), useRoom})
}
