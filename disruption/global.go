package disruption

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/internal/consolidate/global"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/scheduling"
)

// Numbers of Global, where its options leave them open.
const (
	// DefaultPayBack is how soon a command has to have earned what it costs.
	DefaultPayBack = 2 * time.Hour
	// DefaultDisruptionPrice is what a unit of disturbance has to earn within the pay-back time, USD. It is so little that it only
	// keeps pods from moving for next to nothing: with the default pay-back time a move has to save 73 cents a month.
	DefaultDisruptionPrice = 0.002
	// DefaultMinSavingShare is the least share of what a command's nodes cost that it has to save.
	DefaultMinSavingShare = 0.15
	// DefaultCoolDown is how long a new node is left alone, and pods of an owner of which some had to move.
	DefaultCoolDown = 10 * time.Minute
	// DefaultMaxMembers and DefaultMaxBins bound what one command removes and launches.
	DefaultMaxMembers = 16
	DefaultMaxBins    = 32
	// DefaultWork is how many what-ifs a plan takes at most.
	DefaultWork = 60_000
	// DefaultLaunchTime is how long a new node takes to be ready, DefaultReadyTime how long a pod does once it has a place.
	DefaultLaunchTime = 3 * time.Minute
	DefaultReadyTime  = time.Minute
	// DefaultDrainLimit is how long a drain may be expected to take.
	DefaultDrainLimit = time.Hour
)

// Global plans for the whole fleet at once: which nodes go, where their pods go, and what is launched instead, in one plan
// of many commands, for the least money that is worth the disturbance. In all durations, shares and the price of disruption 0 stands
// for the default and a negative number for none. The zero value is ready, and safe for concurrent use as long as it is not
// changed. The same fleet and options give the same plan, byte for byte. It is a search, and promises no optimum: fleets of up
// to a dozen nodes that can be consolidated are searched so thoroughly that they hardly ever end dearer than by Reference's
// methods, but now and then one does.
type Global struct {
	// Query is how places for pods are looked for: as in provisioning.
	Query scheduling.Query
	// PayBack is the time in which a command has to earn what it costs: its new nodes running alongside the old ones, and the
	// disturbance at DisruptionPrice. With none only the other thresholds count.
	PayBack time.Duration
	// MinSaving is the least that a command has to save, USD per hour; MinSavingShare the least share of what its nodes
	// cost. Nodes that are due need not save anything.
	MinSaving      float64
	MinSavingShare float64
	// DisruptionPrice is what a unit of disturbance, an ordinary pod that has to move, is worth in USD (lambda); a command has to
	// earn it within PayBack. Without PayBack it is no threshold.
	DisruptionPrice float64
	// CoolDown keeps consolidation off nodes that have not been there for so long, and off nodes with pods of an owner of
	// whose pods some had to move within it, be it for a command or since their node was forced out: see
	// Disruption.Owners.
	CoolDown time.Duration
	// SpotToSpot allows replacing spot nodes by spot nodes; SpotToSpotTypes is how many cheaper types that takes for one
	// node, 0 for DefaultSpotToSpotTypes.
	SpotToSpot      bool
	SpotToSpotTypes int
	// MaxMembers and MaxBins bound how many nodes one command removes and launches; 0 is the default. What would take more is
	// left for later plans. By default, in fleets of up to 750 nodes, one command removes up to DefaultMaxBatch nodes, as Reference's do,
	// if it launches one at most: then there is only one launch that could fail.
	MaxMembers, MaxBins int
	// Work bounds the what-ifs of a plan: counted, not timed, so that plans do not depend on how fast they are made; 0 is
	// DefaultWork.
	Work int
	// Parallelism is how many ways of searching are gone side by side, and how many groups of nodes are tried ahead of their turn while the
	// best is refined, at most eight then; 0 is as many as GOMAXPROCS. Plans do not depend on it.
	Parallelism int
	// Robustness is in how many orders, drawn by chance, the pods of each wave are scattered over nodes as kube-scheduler's
	// scores would have it, instead of filling nodes up as planned: a wave loses commands, which the next plan has, until no
	// order leaves a pod without a place. 0, the default, does none of it: what pods find no place gets a new node, at worst.
	// It takes time in proportion to pods times nodes.
	Robustness int
	// Checks bounds how often a plan is put to provisioning's own planner before it is given out: with the nodes of a wave gone and
	// its new ones there, pods must have places without further nodes. Further nodes that it asks for become part of the command,
	// or the command is left out if it is not worth it then. What it still is not content with, or was not asked about, is listed
	// in Plan.Unsettled.
	// 0, the default, asks nothing: without questions about one plan in 500 makes provisioning launch a node; with 64, a plan takes
	// half as much time again, and fleets end slightly dearer, at nodes that the next plans give up again.
	Checks int
	// Seed of the search for groups of nodes. Any number will do.
	Seed uint64
	// LaunchTime, ReadyTime and DrainLimit say how long things take: see their defaults. A node whose pods would take longer
	// than DrainLimit to go, for want of room in their PodDisruptionBudgets, stays unless it is due.
	LaunchTime, ReadyTime, DrainLimit time.Duration
	// ExpireAhead is how long before a node expires it counts as due, so that what comes in its stead is ready in time;
	// 0 for not at all. It is consolidation that replaces it: where a pool's policy or consolidateAfter keeps that from a node,
	// it stays until it expires.
	ExpireAhead time.Duration
	// ValidationDelay is what Command.NotBefore leaves for things to change; 0 is DefaultValidationDelay, negative none.
	ValidationDelay time.Duration
}

