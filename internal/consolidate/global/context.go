package global

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/proof"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/launching"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// ground is what all searches of one plan start from: pods that wait anyway have their places, so that neither one that
// has none nor one that gets a new node stands in anybody's way, and everything that does not change while a plan is
// made is worked out once.
type ground struct {
	*Options
	fleet *survey.Fleet
	model *model.Model
	// units are the candidates, by name; ByName finds them.
	units  []*unit
	byName map[string]*unit
	// accepted are the candidates that methods may take: see unit.refused.
	accepted map[decision.Method][]*decision.Candidate
	// closed are nodes that take no pods of others; coming are those of them that are still coming up and have room.
	closed, coming []string
	// worth is what pods are worth; order is the nodes that take pods, those first that are best kept.
	worth *valuing.Worth
	order []string
	// answers are the new nodes that were found for pods, whichever search asked.
	answers *launching.Answers
	// floor proves what new nodes cost at least.
	floor *proof.Prover
}

// unit is a candidate with what a search weighs. It is read-only once made.
type unit struct {
	*decision.Candidate
	// at is its place in ground.units; of no meaning for a new node.
	at int
	// number of it among the units.
	number int
	// price in nano-USD per hour, 0 when it is not known; worth that of its pods.
	price, worth int64
	podMoves
	// refused is what keeps it from each method, budgets and places aside; blocked what keeps it from being consolidated. Nil is nothing.
	refused survey.ByMethod
	blocked *decision.Block
	// due says that it has to go anyway: it has drifted, or expires soon.
	due bool
	// drifts says that drift may take it.
	drifts bool
	// like is what it is bought as, as a number.
	like uint64
	// planned is the new node that it stands for; nil for a node that is there.
	planned *plannedNode
}

// podMoves are what a node's pods do when it goes.
type podMoves struct {
	// moving are the pods that need another place; stays are others that would have to wait for none.
	moving []*corev1.Pod
	stays  map[*corev1.Pod]bool
	// draws are what its pods take of PodDisruptionBudgets, by budget.
	draws []draw
	// drain is how long it takes at least until its pods are gone.
	drain time.Duration
	// passing says that some pod is protected now, and may not be later.
	passing bool
}

// draw is how many pods of a node one PodDisruptionBudget has to let go.
type draw struct {
	budget types.NamespacedName
	pods   int
	// allowed is how many it lets go at a time.
	allowed int
}

// newContext is that of the fleet. What the memory knows of pods that are as they were is not worked out again; nil for no memory.
func (g *Options) newContext(ctx context.Context, f *survey.Fleet, m *Memory) (*ground, error) {
	settled, err := reference.Settled(ctx, f, g.Query)
	if err != nil {
		return nil, err
	}
	out := &ground{Options: g, fleet: f, model: settled.Model, byName: make(map[string]*unit, len(f.Candidates)), accepted: map[decision.Method][]*decision.Candidate{}}
	if out.worth, err = valuing.WorthFrom(ctx, out.model, g.Query, m.knownWorth()); err != nil {
		return nil, err
	}
	out.answers = launching.NewAnswers(out.model, out.worth, g.Query)
	out.closed, out.coming = f.ClosedNodes()
	moved, known := recentOwners(f, g.CoolDown), m.knownUnits(f)
	list := make([]unit, len(f.Candidates))
	out.units = make([]*unit, len(list))
	for i, c := range f.Candidates {
		u := &list[i]
		out.fill(u, c, moved, known[c.Name])
		u.at, u.number = i, i
		out.units[i], out.byName[u.Name] = u, u
		for k, m := range decision.Methods() {
			if u.refused[k] == nil {
				out.accepted[m] = append(out.accepted[m], c)
			}
		}
	}
	out.order = out.rank(func(u *unit) int64 { return u.worth })
	out.floor = proof.NewProver(f.In.View.Snapshot, out.model, nodesToProve(out.units))
	if len(out.coming) > 0 { // most are full of the pods that they come for, and each what-if asks
		t, err := out.trial(ctx)
		if err != nil {
			return nil, err
		}
		out.coming = placing.Of(t.Trial).RoomyAmong(out.coming)
	}
	return out, nil
}

