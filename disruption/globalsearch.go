package disruption

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/scheduling"
)

// step is one accepted removal: what will be a command. Steps never touch each other's nodes: none puts pods on a node
// that another removes, nor on one that another launches. So each is good without the others as far as room goes.
type step struct {
	method  Method
	members []*unit
	// bins are the new nodes with the types that may be launched, in the order in which the trial opened them.
	// planned are the same with all types that would hold their pods.
	bins, planned []scheduling.NewNode
	// saving in nano-USD per hour, and what one step is worth in nano-USD: see search.value.
	saving, value int64
	pods          int
}

// search is one way of looking for a plan. It is not safe for concurrent use.
type search struct {
	*ground
	way   way
	ctx   context.Context
	pass  *pass
	trial *scheduling.Trial
	// gone and fixed are units that are removed, and that receive pods: those stay.
	gone, fixed map[*unit]bool
	// later are units whose commands have no place in the order of the plan.
	later map[*unit]bool
	steps []*step
	// made are commands that take no trial: of emptiness and of static pools.
	made []*Command
	// value is the sum of the steps', work how many what-ifs were made.
	value int64
	work  int
	// launched is what launchAny's nodes cost, nano-USD per hour.
	launched int64
	// accepting tells that what is tried is worth every effort.
	accepting bool
	// why keeps units from being consolidated, by name.
	why map[string]*Block
}

// way is how a search goes about it.
type way struct {
	// theta is the price put on room that pods take on nodes there are, in thousandths of what the pods are worth: with 0
	// dear nodes go first, with 1000 those whose pods are worth least beside their price.
	theta int64
	// rebuild tries to exchange groups of nodes for new ones before room on the others is used.
	rebuild bool
	// subsets tries all sets of a few nodes, and begins with the best.
	subsets bool
}

// ways are tried for each plan, and the best kept.
func ways() []way {
	return []way{{theta: 1000, rebuild: true}, {theta: 600}, {theta: 0}, {theta: 1000}}
}

