package disruption

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Approver is an external system that may delay or refuse a command before anything is done for it: a change calendar, a person, another
// controller. It is asked only about voluntary commands; forced removals don't wait for it. It must be safe for concurrent use.
type Approver interface {
	// Approve returns the decision about the command without waiting. It is called again until it has decided, so a person may take their
	// time. If it returns an error, it has not decided and is called again. It must return when ctx ends.
	Approve(ctx context.Context, cmd *Command) (Approval, error)
}

// ApproverFunc makes an Approver of a function.
type ApproverFunc func(ctx context.Context, cmd *Command) (Approval, error)

// Approve calls the function.
func (f ApproverFunc) Approve(ctx context.Context, cmd *Command) (Approval, error) {
	if f == nil {
		return Approval{}, option.Missing("ApproverFunc.Approve", "the function")
	}
	return f(ctx, cmd)
}

// Ask carries out an AskApproval: it waits for an answer until the timeout. If there is an error, or no answer within the timeout, it
// returns nil and the error. If the timeout is 0 or less, only ctx limits the time.
func Ask(ctx context.Context, a Approver, ask AskApproval, timeout time.Duration) (*Approval, error) {
	switch {
	case ctx == nil:
		return nil, option.Missing("Ask", "the context")
	case a == nil:
		return nil, option.Missing("Ask", "the approver")
	case ask.Command == nil:
		return nil, option.Missing("Ask", "the command")
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	answer, err := a.Approve(ctx, ask.Command)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("asking for approval of command %s: %w", ask.Command.ID, err)
	}
	return &answer, nil
}

// ApprovalDecision is what an Approver decided.
type ApprovalDecision string

// The decisions.
const (
	// ApprovalPending: the Approver has not decided yet.
	ApprovalPending ApprovalDecision = ""
	// Approved: the command may be started.
	Approved ApprovalDecision = "Approved"
	// Refused: the command is dropped, and its nodes stay.
	Refused ApprovalDecision = "Refused"
)

// Approval is an Approver's answer.
type Approval struct {
	Decision ApprovalDecision
	// By and Reason are for operators: who decided, and why. Either may be empty.
	By, Reason string
	// For belongs to the decision Refused: it says how long not to propose the nodes again for the same reason. nil means DefaultRefusal; 0
	// means that they may be proposed again at once. For the decision ApprovalPending, it says when to ask again; nil means
	// ApprovalPolicy.Every.
	For *time.Duration
}

// Times of approval.
const (
	// DefaultApprovalWait is how long a command waits for an approver.
	DefaultApprovalWait = 10 * time.Minute
	// DefaultApprovalEvery is the time between two questions to an approver that has not decided.
	DefaultApprovalEvery = 5 * time.Second
	// DefaultRefusal is how long nodes are not proposed again after an approver has refused their disruption.
	DefaultRefusal = 15 * time.Minute
)

// ApprovalPolicy says how long commands wait for an approver, and what happens if it does not answer. While a command waits, its nodes
// count against their budgets and are in no other command; nothing is done to them. The zero value is ready to use.
type ApprovalPolicy struct {
	// Wait is the longest time that a command waits, counted from when it was added to its queue. Nil means DefaultApprovalWait. With 0 or
	// less, a command that has no answer yet is decided by Silence at once.
	Wait *time.Duration
	// Silence is the decision if the approver has not decided within Wait. If Silence is Approved, the command starts. Any other value
	// drops the command, because an approver that can't be reached might have refused.
	Silence ApprovalDecision
	// Every is the time between two questions to an approver that has not decided; at least a tenth of a second. Nil is
	// DefaultApprovalEvery.
	Every *time.Duration
}

func (p *ApprovalPolicy) wait() time.Duration { return option.Or(p.Wait, DefaultApprovalWait) }

// NextAsk returns how long to wait before an approver that has not decided is asked again. last is its last answer, or nil if it has not
// answered yet.
func (p ApprovalPolicy) NextAsk(last *Approval) time.Duration {
	next := option.Or(p.Every, DefaultApprovalEvery)
	if last != nil {
		next = option.Or(last.For, next)
	}
	return max(next, 100*time.Millisecond)
}

// ErrRefused matches every *RefusedError with errors.Is.
var ErrRefused = errors.New("the command was refused")

// RefusedError means that an approver refused a command, or did not approve it in time.
type RefusedError struct {
	// Command is the ID of the command, Nodes are its nodes, and Reason is the reason of their disruption.
	Command string
	Nodes   []string
	Reason  Reason
	// By and Why are from the approver's answer. Late means that there was no answer in time.
	By, Why string
	Late    bool
	// For is how long the nodes must not be proposed again.
	For time.Duration

	uids []types.UID
}

