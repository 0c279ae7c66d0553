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

// Periods of commands.
const (
	executionEvery  = time.Second
	timeoutPerEntry = 80 * time.Millisecond
	timeoutLeast    = 10 * time.Minute
	timeoutMost     = time.Hour
	// heldBackMost is for how long a command that has launched something waits for the launch rate limiter, all together, and notingMost for its
	// history to be stored: nothing else is planned meanwhile.
	heldBackMost = 2 * time.Minute
	notingMost   = time.Minute
)

// State is how far an execution has come.
type State string

// The states, in their order.
const (
	// StateApproving: it waits for an Approver, if there is one to be asked.
	StateApproving State = "Approving"
	// StateDelayed: it waits for Command.NotBefore.
	StateDelayed State = "Delayed"
	// StateValidating: it waits for the planner to say that the command is still good.
	StateValidating State = "Validating"
	// StateRecording: it is written on its members' NodeClaims, before anything else is done for it.
	StateRecording State = "Recording"
	// StateTainting: its members get their taints and conditions.
	StateTainting State = "Tainting"
	// StateLaunching: its replacements are created.
	StateLaunching State = "Launching"
	// StateWaiting: its replacements are coming up.
	StateWaiting State = "Waiting"
	// StateDeleting: the claims of its members are deleted.
	StateDeleting State = "Deleting"
	// StateUndoing: it has failed, and what it did is taken back.
	StateUndoing State = "Undoing"
	// StateDone and StateFailed are final.
	StateDone   State = "Done"
	StateFailed State = "Failed"
)

// Final reports whether nothing happens any more.
func (s State) Final() bool { return s == StateDone || s == StateFailed }

// Unsettled reports whether a plan had better wait: the command's members are about to leave and nothing shows it yet, or they
// are being given back and are no places for pods yet. A plan that is made meanwhile may launch what nobody needs. It is
// short, but for writes that fail again and again: don't wait for ever. Waiting for an Approver may take long, and nothing has
// happened then.
func (s State) Unsettled() bool {
	switch s {
	case StateDelayed, StateValidating, StateRecording, StateTainting, StateLaunching, StateUndoing:
		return true
	}
	return false
}

// Observed is what an execution is told of the world. Nothing in it is changed.
type Observed struct {
	// Members by node. A member that is missing is gone.
	Members map[string]MemberState
	// Replacements at the places of Command.Replacements; may be shorter.
	Replacements []ReplacementState
	// Validation is the answer to ValidateCommand: nil while there is none.
	Validation *Validation
	// Approval is the answer to AskApproval: nil while there is none.
	Approval *Approval
	// NoteErr is why the last NoteDisruptions failed; nil if it did not.
	NoteErr error
	// Executing is how many members commands under way have, all together: the more, the longer each may take.
	Executing int
}

// MemberState is a member as it is now.
type MemberState struct {
	// Node and Claim; nil when they are gone.
	Node  *corev1.Node
	Claim *v1.NodeClaim
	// Marked says that it is marked in memory.
	Marked bool
	// Err is why tainting it or setting its condition failed since the last step; nil otherwise. That the object is gone is no
	// failure.
	Err error
}

// ReplacementState is a replacement as it is now. The zero value is one that has not been asked for.
type ReplacementState struct {
	// Claim's name once it is created.
	Claim string
	// Stored is the claim as the API has it, nil when it has none; Known says that it is there in memory. One that only one
	// of them knows is on its way in or out.
	Stored *v1.NodeClaim
	Known  bool
	// Pods says that pods that need a place are bound to its node.
	Pods bool
	// Err is why it could not be created.
	Err error
	// HeldBack says that it must not be created yet, as the launch rate limiter's answer does; nil if it may be tried at any time.
	HeldBack *HeldBack
}

// HeldBack is a launch that may be tried again later.
type HeldBack struct {
	// Until is when, Why what the matter is.
	Until time.Time
	Why   string
}

// Validation is what the planner said: the command to start, or why it is void.
type Validation struct {
	Command *Command
	Err     error
}

// Reasons for which executions fail, for errors.Is.
var (
	// ErrVoid: the command was no longer good when it was to be started; the *RejectedError is in the chain.
	ErrVoid = errors.New("the command is void")
	// ErrTainting: members could not be tainted.
	ErrTainting = errors.New("tainting members")
	// ErrLaunch: a replacement could not be created.
	ErrLaunch = errors.New("launching replacements")
	// ErrHistory: the disruptions could not be noted with the NodePools.
	ErrHistory = errors.New("noting disruptions")
	// ErrMemberGone: somebody else removed a member before replacements were launched.
	ErrMemberGone = errors.New("a member is being removed by somebody else")
	// ErrReplacementGone: a replacement disappeared before it was ready.
	ErrReplacementGone = errors.New("a replacement is gone")
	// ErrTimeout: it took too long.
	ErrTimeout = errors.New("the command took too long")
)

// Execution follows one command until it is carried out or taken back: have it approved if there is an Approver, write it down,
// taint, launch what is to come, wait until that is ready, delete what is to go. It holds no clock and is one goroutine's. It
// is a cache of what the objects say: before its first effect the command is on its members' NodeClaims, and on its
// replacements' from their creation, so that a process that begins finds it there (Recover) and goes on with it or takes it
// back.
type Execution struct {
	cmd     *Command
	state   State
	started time.Time
	// digest of the command as it began.
	digest string
	// policy of approval, nil without an approver; asked is when the waiting for it began; outdated that it took its time, so
	// that the command is validated whatever its method.
	policy   *ApprovalPolicy
	asked    time.Time
	outdated bool
	// ready are replacements that were seen initialised once: they are not looked at again.
	ready []bool
	// dropped are members of a delete that could not be tainted.
	dropped map[string]bool
	// nominated says that the receivers were, noted that the history was to be told.
	nominated, noted bool
	// heldSince is when launches were first held back, notingSince when noting disruptions first failed.
	heldSince, notingSince time.Time
	// err is why it failed.
	err error
}

// Execute begins a command. Nothing is done before the first Next.
func Execute(cmd *Command) *Execution {
	if cmd == nil {
		cmd = &Command{} // of no nodes, which is done at once
	}
	return &Execution{cmd: cmd, state: StateDelayed, ready: make([]bool, len(cmd.Replacements)), dropped: map[string]bool{}}
}

// ExecuteApproved begins a command that waits for an Approver's decision first.
func ExecuteApproved(cmd *Command, policy ApprovalPolicy) *Execution {
	e := Execute(cmd)
	e.state, e.policy = StateApproving, &policy
	return e
}

// Command that is executed: after validation it may have fewer members.
func (e *Execution) Command() *Command { return e.cmd }

// State it is in.
func (e *Execution) State() State { return e.state }

// Unready counts the replacements that were not seen initialised: what a failure counts as.
func (e *Execution) Unready() int {
	n := 0
	for _, r := range e.ready {
		if !r {
			n++
		}
	}
	return n
}

// Next says what to do now, and when to ask again.
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

// advance does what the present state asks for, and moves on if nothing is left of it.
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

// timedOut reports whether the command has taken too long: its age counts from the start, after validation.
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

// wait lasts until all replacements are initialised; one that neither the API nor memory knows any more ends the
// command.
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

// isReady reports whether the replacement may take pods.
func isReady(claim *v1.NodeClaim) bool {
	_, ready := survey.TrueSince(claim, v1.ConditionInitialized)
	return ready
}

// delete has the claims of all members deleted; it does not wait for their nodes to drain.
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
