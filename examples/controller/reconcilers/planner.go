package reconcilers

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/limits"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
	"github.com/drawknife/drawknife/scheduling/requests"
)

// planner collects pods and other reasons to launch instances, makes plans, and orders the planned instances. One pass runs at a time.
type planner struct {
	provider cloudprovider.CloudProvider
	state    *cluster.State
	stock    *provisioning.StockEstimate
	launcher *provisioning.Launcher
	limits   *limits.Tracker
	buffers  *bufferResolver  // nil if the feature is off
	requests *requestAnswerer // nil without the feature
	recorder *recorder
	health   *health
	metrics  *metrics
	lookup   *requirements.Lookup
	options  *Options
	log      *slog.Logger
	now      func() time.Time
	// waitingPods and shown receive the results of passes, for metrics.
	waitingPods *podTimes
	shown       *stateMetrics
	// lastPlan is the plan of the last pass, for the report on the cluster. It is nil before the first pass.
	lastPlan atomic.Pointer[scheduling.Plan]
	// process distinguishes orders of this process from orders of other processes.
	process string

	triggers triggers
	devices  deviceTemplates
	// Only the goroutine of Start uses the following fields.
	batch  *provisioning.Batch
	model  *scheduling.Model
	passes int
	// waiting is the number of pods in the last pass. A pod with a place also counts until it is bound, because kube-scheduler may bind
	// another pod there.
	waiting int
	retryAt time.Time

	// launching is locked while claims are created, so that only one goroutine at a time uses the limits. scaling is locked while the
	// number of nodes of a static pool is compared and changed.
	launching, scaling sync.Mutex
	// buffered are the nodes on which the last pass put placeholders.
	buffered atomic.Pointer[map[string]bool]
}

// rePlan is the interval at which pending pods are planned again without a trigger: changes of prices, of stock and of the time trigger
// nothing.
const rePlan = 10 * time.Second

// NeedLeaderElection returns true: only one process plans.
func (p *planner) NeedLeaderElection() bool { return true }

// Start plans until ctx ends.
func (p *planner) Start(ctx context.Context) error {
	if !p.untilSynced(ctx) {
		return nil
	}
	p.triggers.begin()
	for ctx.Err() == nil {
		now := p.now()
		p.triggers.drain(p.batch, now)
		due, again := p.batch.Next(now)
		if !due {
			p.rest(ctx, now, again)
			continue
		}
		started := p.batch.Begin(now)
		p.metrics.passStarted(len(started))
		err := p.pass(ctx)
		if err != nil && ctx.Err() == nil {
			p.log.Error("cannot complete planning pass, retrying", "error", err)
		}
		p.batch.End(err == nil, p.now())
	}
	return nil
}

// startTrigger makes a new leader plan once for everything that is pending.
const startTrigger types.UID = "start"

// untilSynced waits until the view of the cluster is complete. It returns false if ctx ends earlier.
func (p *planner) untilSynced(ctx context.Context) bool {
	began, told := p.now(), p.now()
	for !p.state.Synced() {
		if !rest(ctx, nil, 100*time.Millisecond) {
			return false
		}
		if now := p.now(); now.Sub(began) >= 30*time.Second && now.Sub(told) >= 10*time.Second {
			told = now
			p.log.Warn("waiting for the cluster state", "duration", now.Sub(began).Round(time.Second), "missing", p.state.Missing())
		}
	}
	return true
}

// rest waits until the next pass may be due, or until there is a new reason for a pass.
func (p *planner) rest(ctx context.Context, now time.Time, again time.Duration) {
	if p.waiting > 0 {
		again = sooner(again, rePlan)
	}
	if !p.retryAt.IsZero() {
		again = sooner(again, max(time.Millisecond, p.retryAt.Sub(now)))
	}
	due := rest(ctx, p.triggers.wake, again)
	if due && (p.waiting > 0 || !p.retryAt.IsZero() && !p.now().Before(p.retryAt)) {
		p.retryAt = time.Time{}
		p.triggers.add(startTrigger)
	}
}