// awaited is the block of pods that wait in the trial and would have a place on nodes that are still coming up; nil where
// there is none. A plan that launched for such pods would launch for them twice, and again after each restart.
func (g *ground) awaited(t *whatIf) *decision.Block {
	names := placing.Of(t.Trial).TakersAmong(g.Query, g.coming, reference.MaxNamed)
	if len(names) == 0 {
		return nil
	}
	return &decision.Block{Code: decision.BlockDependsOnUninitialized, Detail: strings.Join(names, ", ")}
}

// recentOwners are the owners of whose pods some had to move within the time.
func recentOwners(f *survey.Fleet, within time.Duration) map[types.UID]time.Time {
	out := map[types.UID]time.Time{}
	for i := range f.In.History {
		d := &f.In.History[i]
		if f.Now.Sub(d.Time) >= within {
			continue
		}
		for _, uid := range d.Owners {
			if until := d.Time.Add(within); until.After(out[uid]) {
				out[uid] = until
			}
		}
	}
	return out
}

// fill makes it the candidate's unit. was is what it was in an earlier plan, with the same PodDisruptionBudgets; nil if it was none.
func (g *ground) fill(u *unit, c *decision.Candidate, moved map[types.UID]time.Time, was *unit) {
	*u = unit{Candidate: c, price: money.NanoUSD(c.Price), worth: money.NanoUSD(g.worth.Node(c.Name)), refused: g.fleet.Refuses(c)}
	u.blocked = u.refused[survey.Consolidating]
	if was != nil && was.Zone == c.Zone && was.CapacityType == c.CapacityType && was.Pool.Key == c.Pool.Key && was.Price == c.Price {
		u.like = was.like
	} else {
		u.like = likenessOf(c)
	}
	u.drifts = u.refused[survey.Drifting] == nil
	u.due = u.drifts || g.expiresSoon(c)
	if u.blocked == nil && !u.due {
		u.blocked = g.coolsDown(c, moved)
	}
	if was != nil && !was.passing && was.Pool.Key == c.Pool.Key && slices.Equal(was.Machine.Pods, c.Machine.Pods) {
		u.podMoves = was.podMoves
	} else {
		u.podMoves = g.movesOf(c)
	}
}

// movesOf is what the candidate's pods do when it goes.
func (g *ground) movesOf(c *decision.Candidate) (out podMoves) {
	f, marker := g.fleet, v1.MarkerOf(c.Machine.Pool)
	draws := map[types.NamespacedName]*draw{}
	out.passing = slices.ContainsFunc(c.Machine.Pods, func(pod *corev1.Pod) bool { return !pods.Disruptable(pod, f.Now) })
	for _, pod := range c.Machine.Pods {
		if !pods.ReschedulableNowFrom(marker, pod, f.PDBs, f.Now) {
			out.stay(pod)
		}
	}
	for _, pod := range c.Pods { // in an order of their own, whatever the node's is
		if out.stays[pod] {
			continue
		}
		out.moving = append(out.moving, pod)
		for _, b := range f.PDBs.Of(pod) {
			if b.SparesUnready && !pods.Ready(pod) {
				continue
			}
			d := draws[b.Key]
			if d == nil {
				d = &draw{budget: b.Key, allowed: b.Allowed}
				draws[b.Key] = d
			}
			d.pods++
		}
	}
	for _, d := range draws {
		out.draws = append(out.draws, *d)
		out.drain = max(out.drain, g.drainTime(d.pods, d.allowed))
	}
	slices.SortFunc(out.draws, func(a, b draw) int { return compareBudgets(a.budget, b.budget) })
	return out
}

