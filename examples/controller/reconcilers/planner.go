package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/limits"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// planner gathers what calls for machines, plans, and has machines ordered. One pass runs at a time.
type planner struct {
	provider cloudprovider.CloudProvider
	state    *cluster.State
	belief   *provisioning.Belief
	launcher *provisioning.Launcher
	ledger   *limits.Ledger
	buffers  *bufferResolver // nil without the feature
	recorder *recorder
	metrics  *metrics
	options  *Options
	log      *slog.Logger
	now      func() time.Time
	// process tells orders of this process from those of others.
	process string

	triggers triggers
	// Only the goroutine of Start uses these.
	batch   *provisioning.Batch
	model   *scheduling.Model
	passes  int
	waiting int
	retryAt time.Time

	// launching is held while claims are ordered, so that limits are reckoned up once at a time.
	launching sync.Mutex
}

// rePlan is how often pods that go on waiting are planned again though nothing called for it (PRV-030): prices, stock and time
// change unannounced.
const rePlan = 10 * time.Second

// NeedLeaderElection is true: one process plans.
func (p *planner) NeedLeaderElection() bool { return true }

// Start plans until ctx ends.
func (p *planner) Start(ctx context.Context) error {
	if !p.untilSynced(ctx) {
		return nil
	}
	p.triggers.add(startTrigger)
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
			p.log.Error("planning pass failed; it is repeated", "error", err)
		}
		p.batch.End(err == nil, p.now())
	}
	return nil
}

// startTrigger has a new leader plan once whatever waits.
const startTrigger types.UID = "start"

// untilSynced waits for the view of the cluster to be complete; false if ctx ends before.
func (p *planner) untilSynced(ctx context.Context) bool {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	began, told := p.now(), p.now()
	for !p.state.Synced() {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
		if now := p.now(); now.Sub(began) >= 30*time.Second && now.Sub(told) >= 10*time.Second { // PRV-025
			told = now
			p.log.Warn("waiting for the view of the cluster", "for", now.Sub(began).Round(time.Second), "missing", p.state.Missing())
		}
	}
	return true
}

// rest waits until a pass may be due, or something new calls for one.
func (p *planner) rest(ctx context.Context, now time.Time, again time.Duration) {
	if p.waiting > 0 {
		again = sooner(again, rePlan)
	}
	if !p.retryAt.IsZero() {
		again = sooner(again, max(time.Millisecond, p.retryAt.Sub(now)))
	}
	var due <-chan time.Time
	if again > 0 {
		timer := time.NewTimer(again)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-p.triggers.wake:
	case <-due:
		if p.waiting > 0 || !p.retryAt.IsZero() && !p.now().Before(p.retryAt) {
			p.retryAt = time.Time{}
			p.triggers.add(startTrigger)
		}
	}
}

// pass plans once and orders what the plan asks for (PRV-035).
func (p *planner) pass(ctx context.Context) error {
	now := p.now()
	snapshot, set, err := p.look(ctx, now)
	if err != nil {
		return err
	}
	p.recorder.publish(set.Events)
	if len(snapshot.Pods)+len(snapshot.Placeholders) == 0 {
		p.waiting = 0
		p.metrics.passDone(&scheduling.Plan{}, 0)
		return nil
	}
	plan, err := p.solve(ctx, snapshot)
	if err != nil {
		return err
	}
	orders, err := provisioning.Decide(snapshot, plan, provisioning.PassOptions{Claims: nodeclaims.Options{
		MinValues: p.options.Query.MinValues, TerminationGracePeriod: p.gracePeriod(),
	}})
	if err != nil {
		return err
	}
	for _, refused := range orders.Refused {
		p.log.Error("a planned node can't be ordered", "nodepool", refused.Node.Pool, "error", refused.Err)
	}
	for _, n := range orders.Nominations {
		p.state.Nominate(n.Node, n.Until)
	}
	p.recorder.publish(orders.Events)
	outcome := p.launch(ctx, orders.Launches, "provisioned")
	p.waiting = len(orders.Waiting)
	p.buffers.planned(ctx, plan)
	p.metrics.passDone(plan, p.now().Sub(now))
	if len(snapshot.Pods) > 0 {
		p.log.Info("planned", "pods", len(snapshot.Pods), "newNodes", len(plan.NewNodes), "withoutPlace", p.waiting,
			"costPerHour", plan.HourlyCost, "took", p.now().Sub(now).Round(time.Millisecond))
	}
	return p.repeatAfter(outcome)
}

