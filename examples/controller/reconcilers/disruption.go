package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// disruptor decides which nodes to remove, and executes each command. Only one plan or validation runs at a time; commands are executed at
// the same time.
type disruptor struct {
	*actor
	// reader reads from the API server, because the cache may not show yet what the previous process wrote.
	reader  client.Reader
	state   *cluster.State
	planner *planner
	options *DisruptionOptions
	told    *disruptionMetrics
	report  disruptionReport
	// nomination is the time for which nodes that are planned to receive pods are not disrupted.
	nomination time.Duration

	// changed triggers planning; moved triggers the execution of commands.
	changed, moved chan struct{}
	// hosts are the nodes that the last pass treated as not empty, because placeholders or ProvisioningRequests need their capacity.
	hosts map[string]bool
	// stale is true after a change that the view's revision does not show.
	stale   atomic.Bool
	backOff *disruption.BackOff
	// approvals show commands as ConfigMaps; nil if no approval is required.
	approvals *approvals
	// former deletes the ConfigMaps of an earlier configuration; it is nil once they are deleted.
	former *formerApprovals
	// refusals contains commands that were refused or failed recently, and pools whose nodes must not be disrupted.
	refusals *disruption.Refusals

	mu      sync.Mutex
	queue   disruption.Queue
	running map[string]*commandRun
	// begins is the number of started commands.
	begins  int
	history disruption.History
	// unsaved are pools with disruptions in the history that are not stored yet.
	unsaved map[v1.PoolKey]unsavedHistory

	// Only the goroutine that plans uses the following fields.
	model     *scheduling.Model
	idle      disruption.Idle
	pace      disruption.Pace
	unreached []v1.PoolKey
	waves     waves
	// memory is passed from one plan to the next. It is nil if the planner has no memory.
	memory *disruption.Memory
	// adopted is true after the search for commands of earlier processes. looked is the time of the first attempt.
	adopted bool
	looked  time.Time
}

func newDisruptor(o *Options, act *actor, reader client.Reader, state *cluster.State, p *planner, told *disruptionMetrics) *disruptor {
	d := &disruptor{
		actor: act, reader: reader, state: state, planner: p, options: &o.Disruption, told: told, nomination: o.nomination(),
		changed: make(chan struct{}, 1), moved: make(chan struct{}, 1), running: map[string]*commandRun{}, unsaved: map[v1.PoolKey]unsavedHistory{},
		backOff: disruption.NewBackOff(uint64(o.now().UnixNano())), refusals: disruption.NewRefusals(),
	}
	if o.Disruption.ApprovalNamespace != "" {
		d.approvals = newApprovals(act, reader, d.options, told.approval)
		o.Disruption.Approver = d.approvals
	}
	if former := o.Disruption.FormerApprovalNamespace; former != "" && former != o.Disruption.ApprovalNamespace {
		d.former = &formerApprovals{client: act.client, reader: reader, namespace: former, log: act.log}
	}
	if o.Disruption.Approver != nil {
		d.queue.Approval = &o.Disruption.Approval
	}
	return d
}

// NeedLeaderElection returns true: only one process disrupts.
func (d *disruptor) NeedLeaderElection() bool { return true }

// Start plans and executes commands until ctx ends.
func (d *disruptor) Start(ctx context.Context) error {
	if !d.planner.untilSynced(ctx) {
		return nil
	}
	var group sync.WaitGroup
	group.Go(func() { d.carryOut(ctx) })
	defer group.Wait()
	for ctx.Err() == nil {
		d.rest(ctx, d.round(ctx))
	}
	return nil
}

// round runs one pass, and returns how long to wait after it.
func (d *disruptor) round(ctx context.Context) time.Duration {
	began := d.now()
	outcome, again, err := d.pass(ctx)
	switch {
	case ctx.Err() != nil:
		return 0
	case apierrors.IsConflict(err):
		outcome = disruption.PassConflict
	case err != nil:
		outcome = disruption.PassFailed
	}
	wait := d.pace.After(outcome)
	if wait == disruption.PlanEvery {
		wait = *d.options.Period
	}
	if err != nil && outcome == disruption.PassFailed {
		d.log.Error("cannot plan disruption, retrying", "retryAfter", wait, "error", err)
	}
	if !again.IsZero() {
		wait = min(wait, max(0, again.Sub(began)))
	}
	return wait
}

// leastPause is the shortest pause between two passes, even if there are many changes.
const leastPause = 500 * time.Millisecond

// rest waits for the given time, or until something triggers planning.
func (d *disruptor) rest(ctx context.Context, wait time.Duration) {
	if rest(ctx, nil, leastPause) {
		rest(ctx, d.changed, max(1, wait-leastPause)) // a wait of 0 would last forever
	}
}