// searchAll goes all ways and returns the best: the one that is worth most, of equals the first.
func (g *ground) searchAll(ctx context.Context) (*search, error) {
	list := ways()
	if len(g.units) <= smallFleet {
		list = append([]way{{theta: 1000, subsets: true}}, list...)
	}
	done, errs := make([]*search, len(list)), make([]error, len(list))
	var next atomic.Int32
	var all sync.WaitGroup
	for range min(g.parallelism(), len(list)) {
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
	return best, nil
}

// search goes one way to its end.
func (g *ground) search(ctx context.Context, w way) (*search, error) {
	s, err := g.newSearch(ctx, w)
	if err == nil {
		err = s.run()
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
	p, err := g.reference().begin(ctx, g.fleet)
	if err != nil {
		return nil, err
	}
	for _, m := range Methods() {
		_, p.blocks[m] = g.fleet.Eligible(m)
	}
	t, err := g.trial(ctx)
	if err != nil {
		return nil, err
	}
	return &search{ground: g, way: w, ctx: ctx, pass: p, trial: t, gone: map[*unit]bool{}, fixed: map[*unit]bool{}, later: map[*unit]bool{}, why: map[string]*Block{}}, nil
}

// run is the order of work: what costs nothing first, then what has to go anyway, then what saves.
func (s *search) run() error {
	if err := s.removeEmpty(); err != nil {
		return err
	}
	if err := s.removeDrifted(); err != nil {
		return err
	}
	if s.way.subsets {
		if err := s.bestSubset(); err != nil {
			return err
		}
	}
	if s.way.rebuild {
		if err := s.rebuild(); err != nil {
			return err
		}
	}
	if err := s.removeSingly(); err != nil {
		return err
	}
	if err := s.replaceSingly(); err != nil {
		return err
	}
	return s.exchangeGroups()
}

// removeEmpty takes nodes from which nobody has to move, and drifted nodes of static pools.
func (s *search) removeEmpty() error {
	for _, m := range []Method{MethodEmptiness, MethodStaticDrift} {
		accepted, _ := s.fleet.Eligible(m)
		if len(accepted) == 0 {
			continue
		}
		commands, err := s.pass.run(m, accepted)
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

// free are the units that could still be consolidated, in the order of the way: by what removing one saves, room charged
// at theta, for each unit of disturbance. Those that are due come first.
func (s *search) free() []*unit {
	var out []*unit
	for _, u := range s.units {
		if u.blocked == nil && !s.gone[u] && !s.fixed[u] {
			out = append(out, u)
		}
	}
	s.sort(out)
	return out
}

func (s *search) sort(list []*unit) {
	key := func(u *unit) int64 {
		return int64(float64(u.price-u.worth/1000*s.way.theta) / u.Cost)
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
func (s *search) removeDrifted() error {
	accepted, _ := s.fleet.Eligible(MethodDrift)
	byDrift(accepted)
	for _, c := range accepted {
		u := s.byName[c.Name]
		if s.gone[u] || s.fixed[u] {
			if s.fixed[u] {
				s.pass.block(MethodDrift, c, &Block{Code: BlockReceiver})
			}
			continue
		}
		if why := s.pass.ledger.Blocks(c, ReasonDrifted); why != nil {
			s.pass.block(MethodDrift, c, why)
			continue
		}
		if why := s.fleet.in.BackOff.Blocks(c.Pool.Key, s.fleet.now); why != nil {
			s.pass.block(MethodDrift, c, why)
			continue
		}
		why, err := s.attempt(MethodDrift, []*unit{u}, useRoom)
		if err != nil {
			return err
		}
		if why != nil {
			s.pass.block(MethodDrift, c, why)
		}
	}
	return nil
}

// removeSingly takes nodes whose pods all have room elsewhere.
func (s *search) removeSingly() error {
	for _, u := range s.free() {
		if s.gone[u] || s.fixed[u] {
			continue
		}
		if err := s.tryGroup([]*unit{u}, onlyRoom); err != nil {
			return err
		}
	}
	return nil
}

// replaceSingly takes nodes whose pods, those that find no room elsewhere, cost less on a new one.
func (s *search) replaceSingly() error {
	for _, u := range s.free() {
		if s.gone[u] || s.fixed[u] {
			continue
		}
		if err := s.tryGroup([]*unit{u}, useRoom); err != nil {
			return err
		}
	}
	return nil
}

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

// maxNamed is how many pods without a place a block names.
const maxNamed = 5

// stays is for nodes whose pods all stay where they are.
func stays(*corev1.Pod) bool { return false }

// unlimited is more than anything costs.
const unlimited = int64(1) << 60

// launch finds new nodes for the pods that wait: one for all of them, or several.
func (s *search) launch(where places, most int64) (*Block, error) {
	if where == onlyRoom {
		return &Block{Code: BlockUnschedulable, Pods: s.trial.Waiting(maxNamed)}, nil
	}
	if floor := nanoUSD(s.worth.Waiting(s.trial)); floor >= most {
		return &Block{Code: BlockNotCheaper, Price: usd(most), Floor: usd(floor)}, nil
	}
	if len(s.units) <= smallFleet && (where == onlyNew || s.accepting) {
		return s.launchBest(most)
	}
	below, mark := usd(most), s.trial.Mark()
	one, joint := s.trial.Launch(s.Query, below)
	if joint && where != onlyNew && !s.way.subsets {
		return nil, nil
	}
	if joint {
		below = one
		if err := s.trial.Rollback(mark); err != nil {
			return nil, err
		}
	}
	if _, some := s.trial.LaunchSome(s.Query, s.worth, s.maxBins(), below); some {
		return nil, nil
	}
	if joint {
		s.trial.Launch(s.Query, usd(most))
		return nil, nil
	}
	if most < unlimited && (len(s.units) > smallFleet || s.way.subsets) && s.trial.Plain(s.Query) {
		return &Block{Code: BlockNotCheaper, Price: usd(most)}, nil
	}
	return s.launchAny(most)
}

// launchBest goes all ways to launch new nodes, and then the cheapest once more.
func (s *search) launchBest(most int64) (*Block, error) {
	mark, best, cheapest := s.trial.Mark(), -1, most
	ways := []func() (int64, *Block, error){
		func() (int64, *Block, error) {
			if price, ok := s.trial.Launch(s.Query, usd(most)); ok {
				return nanoUSD(price), nil, nil
			}
			return 0, &Block{Code: BlockNotCheaper, Price: usd(most)}, nil
		},
		func() (int64, *Block, error) {
			if price, ok := s.trial.LaunchSome(s.Query, s.worth, s.maxBins(), usd(most)); ok {
				return nanoUSD(price), nil, nil
			}
			return 0, &Block{Code: BlockNotCheaper, Price: usd(most)}, nil
		},
		func() (int64, *Block, error) {
			why, err := s.launchAny(most)
			return s.launched, why, err
		},
	}
	var first *Block
	for i, try := range ways {
		price, why, err := try()
		if err != nil {
			return nil, err
		}
		if why == nil && price < cheapest {
			best, cheapest = i, price
		}
		if first == nil {
			first = why
		}
		if err := s.trial.Rollback(mark); err != nil {
			return nil, err
		}
	}
	if best < 0 {
		return cmp.Or(first, &Block{Code: BlockNotCheaper, Price: usd(most)}), nil
	}
	_, why, err := ways[best]()
	return why, err
}

// smallFleet is how many candidates are few enough to go all ways for each.
const smallFleet = 12

// launchAny finds new nodes in all ways there are, which takes long.
func (s *search) launchAny(most int64) (*Block, error) {
	s.work += placeWork
	out, err := s.trial.PlaceNew(s.ctx, s.Query)
	s.launched = nanoUSD(out.NewCost)
	switch {
	case err != nil:
		return nil, err
	case out.Unplaced > 0:
		return &Block{Code: BlockUnschedulable, Pods: s.trial.Waiting(maxNamed)}, nil
	case nanoUSD(out.NewCost) >= most:
		return &Block{Code: BlockNotCheaper, Price: usd(most), Floor: out.NewCost}, nil
	}
	return nil, nil
}

// placeWork is how many what-ifs a full placement counts for.
const placeWork = 50

// worthOf is what a saving is worth over the time in which it has to pay back, less what the disturbance costs, nano-USD.
func (s *search) worthOf(saving int64, cost float64) int64 {
	return int64(float64(saving)*s.horizon().Hours()) - int64(s.DisruptionPrice*nanoPerUSD*cost)
}

// horizon is the time over which savings count: the pay-back time, an hour without one.
func (s *search) horizon() time.Duration {
	if d := s.payBack(); d > 0 {
		return d
	}
	return time.Hour
}

// valueOf is what the step is worth: what it saves over the horizon, less what the disturbance and the time cost in which
// new nodes run beside the old ones. Nodes that are due cost no disturbance, since they have to go anyway.
func (s *search) valueOf(st *step) int64 {
	cost, drain := 0.0, time.Duration(0)
	for _, u := range st.members {
		if !u.due {
			cost += u.Cost
		}
		drain = max(drain, u.drain)
	}
	overlap := int64(0)
	for i := range st.bins {
		overlap += nanoUSD(st.bins[i].InstanceTypes[0].Price)
	}
	if s.payBack() == 0 {
		overlap = 0
	}
	return s.worthOf(st.saving, cost) - int64(float64(overlap)*(s.launchTime()+drain).Hours())
}

// pays says why a step is not worth it; nil when it is.
func (s *search) pays(st *step, spent int64) *Block {
	if st.method == MethodDrift || slices.ContainsFunc(st.members, func(u *unit) bool { return u.due }) {
		return nil
	}
	required := max(int64(s.share()*float64(spent)), nanoUSD(s.MinSaving))
	if st.saving <= 0 || st.saving < required {
		// Removing what nobody knows the price of saves that price, whatever it is (DIS-136).
		if spent > 0 || len(st.bins) > 0 {
			return &Block{Code: BlockNoGain, Saving: usd(st.saving), Required: usd(required)}
		}
	}
	if s.payBack() > 0 && st.value < 0 && spent > 0 {
		return &Block{Code: BlockPayBack, Saving: usd(st.saving), Required: usd(st.saving - int64(float64(st.value)/s.horizon().Hours()))}
	}
	batch := make([]*Candidate, len(st.members))
	for i, u := range st.members {
		batch[i] = u.Candidate
	}
	return s.pass.balanced(batch, usd(st.saving))
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