// look is the cluster as a snapshot, with the machines that its pools may have.
func (p *planner) look(ctx context.Context, now time.Time) (*scheduling.Snapshot, *provisioning.PoolSet, error) {
	set, err := provisioning.ResolvePools(ctx, p.provider, p.state.NodePools(), p.belief, now)
	if err != nil {
		return nil, nil, err
	}
	if p.options.Features.NoReservedCapacity {
		withoutReservations(set)
	}
	placeholders, err := p.buffers.placeholders(ctx)
	if err != nil {
		return nil, nil, err
	}
	view := p.state.Snapshot(cluster.Query{Time: now, NodePools: set.NodePools, Catalogs: set.Catalogs, Placeholders: placeholders})
	for _, left := range view.LeftOut {
		p.log.Debug("left out of planning", "object", left.Object, "why", left.String())
	}
	return view.Snapshot, set, nil
}

// withoutReservations closes all offerings of reserved capacity.
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

// solve plans on a model that shares with the last one what has not changed.
func (p *planner) solve(ctx context.Context, snapshot *scheduling.Snapshot) (*scheduling.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, p.options.PassTimeout)
	defer cancel()
	var err error
	if p.model == nil {
		p.model, err = scheduling.Compile(snapshot)
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

// launch orders machines: within the pools' limits and as the governor allows. Claims are in the view of the cluster when it
// returns, so that nobody orders a machine twice for want of having seen the first.
func (p *planner) launch(ctx context.Context, orders []provisioning.Launch, reason string) provisioning.Outcome {
	p.launching.Lock()
	defer p.launching.Unlock()
	if len(orders) == 0 {
		return provisioning.Outcome{}
	}
	if err := p.bringBooksUpToDate(); err != nil {
		p.log.Error("limits can't be reckoned with", "error", err)
	}
	p.passes++
	outcome := p.launcher.Launch(ctx, fmt.Sprintf("%s/%d", p.process, p.passes), orders, p.now())
	for _, launched := range outcome.Launched {
		if launched.Err != nil {
			p.log.Warn("node is not ordered", "nodepool", launched.Launch.Pool, "pods", len(launched.Launch.Pods), "error", launched.Err)
			continue
		}
		claim := launched.Claim
		if err := p.state.Apply(cluster.Assume(claim).At(p.now())); err != nil {
			p.log.Error("a nodeclaim is not taken into the view of the cluster", "nodeclaim", claim.Name, "error", err)
		}
		p.metrics.claimCreated(claim, reason)
		p.log.Info("nodeclaim created", "nodeclaim", claim.Name, "nodepool", launched.Launch.Pool, "pods", len(launched.Launch.Pods),
			"requests", amounts(claim.Spec.Resources.Requests), "pricePerHour", launched.Launch.Price)
	}
	p.recorder.publish(outcome.Events)
	return outcome
}

// amounts are resources as people write them: "cpu=2 memory=4Gi".
func amounts(list corev1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		parts = append(parts, string(name)+"="+q.String())
	}
	return strings.Join(parts, " ")
}

// repeatAfter is an error if orders failed in a way that is worth another try at once. What the governor holds back waits for
// its time.
func (p *planner) repeatAfter(outcome provisioning.Outcome) error {
	var errs []error
	for _, launched := range outcome.Launched {
		switch {
		case launched.Err == nil:
		case !launched.RetryAt.IsZero():
			if p.retryAt.IsZero() || launched.RetryAt.Before(p.retryAt) {
				p.retryAt = launched.RetryAt
			}
		default:
			var exceeded *limits.ExceededError
			if !errors.As(launched.Err, &exceeded) { // planned again when something changes
				errs = append(errs, launched.Err)
			}
		}
	}
	return errors.Join(errs...)
}

