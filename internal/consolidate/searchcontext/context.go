package searchcontext

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/proof"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/consolidate/waves"
	"github.com/drawknife/drawknife/internal/engine/launching"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Settings are the settings of a search that its candidates depend on. disruption.Global explains each setting. All values are used as
// given, so 0 does not stand for a default.
type Settings struct {
	Query                 planning.Query
	CoolDown, ExpireAhead time.Duration
	Times                 waves.Times
}

// Known is the part of an earlier plan's memory that is still valid. The zero value means that nothing is known.
type Known struct {
	// Candidates are the candidates of the earlier plan by name. The map is empty if PodDisruptionBudgets have changed.
	Candidates map[string]*Candidate
	Worth      *valuing.KnownWorth
}

// Context is the common start of all searches of one plan. Pending pods are already placed. So a pending pod never prevents the removal of
// a candidate, whether or not it needs a new node. All data that does not change during planning is computed once, for the context.
type Context struct {
	Settings
	Fleet *survey.Fleet
	Model *model.Model
	// Candidates are the existing nodes that may be removed, in the fleet's order. ByName has them by name.
	Candidates []*Candidate
	ByName     map[string]*Candidate
	// Accepted has, for each method of disruption, the candidates that this method may remove: see Candidate.Refused.
	Accepted map[decision.Method][]*decision.Candidate
	// Worth contains the values of pods.
	Worth *valuing.Worth
	// LowerBounds proves lower bounds on the cost of new nodes.
	LowerBounds *proof.Prover
	// closed are the names of nodes that must not receive pods of removed nodes. initializing are the names of those closed nodes that are
	// not ready yet and have free room.
	closed, initializing []string
	// order lists the names of the nodes that may receive pods, in the order of Rank. The nodes that are most worth keeping come first.
	order []string
	// answers caches the new nodes that any search of this context has found for pods.
	answers *launching.Answers
}

// New makes the search context of the fleet.
func New(ctx context.Context, s Settings, f *survey.Fleet, known Known) (*Context, error) {
	settled, err := reference.Settled(ctx, f, s.Query)
	if err != nil {
		return nil, err
	}
	out := &Context{
		Settings: s, Fleet: f, Model: settled.Model, ByName: make(map[string]*Candidate, len(f.Candidates)), Accepted: map[decision.Method][]*decision.Candidate{},
	}
	if out.Worth, err = valuing.WorthFrom(ctx, out.Model, s.Query, known.Worth); err != nil {
		return nil, err
	}
	out.answers = launching.NewAnswers(out.Model, out.Worth, s.Query)
	out.closed, out.initializing = f.ClosedNodes()
	out.weigh(known.Candidates)
	out.order = out.Rank(func(c *Candidate) int64 { return c.PodWorth })
	out.LowerBounds = proof.NewProver(f.In.View.Snapshot, out.Model, toProve(out.Candidates))
	if len(out.initializing) > 0 { // drop full nodes from initializing, because each what-if would check them; most of these nodes are filled by the pods that they were launched for
		t, err := out.Begin(ctx)
		if err != nil {
			return nil, err
		}
		out.initializing = placing.Of(t.Trial).RoomyAmong(out.initializing)
	}
	return out, nil
}

// weigh makes the candidates, fills their fields, and fills x.Accepted. The parameter known has candidates of an earlier plan by name.
func (x *Context) weigh(known map[string]*Candidate) {
	moved, list := recentOwners(x.Fleet, x.CoolDown), make([]Candidate, len(x.Fleet.Candidates))
	x.Candidates = make([]*Candidate, len(list))
	for i, from := range x.Fleet.Candidates {
		c := &list[i]
		x.fill(c, from, moved, known[from.Name])
		c.Number = i
		x.Candidates[i], x.ByName[c.Name] = c, c
		for k, m := range decision.Methods() {
			if c.Refused[k] == nil {
				x.Accepted[m] = append(x.Accepted[m], from)
			}
		}
	}
	for _, t := range x.Fleet.Ties {
		x.weighTied(t)
	}
}

