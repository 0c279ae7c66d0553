package disruption

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Times of commands.
const (
	executionEvery = time.Second
	// A command is undone if it takes longer than timeoutPerEntry times Observed.Executing. This limit is at least timeoutLeast and at most
	// timeoutMost.
	timeoutPerEntry = 80 * time.Millisecond
	timeoutLeast    = 10 * time.Minute
	timeoutMost     = time.Hour
	// heldBackMost is the longest total time that a command that has launched something waits for the launch rate limiter. notingMost is
	// the longest time that a command waits until its history is stored. No other command is planned during these times.
	heldBackMost = 2 * time.Minute
	notingMost   = time.Minute
)

// State is the progress of an execution.
type State string

// The states, in order.
const (
	// StateApproving: the command waits for an Approver, if one is configured.
	StateApproving State = "Approving"
	// StateDelayed: the command waits for Command.NotBefore.
	StateDelayed State = "Delayed"
	// StateValidating: the command waits until the planner has validated it.
	StateValidating State = "Validating"
	// StateRecording: the command is recorded on its members' NodeClaims, before anything else is done.
	StateRecording State = "Recording"
	// StateTainting: the command's members get their taints and conditions.
	StateTainting State = "Tainting"
	// StateLaunching: the command's replacements are created.
	StateLaunching State = "Launching"
	// StateWaiting: the command's replacements start and become ready.
	StateWaiting State = "Waiting"
	// StateDeleting: the NodeClaims of the command's members are deleted.
	StateDeleting State = "Deleting"
	// StateUndoing: the command has failed, and its changes are undone.
	StateUndoing State = "Undoing"
	// StateDone and StateFailed are final.
	StateDone   State = "Done"
	StateFailed State = "Failed"
)

// Final reports whether the execution has ended.
func (s State) Final() bool { return s == StateDone || s == StateFailed }

// Unsettled reports whether it is better not to plan now. In some states the command's members will soon be removed, but no object shows it
// yet. In other states the members are kept after all, but can't take pods yet. A plan made now might launch unnecessary nodes. Such a
// state is short, unless writes keep failing: don't wait forever. While a command waits for an Approver, it is not unsettled, because
// nothing has happened yet and the approval may take long.
func (s State) Unsettled() bool {
	switch s {
	case StateDelayed, StateValidating, StateRecording, StateTainting, StateLaunching, StateUndoing:
		return true
	}
	return false
}

// Observed is the state of the cluster that an execution needs. Next does not change it.
type Observed struct {
	// Members by node. A member that is missing here is gone.
	Members map[string]MemberState
	// Replacements have the same indexes as Command.Replacements. The list may be shorter: the replacements at its end were not requested
	// yet.
	Replacements []ReplacementState
	// Validation is the answer to ValidateCommand; nil if there is no answer yet.
	Validation *Validation
	// Approval is the answer to AskApproval; nil if there is no answer yet.
	Approval *Approval
	// NoteErr is the error of the last NoteDisruptions; nil if it succeeded.
	NoteErr error
	// Executing is the total number of members of all commands under way. If it is higher, each command may take longer.
	Executing int
}

// MemberState is the observed state of a member.
type MemberState struct {
	// Node and Claim are the member's objects. Each is nil if the object is gone.
	Node  *corev1.Node
	Claim *v1.NodeClaim
	// Marked means that the node is marked in memory as being removed.
	Marked bool
	// Err is the error of tainting the node or of setting the claim's condition since the last step, or nil if both succeeded. A missing
	// object is no failure.
	Err error
}

// ReplacementState is the observed state of a replacement. The zero value means that the replacement was not requested yet.
type ReplacementState struct {
	// Claim is the name of the replacement's NodeClaim, once it is created.
	Claim string
	// Stored is the claim in the API, or nil if the API has none. Known means that the claim is in the cluster state in memory. A claim
	// that is only in the API or only in memory is just being added or removed.
	Stored *v1.NodeClaim
	Known  bool
	// Pods means that pods are bound to the replacement's node which would need another place if it is removed.
	Pods bool
	// Err says why the replacement could not be created.
	Err error
	// HeldBack says why the replacement must not be created yet, for instance because of the launch rate limiter; nil if it may be created
	// now.
	HeldBack *HeldBack
}

