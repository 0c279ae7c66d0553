package reconcilers

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// commandRun is a command being executed, with the input of its execution. The disruptor's lock guards it.
type commandRun struct {
	execution *disruption.Execution
	// place is the command's position in the order in which commands start, which is the order of the plan.
	place int
	// members are the members by node name, as they were when the command was planned or adopted. Metrics use them.
	members map[string]memberObjects
	// replacements are the requested replacements, at the same indexes as in the command.
	replacements []launchedReplacement
	// tainting contains the error of the last failed attempt to taint a member.
	tainting map[string]error
	// deleted contains the members whose deletion was counted in metrics, by the UID of their NodeClaim.
	deleted map[types.UID]bool
	// asksValidation is true while the command waits for its validation; validation is the result.
	asksValidation bool
	validation     *disruption.Validation
	// approval is the approver's last answer, and askAgain is the time of the next question.
	approval *disruption.Approval
	askAgain time.Time
	// settled is true after the command has started. counted is true after metrics have counted its start, perhaps in an earlier process.
	settled, counted bool
	// undoing is the time when the disruptor first noticed that the command is being undone.
	undoing time.Time
	// noting is the error of the last attempt to store the history.
	noting error
}

// memberObjects are the NodeClaim of a member and its NodePool, which may be nil.
type memberObjects struct {
	claim *v1.NodeClaim
	pool  *v1.NodePool
}

// launchedReplacement is a replacement that was requested.
type launchedReplacement struct {
	claim string
	uid   types.UID
	err   error
	// held is the delay of the replacement by the launch rate limiter; nil if it is not delayed.
	held *disruption.HeldBack
}

func newCommandRun(e *disruption.Execution) *commandRun {
	return &commandRun{
		execution: e, members: map[string]memberObjects{}, replacements: make([]launchedReplacement, len(e.Command().Replacements)),
		tainting: map[string]error{}, deleted: map[types.UID]bool{},
	}
}

// longestStride is the maximum number of consecutive steps of a command before other commands continue.
const longestStride = 5

// carryOut executes commands until ctx ends.
func (d *disruptor) carryOut(ctx context.Context) {
	for ctx.Err() == nil {
		again := d.advance(ctx)
		rest(ctx, d.moved, again)
	}
}

// advance continues every command as far as possible now. It returns when to continue; 0 means that the next change triggers it.
func (d *disruptor) advance(ctx context.Context) time.Duration {
	d.mu.Lock()
	list := d.queue.Executions()
	d.mu.Unlock()
	again := d.saveUnsaved(ctx)
	for _, e := range list {
		if ctx.Err() != nil {
			return 0
		}
		again = sooner(again, d.stride(ctx, e))
	}
	d.told.waiting.Set(float64(approving(list)))
	return again
}

// approving counts the commands that wait for an approver.
func approving(list []*disruption.Execution) int {
	n := 0
	for _, e := range list {
		if e.State() == disruption.StateApproving {
			n++
		}
	}
	return n
}

// stride runs the steps of one command that are possible now, at most longestStride, and returns when to continue.
func (d *disruptor) stride(ctx context.Context, e *disruption.Execution) time.Duration {
	d.mu.Lock()
	run := d.running[e.Command().ID]
	d.mu.Unlock()
	if run == nil {
		return 0
	}
	for range longestStride {
		step, err := d.step(ctx, run)
		if err != nil && ctx.Err() == nil {
			d.log.Warn("cannot complete step of disruption command, retrying", "command", e.Command().ID, "state", e.State(), "error", err)
		}
		if step.State.Final() {
			d.finish(run, step)
			if d.approvals != nil {
				d.approvals.ended(ctx, e.Command().ID, step)
			}
			return 0
		}
		// Handle results that are known at once without a pause: no plan may be made after replacements were created and before the members
		// are marked.
		if err != nil || !seenAtOnce(step.Effects) {
			return step.Again
		}
	}
	return time.Millisecond
}

// seenAtOnce reports whether the next step observes the effects without waiting for the watch.
func seenAtOnce(effects []disruption.Effect) bool {
	for _, effect := range effects {
		switch effect.(type) {
		case disruption.LaunchReplacement, disruption.MarkNode, disruption.UnmarkNode, disruption.NominateNode, disruption.NoteDisruptions:
		default:
			return false
		}
	}
	return len(effects) > 0
}

// step asks the command's execution for its next step, and carries it out. The error is the first failure. Failures that the execution must
// know about are also passed to it.
func (d *disruptor) step(ctx context.Context, run *commandRun) (disruption.Step, error) {
	observed, err := d.observe(ctx, run)
	if err != nil {
		return disruption.Step{State: run.execution.State(), Again: time.Second}, err
	}
	d.mu.Lock()
	for name, member := range observed.Members {
		member.Err = run.tainting[name]
		observed.Members[name] = member
	}
	clear(run.tainting)
	observed.Validation, observed.Approval = run.validation, run.approval
	observed.NoteErr, observed.Executing = run.noting, len(d.queue.Executing())
	step := run.execution.Next(observed, d.now())
	switch step.State {
	case disruption.StateApproving, disruption.StateDelayed, disruption.StateValidating, disruption.StateRecording, disruption.StateTainting, disruption.StateLaunching, disruption.StateUndoing, disruption.StateFailed:
	default:
		if !run.counted {
			run.counted = true
			d.begun(run)
		}
		if !run.settled {
			run.settled = true
			wake(d.changed) // the command has started, so other commands may be planned now
		}
	}
	d.mu.Unlock()
	d.publish(step.Events)
	var errs []error
	for _, effect := range step.Effects {
		if ctx.Err() != nil {
			return step, ctx.Err()
		}
		if err := d.effect(ctx, run, effect); err != nil {
			errs = append(errs, err)
		}
	}
	return step, errors.Join(errs...)
}