func (e *RefusedError) Error() string {
	s := fmt.Sprintf("%v: %s of %s", ErrRefused, e.Reason, strings.Join(e.Nodes, ", "))
	if e.By != "" {
		s += ", by " + e.By
	}
	return s + ": " + e.Why
}

// Is reports whether target is ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// refusalOf returns the error with which the answer refuses the command.
func refusalOf(c *Command, answer Approval) *RefusedError {
	e := &RefusedError{Command: c.ID, Nodes: c.Nodes(), Reason: c.Reason, By: answer.By, Why: cmp.Or(answer.Reason, "no reason was given"), For: option.Or(answer.For, DefaultRefusal)}
	for i := range c.Members {
		e.uids = append(e.uids, c.Members[i].UID)
	}
	return e
}

// approve asks for approval until the approver has decided or the deadline has passed. A command that has waited for approval is validated
// before it starts, whatever its method, because its plan is old.
func (e *Execution) approve(o Observed, now time.Time, step *Step) {
	if e.asked.IsZero() {
		e.asked = now
	}
	deadline := e.asked.Add(e.policy.wait())
	answer := o.Approval
	switch {
	case answer != nil && answer.Decision == Approved, !now.Before(deadline) && answer.pending() && e.policy.Silence == Approved:
		e.state, e.outdated = StateDelayed, true
		return
	case answer != nil && answer.Decision == Refused:
		e.refuse(refusalOf(e.cmd, *answer), step)
		return
	case !now.Before(deadline):
		why := refusalOf(e.cmd, Approval{Reason: fmt.Sprintf("nobody approved of it within %s", e.policy.wait())})
		why.Late = true
		e.refuse(why, step)
		return
	}
	step.Again = min(e.policy.NextAsk(answer), deadline.Sub(now))
	step.Effects = append(step.Effects, AskApproval{Command: e.cmd, Deadline: deadline})
	identity := ""
	message := "waits for approval until " + deadline.UTC().Format(time.RFC3339)
	if answer != nil && answer.Reason != "" {
		identity = answer.Reason              // identity is the approver's reason, so that a new reason is published at once
		message += " (" + answer.Reason + ")" // the reason is before the command, because long events are cut off at the end
	}
	message += ": " + e.cmd.String()
	for i := range e.cmd.Members {
		step.Events = append(step.Events, e.cmd.Members[i].Events(Event{Reason: EventDisruptionAwaitingApproval, Identity: identity, Message: message, Every: every(stateEvery)})...)
	}
}

func (a *Approval) pending() bool { return a == nil || a.Decision == ApprovalPending }

// refuse ends the execution at once, because nothing has been done that must be undone.
func (e *Execution) refuse(why *RefusedError, step *Step) {
	e.state, e.err = StateFailed, fmt.Errorf("command %s: %w", e.cmd.ID, why)
	for i := range e.cmd.Members {
		step.Events = append(step.Events, e.cmd.Members[i].Events(Event{Reason: EventDisruptionRefused, Identity: why.Why, Message: why.Error()})...)
	}
}

// Digest identifies what the plan does. It consists of the digests of its commands, wave by wave. Plans that do the same in the same waves
// have equal digests; see Command.Digest. A plan without commands also has a digest.
func (p *Plan) Digest() string {
	if p == nil {
		return ""
	}
	byID := make(map[string]*Command, len(p.Commands))
	for _, cmd := range p.Commands {
		byID[idOf(cmd)] = cmd
	}
	var waves [][]*Command
	for i := range p.Waves {
		var wave []*Command
		for _, id := range p.Waves[i].Commands {
			wave = append(wave, byID[id])
		}
		waves = append(waves, wave)
	}
	if len(p.Waves) == 0 {
		waves = append(waves, p.Commands)
	}
	return decision.DigestOf(waves)
}

// MovedOn returns why an approved command must not be started in the present fleet: a member's NodeClaim was replaced by another, or a
// member has received pods that would be evicted without approval. It returns nil if the command may be started. Pods that are gone do not
// matter. Call it in addition to Planner.Validate, which checks whether the command is still worth its cost.
func MovedOn(f *Fleet, cmd *Command) *RejectedError {
	if f == nil || cmd == nil {
		return nil
	}
	for i := range cmd.Members {
		m := &cmd.Members[i]
		reject := func(why *Block) *RejectedError {
			return &RejectedError{Command: cmd.ID, Category: RejectedChurn, Node: m.Node, Block: why}
		}
		c := f.Candidate(m.Node)
		if c == nil || c.State.Claim.UID != m.UID {
			return reject(&Block{Code: BlockUnmanaged, Detail: "its NodeClaim is another"})
		}
		for _, pod := range c.Pods {
			if key := survey.KeyOf(pod); !slices.Contains(m.Pods, key) {
				return reject(&Block{Code: BlockUnapproved, Pod: key})
			}
		}
	}
	return nil
}
