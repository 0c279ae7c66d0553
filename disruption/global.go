package disruption

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/internal/consolidate/global"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/scheduling"
)

// Defaults of Global, for options that are nil.
const (
	// DefaultPayBack is the time in which a command must earn back its cost.
	DefaultPayBack = 2 * time.Hour
	// DefaultDisruptionPrice is the price of a unit of disruption, USD. It is small, and only prevents moves of pods for almost no saving.
	// With the default pay-back time, moving one pod must save 73 cents a month.
	DefaultDisruptionPrice = 0.002
	// DefaultMinSavingShare is the minimum saving of a command as a share of its nodes' cost.
	DefaultMinSavingShare = 0.15
	// DefaultCoolDown is how long consolidation does not disrupt new nodes, and workloads whose pods were moved.
	DefaultCoolDown = 10 * time.Minute
	// DefaultMaxMembers and DefaultMaxBins limit the nodes that one command removes and launches.
	DefaultMaxMembers = 16
	DefaultMaxBins    = 32
	// DefaultWork is the maximum number of what-ifs of a plan.
	DefaultWork = 60_000
	// DefaultLaunchTime is the assumed time until a new node is ready. DefaultReadyTime is the assumed time until a pod is ready on its new
	// node.
	DefaultLaunchTime = 3 * time.Minute
	DefaultReadyTime  = time.Minute
	// DefaultDrainLimit is the maximum estimated duration of a drain.
	DefaultDrainLimit = time.Hour
)

// Global plans for the whole fleet at once: which nodes are removed, where their pods go, and which nodes are launched instead. One
// plan consists of many commands, chosen for the lowest cost that is worth the disruption.
//
// The zero value is ready to use: an option that is nil has its default, and an option that is 0 is used as 0. Plan and the other methods
// refuse options outside their range with an *option.Error. A Global is safe for concurrent use while its fields are not changed. The same
// fleet and options give the same plan, byte for byte. Global is a search and does not promise an optimum. It searches fleets of up to a
// dozen consolidatable nodes so thoroughly that they rarely end up more expensive than with Reference.
type Global struct {
	// Query says how to place pods; use the same Query as for provisioning.
	Query scheduling.Query
	// PayBack is the time in which a command must earn back its cost. The cost of a command is the price of its new nodes while the old
	// nodes still run, plus its disruption at DisruptionPrice. PayBack must be at least 0; with 0, only the other thresholds apply.
	PayBack *time.Duration
	// MinSaving is the minimum saving of a command, USD per hour; at least 0. MinSavingShare is the minimum saving as a share of its nodes'
	// cost, from 0 to below 1. A command need not save anything on nodes that are due.
	MinSaving      float64
	MinSavingShare *float64
	// DisruptionPrice is the price of a unit of disruption in USD; at least 0. One unit is moving an ordinary pod. The saving of a command
	// must pay this price within PayBack. If PayBack is 0, this condition does not apply.
	DisruptionPrice *float64
	// CoolDown is how long consolidation does not disrupt a node after its launch. It is also how long a node is not disrupted after a
	// command or a forced removal has moved a pod of one of its workloads (see Disruption.Owners). At least 0.
	CoolDown *time.Duration
	// SpotToSpot allows replacing spot nodes by spot nodes. SpotToSpotTypes is the minimum number of cheaper types that a replacement of a
	// single spot node must allow; at least 1.
	SpotToSpot      bool
	SpotToSpotTypes *int
	// MaxMembers and MaxBins limit the number of nodes that one command removes and launches; at least 1. The next plans remove and launch
	// the other nodes. If MaxMembers is nil, a command that launches at most one node may remove up to DefaultMaxBatch nodes in fleets of
	// up to 750 nodes, like Reference's commands: in this case only one launch can fail.
	MaxMembers, MaxBins *int
	// Work is the maximum number of what-ifs of a plan; at least 1. It is a number and not a time, so that plans do not depend on
	// the speed of the computer.
	Work *int
	// Parallelism is the number of search strategies that run in parallel; at least 1. While the best result is refined, it is the number
	// of groups of nodes that are tried in advance, at most eight. Nil is GOMAXPROCS. Plans do not depend on it.
	Parallelism *int
	// Robustness is the number of random orders in which the pods of each wave are scattered over nodes by kube-scheduler's scores, instead
	// of placing them as planned. Commands are taken out of a wave until each order has a place for all pods; the next plan may contain
	// them again. With 0 nothing is scattered: in the worst case, pods without a place get a new node. The time that this takes is
	// proportional to pods times nodes.
	Robustness int
	// Checks is the number of times that a plan may be checked with provisioning's planner before it is returned. A check removes the nodes
	// of a wave, adds its new nodes, and requires that all pods have places. Further nodes that provisioning asks for become part of the
	// command. If the command no longer saves enough with them, it is left out. Plan.Unsettled lists the commands that were not checked or
	// still fail. With 0, nothing is checked. In a test without checks, whole plans were carried out. Provisioning launched further nodes
	// after none of 2,889 plans for small random fleets, but after all of 15 plans for mixed fleets of 25 nodes. With 64 checks, planning
	// takes 50% longer, and fleets end slightly more expensive, because they have further nodes that only the next plans remove.
	Checks int
	// Seed is the seed of the search for groups of nodes; any number.
	Seed uint64
	// LaunchTime is the assumed time until a new node is ready. ReadyTime is the assumed time until a pod is ready on its new node. Both
	// must be at least 0. A node that is not due stays if PodDisruptionBudgets would make its drain take longer than DrainLimit; 0 means no
	// limit.
	LaunchTime, ReadyTime, DrainLimit *time.Duration
	// ExpireAhead is how long before its expiry a node counts as due, so that its replacement is ready in time; 0 means at expiry.
	// Consolidation replaces the node. If the pool's policy or consolidateAfter prevents that, the node stays until it expires.
	ExpireAhead time.Duration
	// ValidationDelay is the time between planning and Command.NotBefore, in which the cluster may change; at least 0. Nil is
	// DefaultValidationDelay.
	ValidationDelay *time.Duration
}