// observe returns the state for the command's execution.
func (d *disruptor) observe(ctx context.Context, run *commandRun) (disruption.Observed, error) {
	cmd := run.execution.Command()
	out := disruption.Observed{Members: make(map[string]disruption.MemberState, len(cmd.Members))}
	for i := range cmd.Members {
		m := &cmd.Members[i]
		state := disruption.MemberState{}
		claim, err := claimWith(ctx, d.client, m.Claim, m.UID)
		if err != nil {
			return out, err
		}
		state.Claim = claim
		node := &corev1.Node{}
		switch err := d.client.Get(ctx, types.NamespacedName{Name: m.Node}, node); {
		case err == nil:
			state.Node = node
		case client.IgnoreNotFound(err) != nil:
			return out, err
		}
		if instance := d.state.Node(nameOfMember(m, claim)); instance != nil {
			state.Marked = instance.Marked
		}
		out.Members[m.Node] = state
	}
	for i := range run.replacements {
		state, err := d.observeReplacement(ctx, &run.replacements[i])
		if err != nil {
			return out, err
		}
		out.Replacements = append(out.Replacements, state)
	}
	return out, nil
}

// nameOfMember returns the name of a member's instance in the view: the name of its claim, or, without a claim, the name of its node.
func nameOfMember(m *disruption.Member, claim *v1.NodeClaim) string {
	if claim != nil {
		return v1.QualifiedName(claim)
	}
	return m.Node
}

func (d *disruptor) observeReplacement(ctx context.Context, r *launchedReplacement) (disruption.ReplacementState, error) {
	state := disruption.ReplacementState{Claim: r.claim, Err: r.err, HeldBack: r.held}
	if r.claim == "" {
		return state, nil
	}
	claim := &v1.NodeClaim{}
	switch err := d.client.Get(ctx, qualified(r.claim), claim); {
	case err == nil && claim.UID == r.uid:
		state.Stored = claim
	case client.IgnoreNotFound(err) != nil:
		return state, err
	}
	if instance := d.state.Node(r.claim); instance != nil {
		state.Known = true
		for _, pod := range instance.Pods {
			state.Pods = state.Pods || pods.Reschedulable(pod)
		}
	}
	return state, nil
}

// begun records that a command has started: its replacements were launched and its members are being removed. The caller holds d.mu.
func (d *disruptor) begun(run *commandRun) {
	cmd := run.execution.Command()
	d.told.take(cmd.StartedSamples())
	d.log.Info("started disruption command", "command", cmd.ID, "description", cmd.String())
}

// priceOf returns the price in USD per hour of an instance with the labels, from its pool's catalog, or 0 if it is not known.
func (d *disruptor) priceOf(pool v1.PoolKey, labels map[string]string) float64 {
	for _, t := range d.planner.typesOf(pool) {
		if t.Name != labels[corev1.LabelInstanceTypeStable] {
			continue
		}
		for _, o := range t.Offerings {
			if o.Zone() == labels[corev1.LabelTopologyZone] && o.CapacityType() == labels[v1.CapacityTypeLabelKey] {
				return o.Price
			}
		}
	}
	return 0
}

// innocent reports whether the reason why a command ended is not a problem of its nodes' pools.
func innocent(err error) bool {
	for _, reason := range []error{disruption.ErrRefused, disruption.ErrVoid, disruption.ErrHeldBack, disruption.ErrInterrupted, disruption.ErrMemberGone} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// finish records the outcome of a command.
func (d *disruptor) finish(run *commandRun, step disruption.Step) {
	cmd := run.execution.Command()
	d.mu.Lock()
	delete(d.running, cmd.ID)
	d.mu.Unlock()
	if step.State == disruption.StateDone {
		d.log.Info("completed disruption command", "command", cmd.ID, "description", cmd.String())
		d.report.completed(cmd)
		d.refusals.Succeeded(cmd)
	} else if errors.Is(step.Err, disruption.ErrRefused) {
		d.refusals.Note(step.Err, d.now())
		d.log.Info("dropped disruption command that was refused", "command", cmd.ID, "description", cmd.String(), "reason", step.Err)
	} else if !errors.Is(step.Err, disruption.ErrVoid) {
		d.log.Warn("cannot complete disruption command, undid it", "command", cmd.ID, "description", cmd.String(), "error", step.Err)
		d.told.take(run.execution.FailureSamples())
		d.setBack(cmd, step.Err)
	}
	if cmd.Reason == disruption.ReasonDrifted && !innocent(step.Err) {
		for i := range cmd.Members {
			if step.State == disruption.StateDone {
				d.backOff.Succeeded(cmd.Members[i].Pool)
			} else if pool := cmd.Members[i].Pool; d.backOff.Failed(pool, d.now()) {
				d.told.counters[disruption.MetricBackOffFailures].WithLabelValues(pool.String()).Inc()
			}
		}
	}
	d.forget()
}