func (p *podMoves) stay(pod *corev1.Pod) {
	if p.stays == nil {
		p.stays = map[*corev1.Pod]bool{}
	}
	p.stays[pod] = true
}

// moves is what the trial asks for each pod of a node that goes.
func (p *podMoves) moves(pod *corev1.Pod) bool { return !p.stays[pod] }

func compareBudgets(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// drainTime is how long it takes at least until pods of one budget are gone: so many at a time, each batch as long as pods
// need to be ready elsewhere. A budget that lets none go now is expected to let one go at a time.
func (g *Options) drainTime(pods, allowed int) time.Duration {
	allowed = max(allowed, 1)
	return time.Duration((pods+allowed-1)/allowed) * g.ReadyTime
}

// expiresSoon reports whether the candidate's end is near enough to act on.
func (g *ground) expiresSoon(c *decision.Candidate) bool {
	due, expires := decision.ExpiryOf(c.Machine.Claim)
	return expires && due.At.Sub(g.fleet.Now) <= g.ExpireAhead
}

// coolsDown is the block of a node that is new, or with pods of an owner some of whose pods had to move recently.
func (g *ground) coolsDown(c *decision.Candidate, moved map[types.UID]time.Time) *decision.Block {
	var until time.Time
	if since, ok := survey.TrueSince(c.Machine.Claim, v1.ConditionInitialized); ok {
		until = since.Add(g.CoolDown)
	}
	for _, pod := range c.Pods {
		for i := range pod.OwnerReferences {
			if t := moved[pod.OwnerReferences[i].UID]; t.After(until) {
				until = t
			}
		}
	}
	if g.CoolDown == 0 || !until.After(g.fleet.Now) {
		return nil
	}
	return &decision.Block{Code: decision.BlockCoolDown, Until: until}
}

// rank orders the nodes that take pods: first those that stay whatever happens, then those best kept, those whose pods
// are worth most of their price, and last those that have to go anyway. Nodes that nobody knows the price of stay.
func (g *ground) rank(worth func(*unit) int64) []string {
	type place struct {
		name  string
		class int
		keep  float64
	}
	list := make([]place, 0, len(g.fleet.In.View.Machines))
	for i := range g.fleet.In.View.Machines {
		m := &g.fleet.In.View.Machines[i]
		p := place{name: m.Name}
		if u := g.byName[m.Name]; u != nil {
			switch {
			case u.due || !survey.Ready(m.Node):
				p.class = 2
			case u.blocked == nil:
				p.class = 1
				if u.price > 0 {
					p.keep = float64(worth(u)) / float64(u.price)
				}
			}
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.keep, a.keep), cmp.Compare(a.name, b.name))
	})
	order := make([]string, len(list))
	for i := range list {
		order[i] = list[i].name
	}
	return order
}

// trial is a fresh one on the ground: waiting pods placed, and nodes closed that take no others.
func (g *ground) trial(ctx context.Context) (*whatIf, error) {
	t := newWhatIf(g.model)
	t.Recall(g.answers)
	if _, err := solving.Of(t.Trial).Place(ctx, planning.PlaceOptions{Query: g.Query, ExistingOnly: true}); err != nil {
		return nil, err
	}
	for _, name := range g.closed {
		if err := t.Close(name); err != nil {
			return nil, err
		}
	}
	if err := t.Rank(g.order); err != nil {
		return nil, err
	}
	t.Commit()
	return t, nil
}

// nodesToProve are the units as proofs see them.
func nodesToProve(units []*unit) []proof.Node {
	out := make([]proof.Node, len(units))
	for i, u := range units {
		out[i] = u.toProve()
	}
	return out
}

// toProve is the unit as proofs see it.
func (u *unit) toProve() proof.Node {
	return proof.Node{Name: u.Name, Pool: u.Pool.Key, Price: u.price, Moving: u.moving, Stays: u.stays}
}