// options returns the options of the search, with defaults filled in.
func (g *Global) options() (*global.Options, error) {
	o := &global.Options{
		Query: g.Query, PayBack: option.Or(g.PayBack, DefaultPayBack), MinSaving: g.MinSaving,
		MinSavingShare: option.Or(g.MinSavingShare, DefaultMinSavingShare), DisruptionPrice: option.Or(g.DisruptionPrice, DefaultDisruptionPrice),
		CoolDown: option.Or(g.CoolDown, DefaultCoolDown), SpotToSpot: g.SpotToSpot, SpotToSpotTypes: option.Or(g.SpotToSpotTypes, DefaultSpotToSpotTypes),
		MaxMembers: option.Or(g.MaxMembers, DefaultMaxMembers), MaxMerged: option.Or(g.MaxMembers, DefaultMaxBatch), MaxBins: option.Or(g.MaxBins, DefaultMaxBins),
		Work: option.Or(g.Work, DefaultWork), Robustness: g.Robustness, Checks: g.Checks, Seed: g.Seed,
		LaunchTime: option.Or(g.LaunchTime, DefaultLaunchTime), ReadyTime: option.Or(g.ReadyTime, DefaultReadyTime),
		DrainLimit: option.Or(g.DrainLimit, DefaultDrainLimit), ExpireAhead: g.ExpireAhead, ValidationDelay: option.Or(g.ValidationDelay, DefaultValidationDelay),
	}
	if o.Parallelism = runtime.GOMAXPROCS(0); g.Parallelism != nil {
		o.Parallelism = *g.Parallelism
	}
	return o, errors.Join(
		atLeast("Global.PayBack", o.PayBack, 0), amount("Global.MinSaving", o.MinSaving), share("Global.MinSavingShare", o.MinSavingShare),
		amount("Global.DisruptionPrice", o.DisruptionPrice), atLeast("Global.CoolDown", o.CoolDown, 0), atLeast("Global.SpotToSpotTypes", o.SpotToSpotTypes, 1),
		atLeast("Global.MaxMembers", o.MaxMembers, 1), atLeast("Global.MaxBins", o.MaxBins, 1), atLeast("Global.Work", o.Work, 1), atLeast("Global.Parallelism", o.Parallelism, 1),
		atLeast("Global.Robustness", o.Robustness, 0), atLeast("Global.Checks", o.Checks, 0), atLeast("Global.LaunchTime", o.LaunchTime, 0), atLeast("Global.ReadyTime", o.ReadyTime, 0),
		atLeast("Global.DrainLimit", o.DrainLimit, 0), atLeast("Global.ExpireAhead", o.ExpireAhead, 0), atLeast("Global.ValidationDelay", o.ValidationDelay, 0),
	)
}