// pass validates commands that wait for validation. If no command is about to start, it cleans up and plans. It returns the time at which
// another plan may have another result, if that is known. It makes no plan while commands are about to start: their nodes must not get
// pods, and no object shows this before the command has started.
func (d *disruptor) pass(ctx context.Context) (outcome disruption.PassOutcome, again time.Time, err error) {
	switch adopted, err := d.adopt(ctx); {
	case err != nil:
		return disruption.PassFailed, again, err
	case !adopted:
		return disruption.PassFruitless, d.now().Add(adoptEvery), nil
	}
	if err := d.validate(ctx); err != nil {
		return disruption.PassFailed, again, err
	}
	if d.approvals != nil {
		if err := d.approvals.sweep(ctx); err != nil {
			d.log.Warn("cannot update ConfigMaps of commands, retrying later", "error", err)
		}
	}
	if d.former != nil && d.former.removed(ctx, d.now()) {
		d.former = nil
	}
	if d.beginning() {
		return disruption.PassFruitless, again, nil
	}
	now := d.now()
	for len(d.waves.next) > 0 {
		if d.waveUnderWay(now) {
			return disruption.PassFruitless, now.Add(waveEvery), nil
		}
		if begun, err := d.nextWave(ctx, now); err != nil || begun {
			return passOutcome(err), again, err
		}
	}
	view, err := d.planner.view(ctx, now)
	if err != nil {
		return disruption.PassFailed, again, err
	}
	if err := d.cleanUp(ctx, view); err != nil {
		return disruption.PassFailed, again, err
	}
	if d.options.Off {
		return disruption.PassFruitless, again, nil
	}
	if hosts := d.planner.bufferedNodes(); d.stale.Swap(false) || !maps.Equal(hosts, d.hosts) {
		d.hosts = hosts // the view's revision does not show this change
		d.idle.Forget()
	}
	if wait := d.idle.Wait(view.Revision, now); wait > 0 {
		return disruption.PassFruitless, now.Add(wait), nil
	}
	fleet, err := d.survey(view, nil, nil)
	if err != nil {
		return disruption.PassFailed, again, err
	}
	plan, err := d.plan(ctx, fleet)
	if err != nil {
		return disruption.PassFailed, again, err
	}
	d.idle.Note(plan, view.Revision)
	d.unreached = plan.Unreached
	if len(plan.Commands) > 0 {
		d.waves = wavesOf(plan)
		for _, cmd := range d.waves.begin(now) {
			d.add(cmd, fleet)
		}
		outcome = disruption.PassStarted
	}
	return outcome, plan.Again, nil
}

// passOutcome returns the outcome of a pass that started a wave, or failed.
func passOutcome(err error) disruption.PassOutcome {
	if err != nil {
		return disruption.PassFailed
	}
	return disruption.PassStarted
}

// survey examines all nodes. Members of the first commands (those in the queue) are candidates; members of the second count as disrupted.
func (d *disruptor) survey(view *cluster.View, except, also []*disruption.Command) (*disruption.Fleet, error) {
	var err error
	if d.model == nil {
		d.model, err = scheduling.Compile(view.Snapshot, scheduling.WithDeviceMatcher(d.planner.options.DeviceMatcher))
	} else {
		d.model, err = d.model.Update(view.Snapshot)
	}
	if err != nil {
		d.model = nil
		return nil, fmt.Errorf("compiling the cluster: %w", err)
	}
	in := disruption.Input{
		View: view, Model: d.model, Executing: map[string]string{}, Buffered: d.planner.bufferedNodes(), Budgets: d.options.Budgets,
		Unreached: d.unreached, BackOff: d.backOff, Refusals: d.refusals,
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for node, id := range d.queue.Executing() {
		if !slices.ContainsFunc(except, func(cmd *disruption.Command) bool { return cmd.ID == id }) {
			in.Executing[node] = id
		}
	}
	for _, cmd := range also {
		for _, node := range cmd.Nodes() {
			in.Executing[node] = cmd.ID
		}
	}
	in.History = append(in.History, d.history...)
	return disruption.Survey(in)
}

// remembering is a planner that can reuse results of its last plan.
type remembering interface {
	PlanAgain(ctx context.Context, f *disruption.Fleet, m *disruption.Memory) (*disruption.Plan, *disruption.Memory, error)
}

// ask calls the planner, with its memory if it has one.
func (d *disruptor) ask(ctx context.Context, fleet *disruption.Fleet) (*disruption.Plan, error) {
	planner, remembers := d.options.Planner.(remembering)
	if !remembers {
		return d.options.Planner.Plan(ctx, fleet)
	}
	plan, memory, err := planner.PlanAgain(ctx, fleet, d.memory)
	if err == nil {
		d.memory = memory
	}
	return plan, err
}

// plan calls the planner and reports its result.
func (d *disruptor) plan(ctx context.Context, fleet *disruption.Fleet) (*disruption.Plan, error) {
	bounded, cancel := context.WithTimeout(ctx, *d.options.PlanTimeout)
	defer cancel()
	d.backOff.ForgetGone(fleet)
	began := d.now()
	plan, err := d.ask(bounded, fleet)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			d.told.timedOut()
		}
		return nil, err
	}
	d.told.planned(fleet, plan, d.now().Sub(began))
	d.publishPlan(fleet, plan)
	return plan, nil
}