// pass plans once and orders the planned nodes.
func (p *planner) pass(ctx context.Context) error {
	now := p.now()
	p.shown.passBegan(now)
	defer p.shown.passEnded()
	snapshot, set, err := p.look(ctx, now)
	if err != nil {
		return err
	}
	p.recorder.publish(set.Events)
	round, snapshot, err := p.requests.begin(ctx, snapshot)
	if err != nil {
		return err
	}
	if len(snapshot.Pods)+len(snapshot.Placeholders)+len(snapshot.Gangs) == 0 {
		p.waiting = 0
		p.lastPlan.Store(&scheduling.Plan{})
		if err := p.answer(ctx, round, snapshot, &scheduling.Plan{}); err != nil {
			return err
		}
		p.metrics.devicelessShown(snapshot, &scheduling.Plan{})
		p.metrics.passDone(&scheduling.Plan{}, effectiveZones(snapshot, p.lookup), 0)
		return nil
	}
	plan, err := p.solve(ctx, snapshot)
	if err != nil {
		return err
	}
	p.waitingPods.planned(snapshot.Pods, plan)
	p.lastPlan.Store(plan)
	p.keepHosts(buffers.Hosts(snapshot.Placeholders, plan))
	orders, err := provisioning.Decide(snapshot, plan, provisioning.PassOptions{Claims: nodeclaims.Options{
		MinValues: p.options.Query.MinValues, TerminationGracePeriod: p.gracePeriod(),
	}, Nomination: p.options.nomination(), DeviceMatcher: p.options.DeviceMatcher})
	if err != nil {
		return err
	}
	for _, refused := range orders.Refused {
		p.log.Error("cannot build NodeClaim of planned node, launching the other nodes", "nodePool", refused.Node.Pool.String(), "error", refused.Err)
	}
	for _, n := range orders.Nominations {
		p.state.Nominate(n.Node, n.Until)
	}
	if at := p.now().Add(heldRetry); len(orders.Held) > 0 && (p.retryAt.IsZero() || at.Before(p.retryAt)) {
		p.retryAt = at
	}
	p.recorder.publish(orders.Events)
	if len(snapshot.Pods) > 0 {
		p.log.Info("planned pods", "pods", len(snapshot.Pods), "newNodes", len(plan.NewNodes), "withoutPlace", len(orders.Waiting),
			"costPerHour", plan.HourlyCost, "took", p.now().Sub(now).Round(time.Millisecond))
	}
	outcome := p.launch(ctx, orders.Launches, reasonPlanned)
	p.waiting = len(snapshot.Pods)
	p.triesRefused(set, p.now())
	p.buffers.planned(ctx, plan)
	if err := p.answer(ctx, round, snapshot, plan); err != nil {
		return err
	}
	p.metrics.devicelessShown(snapshot, plan)
	p.metrics.passDone(plan, effectiveZones(snapshot, p.lookup), p.now().Sub(now))
	return p.repeatAfter(outcome)
}

// answer answers the requests of the round with the plan for the snapshot of the round.
func (p *planner) answer(ctx context.Context, round *requests.Round, snapshot *scheduling.Snapshot, plan *scheduling.Plan) error {
	hosts, err := p.requests.answer(ctx, round, plan)
	if err != nil {
		return err
	}
	p.keepHosts(buffers.Hosts(snapshot.Placeholders, plan), hosts)
	return nil
}

// keepHosts makes nodes count as not empty if placeholders or requests need their capacity.
func (p *planner) keepHosts(lists ...[]string) {
	hosts := map[string]bool{}
	for _, list := range lists {
		for _, name := range list {
			hosts[name] = true
		}
	}
	p.buffered.Store(&hosts)
}

// look returns a snapshot of the cluster, with the possible instance types of its pools.
func (p *planner) look(ctx context.Context, now time.Time) (*scheduling.Snapshot, *provisioning.PoolSet, error) {
	view, set, err := p.resolve(ctx, now)
	if err != nil {
		return nil, nil, err
	}
	for _, left := range view.LeftOut {
		p.log.Debug("excluded object from planning", "object", left.Object, "reason", left.String())
	}
	return view.Snapshot, set, nil
}

// view returns the view for components that remove instances. In this view, capacity that ProvisioningRequests have booked is used by pods
// that must not be moved.
func (p *planner) view(ctx context.Context, now time.Time) (*cluster.View, error) {
	view, _, err := p.resolve(ctx, now)
	if err != nil {
		return nil, err
	}
	return p.requests.hold(ctx, view)
}