// Plan decides about all nodes at once. It runs each search strategy to its end, and refines the cheapest result.
func (g *Global) Plan(ctx context.Context, f *Fleet) (*Plan, error) {
	p := f.seen()
	if p == nil {
		return nil, option.Missing("Global.Plan", "a fleet that Survey made")
	}
	options, err := g.options()
	if err != nil {
		return nil, err
	}
	found, err := options.Plan(ctx, p)
	return (*Plan)(found), err
}

// Restrict validates some of a plan's commands, in the given order, as if no other command of the plan were carried out. It returns the
// commands that are still valid, and for each other command why it is not valid. Any subset of a plan has enough room for its pods, but
// topology spread constraints may depend on the other commands. The fleet may be newer than the plan: a command that was planned to save
// money must still save money at the fleet's prices.
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
	options, err := g.options()
	if err != nil {
		return nil, nil, err
	}
	return replay.Restrict(ctx, options.Reference(), p, commands)
}

// Validate checks a command again in the fleet as it is now, and returns the command to start. Its members must still qualify,
// budgets must allow all of them, each pod must still have its planned place, and new nodes must cost less than the members if they
// did before. Other changes do not matter. An Emptiness command continues with the members that still qualify. Any other command needs all
// of its members. If no command can be started, the error is a *RejectedError.
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

// Memory is the data that a plan of Global keeps for the next plan: its input, its commands, and why each other node stays. A Memory is
// never changed. Pass it to PlanAgain of the same Global with a later Fleet, and keep the Memory that PlanAgain returns instead. A nil or
// zero Memory remembers nothing. You may drop a Memory at any time, and several goroutines may use it. Its size depends on the last fleet
// and plan, not on the number of plans. It contains an entry for each node, the plan, and the objects of the fleet's snapshot, which stay
// in memory. As scheduling.Snapshot requires, objects must not be changed after they were passed in.
type Memory struct {
	memory *global.Memory
}

// PlanAgain plans like Plan, with the memory of an earlier plan, and returns the memory for the next plan. If nothing relevant has changed,
// commands and verdicts are the earlier ones, with the present times and new IDs. After a small change, commands with unchanged nodes are
// kept if they are still valid, worth their cost, and within budgets. The reasons why other nodes stay are also kept. Changed nodes, and
// nodes that depended on them, are examined again. PlanAgain plans everything as Plan does in these cases: after a large change, after a
// change of prices, pools or options, for small fleets, from time to time, and with a nil Memory. Plans with a Memory may differ from plans
// without one, but their value is not notably lower. The same fleet, options and memory give the same plan, byte for byte. The memory
// passed in is not changed. If PlanAgain returns an error, it returns no memory: keep the earlier one.
func (g *Global) PlanAgain(ctx context.Context, fleet *Fleet, m *Memory) (*Plan, *Memory, error) {
	if ctx == nil {
		return nil, nil, option.Missing("Global.PlanAgain", "the context")
	}
	f := fleet.seen()
	if f == nil {
		return nil, nil, option.Missing("Global.PlanAgain", "a fleet that Survey made")
	}
	var before *global.Memory
	if m != nil {
		before = m.memory
	}
	options, err := g.options()
	if err != nil {
		return nil, nil, err
	}
	plan, next, err := options.PlanAgain(ctx, f, before)
	if err != nil {
		return nil, nil, err
	}
	return (*Plan)(plan), &Memory{next}, nil
}