// bringBooksUpToDate enters into the ledger what machines the cluster has.
func (p *planner) bringBooksUpToDate() error {
	view := p.state.Snapshot(cluster.Query{Time: p.now()})
	known := map[string]bool{}
	var errs []error
	for _, pool := range p.state.NodePools() {
		errs = append(errs, p.ledger.SetLimits(v1.NewPoolKey(pool.Name), pool.Spec.Limits))
	}
	for i := range view.Machines {
		m := &view.Machines[i]
		if m.Pool.Name == "" || m.Claim == nil {
			continue
		}
		id := string(m.Claim.UID)
		known[id] = true
		phase := limits.Live
		switch {
		case m.Leaving:
			phase = limits.Leaving
		case m.ProviderID == "":
			phase = limits.Launching
		}
		if phase == limits.Launching && len(m.Claim.Status.Capacity) == 0 {
			continue // what it was ordered with stands
		}
		errs = append(errs, p.ledger.Observe(m.Pool, id, phase, capacityOf(m)))
	}
	for _, entry := range p.ledger.Entries() {
		if entry.Phase != limits.Planned && !known[entry.ID] {
			p.ledger.Release(entry.ID)
		}
	}
	return errors.Join(errs...)
}

// capacityOf is what a machine counts with against its pool's limits (PRV-021, PRV-024).
func capacityOf(m *cluster.Machine) corev1.ResourceList {
	out := corev1.ResourceList{}
	if m.Claim != nil {
		for name, q := range m.Claim.Status.Capacity {
			out[name] = q
		}
	}
	if m.Node != nil {
		for name, q := range m.Node.Status.Capacity {
			if have, ok := out[name]; m.Phase == cluster.PhaseInitialized || !ok || have.IsZero() || !q.IsZero() {
				out[name] = q
			}
		}
	}
	return out
}

// triggers gathers, from any goroutine, what calls for a pass.
type triggers struct {
	mu      sync.Mutex
	added   map[types.UID]bool
	removed map[types.UID]bool
	wake    chan struct{}
}

func newTriggers() triggers {
	return triggers{added: map[types.UID]bool{}, removed: map[types.UID]bool{}, wake: make(chan struct{}, 1)}
}

func (t *triggers) add(uid types.UID) {
	t.mu.Lock()
	t.added[uid] = true
	delete(t.removed, uid)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *triggers) forget(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.added, uid)
	t.removed[uid] = true
}

// drain hands everything on to the batch.
func (t *triggers) drain(batch *provisioning.Batch, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uid := range t.removed {
		batch.Forget(uid)
	}
	for uid := range t.added {
		batch.Trigger(uid, now)
	}
	clear(t.added)
	clear(t.removed)
}

// seen looks at a change of the cluster: does it call for a pass (PRV-030)?
func (p *planner) seen(before, after client.Object) {
	switch object := after.(type) {
	case *corev1.Pod:
		old, _ := before.(*corev1.Pod)
		was := old != nil && pods.Provisionable(old)
		switch is := pods.Provisionable(object); {
		case is && !was:
			p.triggers.add(object.UID)
		case was && !is:
			p.triggers.forget(object.UID)
		}
	case *corev1.Node:
		if old, _ := before.(*corev1.Node); leaves(object) && (old == nil || !leaves(old)) {
			p.triggers.add(object.UID)
		}
	case *v1.NodeClaim:
		if old, _ := before.(*v1.NodeClaim); object.DeletionTimestamp != nil && (old == nil || old.DeletionTimestamp == nil) {
			p.triggers.add(object.UID)
		}
	case *v1.NodePool:
		// A pool that has just become ready, or was changed, may have room for pods that wait.
		old, _ := before.(*v1.NodePool)
		if old == nil || old.Generation != object.Generation || !ready(old) && ready(object) {
			p.triggers.add(object.UID)
		}
	case nil:
		if pod, ok := before.(*corev1.Pod); ok {
			p.triggers.forget(pod.UID)
		}
	}
}

// leaves reports whether the node is being emptied: its pods will need places.
func leaves(node *corev1.Node) bool {
	if node.DeletionTimestamp != nil {
		return true
	}
	disrupted := v1.DisruptedTaint()
	for i := range node.Spec.Taints {
		if v1.SameTaint(&node.Spec.Taints[i], &disrupted) {
			return true
		}
	}
	return false
}

func ready(pool *v1.NodePool) bool { return pool.DeepCopy().Conditions().IsTrue(v1.ConditionReady) }