// bufferedNodes returns the nodes on which the last pass put placeholders.
func (p *planner) bufferedNodes() map[string]bool {
	if nodes := p.buffered.Load(); nodes != nil {
		return *nodes
	}
	return nil
}

// typesOf returns the instance types of a pool from the last pass, or nil if the pass did not read them.
func (p *planner) typesOf(key v1.PoolKey) []*cloudprovider.InstanceType {
	set := p.shown.catalogs.Load()
	if set == nil {
		return nil
	}
	for i := range set.NodePools {
		if set.NodePools[i].Key == key {
			return set.Catalogs[set.NodePools[i].Catalog]
		}
	}
	return nil
}

func (p *planner) resolve(ctx context.Context, now time.Time) (*cluster.View, *provisioning.PoolSet, error) {
	set, err := provisioning.ResolvePools(ctx, p.provider, p.state.NodePools(), p.stock, now)
	if err != nil {
		return nil, nil, err
	}
	for _, event := range set.Events {
		p.metrics.costErrors.WithLabelValues(event.Name).Inc()
	}
	if p.options.Features.NoReservedCapacity {
		withoutReservations(set)
	}
	p.closeRefused(set, now)
	placeholders, err := p.buffers.placeholders(ctx)
	if err != nil {
		return nil, nil, err
	}
	view := p.state.Snapshot(cluster.Query{Time: now, NodePools: set.NodePools, Catalogs: set.Catalogs, Placeholders: placeholders})
	p.correctDevices(view, set)
	p.learnFacts(view.Snapshot, set)
	if p.options.CostModel != nil {
		view.Snapshot.CostModel = p.options.CostModel(view.Snapshot)
	}
	p.options.LaunchCosts.Observe(view.Snapshot)
	p.shown.learn(set)
	return withoutLost(view), set, nil
}

// closeRefused marks pools whose NodeClaims the API server refuses as not ready, until the next attempt. So other pools may launch in the
// meantime, and no instance is launched only to be terminated.
func (p *planner) closeRefused(set *provisioning.PoolSet, now time.Time) {
	for i := range set.NodePools {
		pool := &set.NodePools[i]
		if why, _ := p.health.closed(pool.Key, now); why != "" && pool.NotReady == "" {
			pool.NotReady = why
		}
	}
}

// triesRefused schedules the next pass for the time when a pool is tried again.
func (p *planner) triesRefused(set *provisioning.PoolSet, now time.Time) {
	for i := range set.NodePools {
		if why, until := p.health.closed(set.NodePools[i].Key, now); why != "" && (p.retryAt.IsZero() || until.Before(p.retryAt)) {
			p.retryAt = until
		}
	}
}

// withoutReservations removes all reserved offerings from the instance types of set.
func withoutReservations(set *provisioning.PoolSet) {
	for name, types := range set.Catalogs {
		out := make([]*cloudprovider.InstanceType, len(types))
		for i, t := range types {
			copied := *t
			copied.Offerings = nil
			for _, o := range t.Offerings {
				if o.CapacityType() != v1.CapacityTypeReserved {
					copied.Offerings = append(copied.Offerings, o)
				}
			}
			out[i] = &copied
		}
		set.Catalogs[name] = out
	}
}

// solve plans with a model that shares unchanged parts with the previous model.
func (p *planner) solve(ctx context.Context, snapshot *scheduling.Snapshot) (*scheduling.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, *p.options.PassTimeout)
	defer cancel()
	var err error
	if p.model == nil {
		p.model, err = scheduling.Compile(snapshot, scheduling.WithDeviceMatcher(p.options.DeviceMatcher))
	} else {
		p.model, err = p.model.Update(snapshot)
	}
	if err != nil {
		p.model = nil
		return nil, fmt.Errorf("compiling the cluster: %w", err)
	}
	return p.model.Solve(ctx, p.options.Query)
}

func (p *planner) gracePeriod() *v1.Duration {
	period := p.provider.Describe().TerminationGracePeriod
	if period == nil {
		return nil
	}
	d := v1.NewDuration(period.Duration)
	return &d
}