// add starts a command.
func (d *disruptor) add(cmd *disruption.Command, fleet *disruption.Fleet) {
	if d.holdBack(cmd) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	execution, err := d.queue.Add(cmd)
	if err != nil { // the plan considered the commands in progress, so this error is a bug of the planner
		d.log.Error("cannot start disruption command, dropping it", "command", cmd.ID, "description", cmd.String(), "error", err)
		return
	}
	run := newCommandRun(execution)
	d.begins++
	run.place = d.begins
	for _, name := range cmd.Nodes() {
		if c := fleet.Candidate(name); c != nil {
			run.members[name] = memberObjects{c.State.Claim, c.Pool.Object}
		}
	}
	d.running[cmd.ID] = run
	d.log.Info("planned disruption command", "command", cmd.ID, "description", cmd.String(), "method", cmd.Method, "notBefore", cmd.NotBefore)
	wake(d.moved)
}

// beginning reports whether members of a command are about to be removed and no object shows it yet, or whether a command is being undone.
func (d *disruptor) beginning() bool {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, run := range d.running {
		switch state := run.execution.State(); {
		case !state.Unsettled():
		case state != disruption.StateUndoing:
			return true
		case run.undoing.IsZero():
			run.undoing = now
			return true
		case now.Sub(run.undoing) < longestUndo:
			return true
		default:
			d.log.Warn("planning although a disruption command is still being undone", "command", id)
		}
	}
	return false
}

// longestUndo is how long planning waits for a command that is being undone.
const longestUndo = time.Minute

// cleanUp undoes the effects of commands that are no longer executed.
func (d *disruptor) cleanUp(ctx context.Context, view *cluster.View) error {
	d.mu.Lock()
	executing := d.queue.Executing()
	d.mu.Unlock()
	for _, effect := range disruption.CleanUp(d.own(view), executing) {
		d.log.Info("cleaning up after an earlier command", "effect", effect.String())
		if err := d.effect(ctx, nil, effect); err != nil {
			return fmt.Errorf("%s: %w", effect, err)
		}
	}
	return nil
}

// seen handles object changes that the view's revision does not include, or that commands wait for.
func (d *disruptor) seen(before, after client.Object) {
	switch object := after.(type) {
	case *policyv1.PodDisruptionBudget:
		old, _ := before.(*policyv1.PodDisruptionBudget)
		if old == nil || old.Generation != object.Generation || (old.Status.DisruptionsAllowed > 0) != (object.Status.DisruptionsAllowed > 0) {
			d.forget()
		}
	case *corev1.Pod:
		old, _ := before.(*corev1.Pod)
		if old != nil && (old.Annotations[v1.DoNotDisruptAnnotationKey] != object.Annotations[v1.DoNotDisruptAnnotationKey] ||
			!pods.Terminal(old) && pods.Terminal(object)) {
			d.forget()
		}
	case *corev1.Node:
		old, _ := before.(*corev1.Node)
		if old != nil && (old.Annotations[v1.DoNotDisruptAnnotationKey] != object.Annotations[v1.DoNotDisruptAnnotationKey] || nodeReady(old) != nodeReady(object)) {
			d.forget()
		}
		d.stir()
	case *v1.NodeClaim:
		old, _ := before.(*v1.NodeClaim)
		for _, kind := range []string{v1.ConditionDrifted, v1.ConditionConsolidatable} {
			if old == nil || isTrue(old, kind) != isTrue(object, kind) {
				d.forget()
			}
		}
		d.stir()
	case *v1.NodePool:
		if old, _ := before.(*v1.NodePool); old == nil || old.Generation != object.Generation {
			d.forget()
		}
	case nil:
		if _, budget := before.(*policyv1.PodDisruptionBudget); budget {
			d.forget()
		}
		d.stir()
	}
}

// forget triggers another plan soon, even if the last plan expected no changes.
func (d *disruptor) forget() {
	d.stale.Store(true)
	wake(d.changed)
}

// stir wakes the goroutine that executes commands, if any commands exist.
func (d *disruptor) stir() {
	d.mu.Lock()
	any := len(d.running) > 0
	d.mu.Unlock()
	if any {
		wake(d.moved)
	}
}

func nodeReady(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// isTrue reads a condition without changing the claim, because other goroutines read it.
func isTrue(claim *v1.NodeClaim, kind string) bool {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == kind {
			return c.Status == "True"
		}
	}
	return false
}