// orNone is a duration or share of the options: the default for 0, nothing for less.
func orNone[T cmp.Ordered](v, otherwise T) T {
	var zero T
	switch {
	case v == zero:
		return otherwise
	case v < zero:
		return zero
	}
	return v
}

// options are those that the search goes by: with defaults, and 0 is 0.
func (g *Global) options() *global.Options {
	return &global.Options{
		Query: g.Query, PayBack: orNone(g.PayBack, DefaultPayBack), MinSaving: g.MinSaving,
		MinSavingShare: orNone(g.MinSavingShare, DefaultMinSavingShare), DisruptionPrice: orNone(g.DisruptionPrice, DefaultDisruptionPrice),
		CoolDown: orNone(g.CoolDown, DefaultCoolDown), SpotToSpot: g.SpotToSpot, SpotToSpotTypes: orDefault(g.SpotToSpotTypes, DefaultSpotToSpotTypes),
		MaxMembers: orDefault(g.MaxMembers, DefaultMaxMembers), MaxMerged: orDefault(g.MaxMembers, DefaultMaxBatch), MaxBins: orDefault(g.MaxBins, DefaultMaxBins),
		Work: orDefault(g.Work, DefaultWork), Parallelism: orDefault(g.Parallelism, runtime.GOMAXPROCS(0)), Robustness: g.Robustness,
		Checks: max(g.Checks, 0), Seed: g.Seed, LaunchTime: orNone(g.LaunchTime, DefaultLaunchTime), ReadyTime: orNone(g.ReadyTime, DefaultReadyTime),
		DrainLimit: orNone(g.DrainLimit, DefaultDrainLimit), ExpireAhead: g.ExpireAhead, ValidationDelay: orNone(g.ValidationDelay, DefaultValidationDelay),
	}
}

// Plan decides for all nodes at once. Each way of searching is gone to its end, and the cheapest outcome is kept and refined.
func (g *Global) Plan(ctx context.Context, f *Fleet) (*Plan, error) {
	p := f.seen()
	if p == nil {
		return nil, option.Missing("Global.Plan", "a fleet that Survey made")
	}
	found, err := g.options().Plan(ctx, p)
	return (*Plan)(found), err
}

// Restrict looks at some of a plan's commands again, in the order given, as if only they were carried out: which of them
// are still good, and what is in the way of the others. As far as room goes any subset of a plan is; rules about how pods
// are spread may depend on the rest. The fleet may be a later one than the plan's: a command that was planned to
// save money must save some at the prices of the fleet, too.
func (g *Global) Restrict(ctx context.Context, f *Fleet, commands []*Command) (good []*Command, rejected []*RejectedError, err error) {
	switch {
	case ctx == nil:
		return nil, nil, option.Missing("Global.Restrict", "the context")
	case slices.Contains(commands, nil):
		return nil, nil, option.Missing("Global.Restrict", "a command")
	}
	p := f.seen()
	if p == nil {
		return nil, nil, option.Missing("Global.Restrict", "a fleet that Survey made")
	}
	return replay.Restrict(ctx, g.options().Reference().Options, p, commands)
}

// Validate looks at a command again in the fleet as it is now. Its members must still qualify, budgets suffice for all of
// them, each pod still have the place that was planned for it, and new nodes cost less than members if they did: what else has
// changed does not matter. Emptiness goes on
// with the members that still qualify, all others with all or none. The command that is returned is the one to start. The
// error is a *RejectedError when there is none.
func (g *Global) Validate(ctx context.Context, f *Fleet, cmd *Command) (*Command, error) {
	good, rejected, err := g.Restrict(ctx, f, []*Command{cmd})
	switch {
	case err != nil:
		return nil, err
	case len(rejected) > 0:
		return nil, rejected[0]
	}
	return good[0], nil
}