// weighTied makes all candidates of the tie due if one of them is due, and blocks all of them if one of them is blocked.
func (x *Context) weighTied(t *survey.Tie) {
	group := x.WithTied(x.ByName[t.Members[0].Name])
	due := AnyDue(group)
	for _, c := range group {
		if due {
			c.Due, c.Blocked = true, c.Refused[survey.Consolidating]
		}
	}
	at := slices.IndexFunc(group, func(c *Candidate) bool { return c.Blocked != nil })
	if at < 0 {
		return
	}
	for _, c := range group {
		if c.Blocked == nil {
			c.Blocked = t.BlockBy(c.Candidate, group[at].Name, group[at].Blocked)
		}
	}
}

// fill sets the fields of the candidate. The parameter was is the same candidate in an earlier plan with the same PodDisruptionBudgets, or
// nil if no such plan is known.
func (x *Context) fill(c *Candidate, from *decision.Candidate, moved map[types.UID]time.Time, was *Candidate) {
	*c = Candidate{Candidate: from, Tie: x.Fleet.TieOf(from.Name), NanoPrice: money.NanoUSD(from.Price), PodWorth: money.NanoUSD(x.Worth.Node(from.Name)), Refused: x.Fleet.Refuses(from)}
	c.Blocked = c.Refused[survey.Consolidating]
	if was != nil && was.Zone == c.Zone && was.CapacityType == c.CapacityType && was.Pool.Key == c.Pool.Key && was.Price == c.Price {
		c.Likeness = was.Likeness
	} else {
		c.Likeness = LikenessOf(from)
	}
	c.Drifts = c.Refused[survey.Drifting] == nil
	c.Due = c.Drifts || x.expiresSoon(from)
	if c.Blocked == nil && !c.Due {
		c.Blocked = x.coolsDown(from, moved)
	}
	if was != nil && !was.Passing && was.Pool.Key == c.Pool.Key && slices.Equal(was.State.Pods, c.State.Pods) {
		c.PodMoves = was.PodMoves
	} else {
		c.PodMoves = x.movesOf(from)
	}
}

// recentOwners returns the owners of pods that were moved recently. Recently means less than the duration of the parameter within before
// now. For each owner it returns the time at which this duration will have passed.
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

// expiresSoon reports whether the candidate counts as due because of its expiry.
func (x *Context) expiresSoon(c *decision.Candidate) bool {
	due, expires := decision.ExpiryOf(c.State.Claim)
	return expires && due.At.Sub(x.Fleet.Now) <= x.ExpireAhead
}

// coolsDown returns a block if the node is new, or if an owner of one of its pods is in the map moved.
func (x *Context) coolsDown(c *decision.Candidate, moved map[types.UID]time.Time) *decision.Block {
	var until time.Time
	if since, ok := survey.TrueSince(c.State.Claim, v1.ConditionInitialized); ok {
		until = since.Add(x.CoolDown)
	}
	for _, pod := range c.Pods {
		for i := range pod.OwnerReferences {
			if t := moved[pod.OwnerReferences[i].UID]; t.After(until) {
				until = t
			}
		}
	}
	if x.CoolDown == 0 || !until.After(x.Fleet.Now) {
		return nil
	}
	return &decision.Block{Code: decision.BlockCoolDown, Until: until}
}

// ThoroughFleet is the number of candidates up to which a fleet is searched thoroughly.
const ThoroughFleet = 750

// Many reports whether the fleet has too many candidates for a thorough search. It counts all candidates of the context, including those
// that the search has already removed. With 1,000 nodes, a thorough search would increase the savings by one thousandth, and take seven
// times as long as all other work.
func (x *Context) Many() bool { return len(x.Candidates) > ThoroughFleet }