// HeldBack says why a launch must wait, and until when.
type HeldBack struct {
	// Until is the time until which the launch must wait. Why is the reason.
	Until time.Time
	Why   string
}

// Validation is the planner's answer: the command to start, or why the command is no longer valid.
type Validation struct {
	Command *Command
	Err     error
}

// Causes of failure, for errors.Is.
var (
	// ErrVoid: the command was no longer valid when it was about to start; the *RejectedError is in the chain.
	ErrVoid = errors.New("the command is no longer valid")
	// ErrTainting: members could not be tainted.
	ErrTainting = errors.New("tainting members")
	// ErrLaunch: a replacement could not be created.
	ErrLaunch = errors.New("launching replacements")
	// ErrHistory: the disruptions could not be stored with the NodePools.
	ErrHistory = errors.New("noting disruptions")
	// ErrMemberGone: someone else removed a member before replacements were launched.
	ErrMemberGone = errors.New("someone else is removing a member")
	// ErrReplacementGone: a replacement disappeared before it was ready.
	ErrReplacementGone = errors.New("a replacement disappeared")
	// ErrTimeout: the command took too long.
	ErrTimeout = errors.New("the command took too long")
)

// Execution carries out one command and, if it fails, undoes it. The steps are: wait for approval if there is an Approver, write records,
// taint members, launch replacements, wait until they are ready, delete members. It has no clock and must be used by one goroutine at a
// time. The objects, not the Execution, hold the state: the command is recorded on its members' NodeClaims before its first effect, and on
// its replacements' NodeClaims when they are created. So a new process finds the command on the NodeClaims (Recover) and continues or
// undoes it.
type Execution struct {
	cmd     *Command
	state   State
	started time.Time
	// digest is the digest that the command had when the execution started.
	digest string
	// policy is the approval policy, or nil without an Approver. asked is when the command began to wait for approval. outdated means that
	// the command has waited for approval, so that it is validated even if its method needs no validation.
	policy   *ApprovalPolicy
	asked    time.Time
	outdated bool
	// ready says, for each replacement, whether it has been initialized at some time. Such replacements are not checked again.
	ready []bool
	// dropped contains the members that could not be recorded or tainted. A command with replacements fails in this case; a command without
	// replacements continues with the other members.
	dropped map[string]bool
	// nominated means that the effect that nominates the receivers was returned. noted means that the effect that stores the history was
	// returned.
	nominated, noted bool
	// heldSince is when launches were first held back. notingSince is when storing the history first failed. Each is zero if this did not
	// happen.
	heldSince, notingSince time.Time
	// err says why the command failed.
	err error
}

// Execute starts a command. Nothing is done before the first Next.
func Execute(cmd *Command) *Execution {
	if cmd == nil {
		cmd = &Command{} // a command without nodes, which is done at once
	}
	return &Execution{cmd: cmd, state: StateDelayed, ready: make([]bool, len(cmd.Replacements)), dropped: map[string]bool{}}
}

// ExecuteApproved starts a command that first waits for an Approver's decision.
func ExecuteApproved(cmd *Command, policy ApprovalPolicy) *Execution {
	e := Execute(cmd)
	e.state, e.policy = StateApproving, &policy
	return e
}

// Command is the command being executed: after validation it may have fewer members.
func (e *Execution) Command() *Command { return e.cmd }

// State returns the present state.
func (e *Execution) State() State { return e.state }

// Unready returns the number of replacements that were never initialized, for metrics of failures.
func (e *Execution) Unready() int {
	n := 0
	for _, r := range e.ready {
		if !r {
			n++
		}
	}
	return n
}

// Next returns the effects to carry out now, and when to call it again.
func (e *Execution) Next(o Observed, now time.Time) Step {
	step, sound := Step{}, e.err == nil
	for before := State(""); before != e.state; {
		before = e.state
		e.advance(o, now, &step)
	}
	if sound {
		step.Events = append(step.Events, e.failureEvents()...)
	}
	step.State = e.state
	if e.state == StateFailed {
		step.Err = e.err
	}
	if !e.state.Final() && step.Again == 0 {
		step.Again = executionEvery
	}
	return step
}

// advance does the work of the present state, and changes to the next state when this work is complete.
func (e *Execution) advance(o Observed, now time.Time, step *Step) {
	if e.timedOut(o, now) {
		e.fail(fmt.Errorf("%w: %s", ErrTimeout, now.Sub(e.started)))
	}
	switch e.state {
	case StateApproving:
		e.approve(o, now, step)
	case StateDelayed:
		if wait := e.cmd.NotBefore.Sub(now); wait > 0 {
			step.Again = wait
			return
		}
		e.state = StateValidating
		if !e.outdated && !e.cmd.NotBefore.After(e.cmd.Planned) {
			e.start(now)
		}
	case StateValidating:
		e.validate(o, now, step)
	case StateRecording:
		e.writeDown(o, step)
	case StateTainting:
		e.taint(o, step)
	case StateLaunching:
		e.launch(o, now, step)
	case StateWaiting:
		e.wait(o, step)
	case StateDeleting:
		e.delete(o, step)
	case StateUndoing:
		e.undo(o, step)
	}
}

func (e *Execution) start(now time.Time) {
	e.state, e.started, e.digest = StateRecording, now, e.cmd.Digest()
}

// timedOut reports whether the command has taken too long since e.started.
func (e *Execution) timedOut(o Observed, now time.Time) bool {
	if e.started.IsZero() || e.state == StateUndoing || e.state.Final() {
		return false
	}
	limit := min(max(time.Duration(o.Executing)*timeoutPerEntry, timeoutLeast), timeoutMost)
	return now.Sub(e.started) > limit
}

func (e *Execution) fail(err error) {
	e.state, e.err = StateUndoing, fmt.Errorf("command %s: %w", e.cmd.ID, err)
}

func (e *Execution) validate(o Observed, now time.Time, step *Step) {
	switch {
	case o.Validation == nil, o.Validation.Command == nil && o.Validation.Err == nil:
		step.Effects = append(step.Effects, ValidateCommand{e.cmd})
	case o.Validation.Err != nil:
		e.state, e.err = StateFailed, fmt.Errorf("command %s: %w: %w", e.cmd.ID, ErrVoid, o.Validation.Err)
	default:
		e.cmd = o.Validation.Command
		e.ready = make([]bool, len(e.cmd.Replacements))
		e.start(now)
	}
}

func replacementAt(o Observed, i int) ReplacementState {
	if i < len(o.Replacements) {
		return o.Replacements[i]
	}
	return ReplacementState{}
}

// wait waits until all replacements are initialized. If a replacement's NodeClaim is neither in the API nor in memory, the command fails.
func (e *Execution) wait(o Observed, step *Step) {
	for i := range e.cmd.Replacements {
		r := replacementAt(o, i)
		if e.ready[i] {
			continue
		}
		switch {
		case r.Stored == nil && !r.Known:
			e.fail(fmt.Errorf("%w: nodeclaim %s", ErrReplacementGone, r.Claim))
			return
		case r.Stored == nil:
			continue
		}
		if isReady(r.Stored) {
			e.ready[i] = true
			continue
		}
		why := EventDisruptionLaunching
		if _, launched := survey.TrueSince(r.Stored, v1.ConditionLaunched); launched {
			why = EventDisruptionWaitingReadiness
		}
		step.Events = append(step.Events, Event{
			Kind: decision.KindNodeClaim, Name: r.Claim, UID: r.Stored.UID, Reason: why, Identity: string(e.cmd.Reason), Message: fmt.Sprintf("replaces %s", e.cmd),
		})
	}
	if e.Unready() == 0 {
		e.state = StateDeleting
	}
}

// isReady reports whether the replacement can take pods.
func isReady(claim *v1.NodeClaim) bool {
	_, ready := survey.TrueSince(claim, v1.ConditionInitialized)
	return ready
}

// delete requests the deletion of the claims of all members. It does not wait for their nodes to drain.
func (e *Execution) delete(o Observed, step *Step) {
	left := false
	for _, m := range e.members(o) {
		if m.going() {
			continue
		}
		left = true
		step.Effects = append(step.Effects, DeleteMember{m.member.Claim, m.member.UID, m.member.Node, e.cmd.Reason})
		step.Events = append(step.Events, m.member.Events(Event{Reason: EventDisruptionTerminating, Message: e.cmd.String()})...)
	}
	if !left {
		e.state = StateDone
	}
}
