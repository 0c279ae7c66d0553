package disruption_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
)

// Nobody removes nodes in the evening unless somebody says so: what an approver refuses stays, and says why.
func ExampleApprover() {
	calendar := disruption.ApproverFunc(func(_ context.Context, cmd *disruption.Command) (disruption.Approval, error) {
		if len(cmd.Members) > 1 {
			return disruption.Approval{Decision: disruption.Refused, By: "change calendar", Reason: "one node at a time before the release"}, nil
		}
		return disruption.Approval{Decision: disruption.Approved}, nil
	})
	queue := disruption.Queue{Approval: &disruption.ApprovalPolicy{Wait: ptr(time.Hour)}}
	cmd, _ := newStage(2, 0) // a command over the nodes n0 and n1
	execution, err := queue.Add(cmd)
	if err != nil {
		fmt.Println(err)
		return
	}
	step := execution.Next(disruption.Observed{}, now())
	answer, err := disruption.Ask(context.Background(), calendar, step.Effects[0].(disruption.AskApproval), 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	step = execution.Next(disruption.Observed{Approval: answer}, now())
	fmt.Println(step.State, step.Err)
	// Output:
	// Failed command c: the command was refused: Underutilized of n0, n1, by change calendar: one node at a time before the release
}

// approve steps an execution that waits for approval, answering so, until something else than waiting comes.
func (s *stage) approve(e *disruption.Execution, answer func(asked int) *disruption.Approval) (step disruption.Step, asked int) {
	o := s.observed()
	for range 10_000 {
		o.Approval = answer(asked)
		if step = e.Next(o, s.now); step.State != disruption.StateApproving {
			return step, asked
		}
		asked++
		s.now = s.now.Add(step.Again)
	}
	return step, asked
}

func always(a disruption.Approval) func(int) *disruption.Approval {
	return func(int) *disruption.Approval { return &a }
}

// An approver delays, approves, refuses or is silent: what becomes of the command, and when.
func TestApproval(t *testing.T) {
	approved := disruption.Approval{Decision: disruption.Approved}
	refused := disruption.Approval{Decision: disruption.Refused, By: "ann", Reason: "not today"}
	silent := func(int) *disruption.Approval { return nil }
	thinking := always(disruption.Approval{Reason: "ann is asked", For: ptr(time.Minute)})
	later := func(asked int) *disruption.Approval {
		if asked < 3 {
			return nil
		}
		return &approved
	}
	for name, c := range map[string]struct {
		policy disruption.ApprovalPolicy
		answer func(int) *disruption.Approval
		state  disruption.State
		after  time.Duration
		asked  int
		says   string
	}{
		"approved at once":                {disruption.ApprovalPolicy{}, always(approved), disruption.StateDelayed, 0, 0, ""},
		"approved at the fourth time":     {disruption.ApprovalPolicy{}, later, disruption.StateValidating, 15 * time.Second, 3, ""},
		"asked as often as it says":       {disruption.ApprovalPolicy{Every: ptr(time.Minute)}, later, disruption.StateValidating, 3 * time.Minute, 3, ""},
		"refused":                         {disruption.ApprovalPolicy{}, always(refused), disruption.StateFailed, 0, 0, "by ann: not today"},
		"refused without a word":          {disruption.ApprovalPolicy{}, always(disruption.Approval{Decision: disruption.Refused}), disruption.StateFailed, 0, 0, "no reason was given"},
		"silence refuses, in ten minutes": {disruption.ApprovalPolicy{}, silent, disruption.StateFailed, 10 * time.Minute, 120, "nobody approved of it within 10m0s"},
		"silence refuses when it is said": {disruption.ApprovalPolicy{Wait: ptr(time.Hour)}, thinking, disruption.StateFailed, time.Hour, 60, "nobody approved of it within 1h0m0s"},
		"silence approves if it is to":    {disruption.ApprovalPolicy{Wait: ptr(time.Hour), Silence: disruption.Approved}, silent, disruption.StateValidating, time.Hour, 720, ""},
		"so does one who still thinks":    {disruption.ApprovalPolicy{Wait: ptr(time.Hour), Silence: disruption.Approved}, thinking, disruption.StateValidating, time.Hour, 60, ""},
		"the last moment counts": {disruption.ApprovalPolicy{Wait: ptr(time.Minute), Every: ptr(59 * time.Second)}, func(asked int) *disruption.Approval {
			if asked < 2 {
				return nil
			}
			return &approved
		}, disruption.StateValidating, time.Minute, 2, ""},
		"no time to wait: silence decides": {disruption.ApprovalPolicy{Wait: new(time.Duration)}, silent, disruption.StateFailed, 0, 0, "nobody approved of it within 0s"},
		"asked ten times a second at most": {disruption.ApprovalPolicy{Wait: ptr(time.Second), Every: new(time.Duration)}, silent, disruption.StateFailed, time.Second, 10, "nobody approved"},
		"no decision that is known":        {disruption.ApprovalPolicy{Silence: disruption.Approved}, always(disruption.Approval{Decision: "Maybe"}), disruption.StateFailed, 10 * time.Minute, 120, "nobody approved"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, s := newStage(2, 1)
			step, asked := s.approve(disruption.ExecuteApproved(cmd, c.policy), c.answer)
			if step.State != c.state || s.now.Sub(now()) != c.after || asked != c.asked {
				t.Errorf("%s after %s and %d questions; want %s after %s and %d", step.State, s.now.Sub(now()), asked, c.state, c.after, c.asked)
			}
			if refused := c.state == disruption.StateFailed; refused != errors.Is(step.Err, disruption.ErrRefused) || refused && !strings.Contains(step.Err.Error(), c.says) {
				t.Errorf("error %v, want %q", step.Err, c.says)
			}
			if c.state == disruption.StateFailed && !slices.Equal(told(step.Events), []string{
				"DisruptionRefused Node/n0", "DisruptionRefused Node/n1", "DisruptionRefused NodeClaim/claim-n0", "DisruptionRefused NodeClaim/claim-n1"}) {
				t.Errorf("events %q", told(step.Events))
			}
			if len(s.log) > 0 {
				t.Errorf("something was done meanwhile: %q", s.log)
			}
		})
	}
}

// While it waits a command asks, with its deadline, and says so on its nodes; it holds them, so that budgets count them and no
// other command has them.
func TestApprovalWaits(t *testing.T) {
	cmd, _ := newStage(1, 0)
	q := disruption.Queue{Approval: &disruption.ApprovalPolicy{Wait: ptr(time.Hour)}}
	e, err := q.Add(cmd)
	if err != nil {
		t.Fatal(err)
	}
	step := e.Next(disruption.Observed{Approval: &disruption.Approval{Reason: "ann is asked"}}, now())
	ask, ok := step.Effects[0].(disruption.AskApproval)
	if !ok || len(step.Effects) != 1 || ask.Command != cmd || !ask.Deadline.Equal(now().Add(time.Hour)) || ask.String() != "ask for approval of command c" {
		t.Errorf("%+v", step.Effects)
	}
	if got := told(step.Events); !slices.Equal(got, twice("DisruptionAwaitingApproval", "n0")) || !strings.HasPrefix(step.Events[0].Message, "waits for approval until 2026-05-04T11:00:00Z (ann is asked): delete n0") {
		t.Errorf("%q: %q", got, step.Events[0].Message)
	}
	if got := q.Executing()["n0"]; got != "c" {
		t.Errorf("the node is %q's", got)
	}
	w := newWorld()
	w.node("n0", "c4")
	w.node("n1", "c4")
	w.pool("default", budgets(v1.Budget{Nodes: "1"}))
	w.input.Executing = q.Executing()
	if p := w.plan(t, &disruption.Reference{}); len(p.Commands) != 0 {
		t.Errorf("%q, though the budget is used by a command that waits", said(p))
	}
}

// A command that waited is validated before it is started, also one of drift, which otherwise is not.
func TestApprovalValidates(t *testing.T) {
	for _, approval := range []bool{false, true} {
		cmd, s := newStage(1, 0)
		cmd.Method, cmd.Reason, cmd.NotBefore = disruption.MethodDrift, disruption.ReasonDrifted, cmd.Planned
		e := disruption.Execute(cmd)
		if approval {
			e = disruption.ExecuteApproved(cmd, disruption.ApprovalPolicy{})
			step, _ := s.approve(e, always(disruption.Approval{Decision: disruption.Approved}))
			for _, effect := range step.Effects {
				s.do(effect)
			}
		}
		s.run(e, disruption.StateDone)
		if got := slices.Contains(s.log, "validate command c"); got != approval {
			t.Errorf("approver %v: validated %v", approval, got)
		}
	}
}

// What was refused is left alone for its reason and its time: verdicts say who refused, and why.
func TestRefusals(t *testing.T) {
	w := newWorld()
	w.node("n", "c4", drifted(time.Hour))
	w.input.Refusals = disruption.NewRefusals()
	cmd := w.plan(t, &disruption.Reference{}).Commands[0]
	e := disruption.ExecuteApproved(cmd, disruption.ApprovalPolicy{})
	refusal := disruption.Approval{Decision: disruption.Refused, By: "ann", Reason: "not today", For: ptr(2 * time.Hour)}
	step := e.Next(disruption.Observed{Approval: &refusal}, now())
	w.input.Refusals.Note(step.Err, now())
	w.input.Refusals.Note(errors.New("something else"), now())
	if got := said(w.plan(t, &disruption.Reference{})); got != "Drift: n" {
		t.Errorf("%q, want it to go for another reason", got)
	}
	w.snapshot.Nodes[0].Claim.Conditions().Clear("Drifted", now())
	p := w.plan(t, &disruption.Reference{})
	b := why(t, p, "n", disruption.MethodEmptiness)
	if b.Code != disruption.BlockRefused || b.String() != "its disruption was refused (ann: not today) until 2026-05-04T12:00:00Z" || !p.Again.Equal(now().Add(2*time.Hour)) {
		t.Errorf("kept by %q; again %s", b, p.Again)
	}
	if got := told(p.Events(w.fleet(t))); !slices.Equal(got, twice("Unconsolidatable", "n")) {
		t.Errorf("events %q", got)
	}
	w.snapshot.Time = now().Add(2 * time.Hour)
	if got := said(w.plan(t, &disruption.Reference{})); got != "Emptiness: n" {
		t.Errorf("after its time: %q", got)
	}
	w.snapshot.Time = now()
	w.snapshot.Nodes[0].Claim.UID = "another"
	if got := said(w.plan(t, &disruption.Reference{})); got != "Emptiness: n" {
		t.Errorf("another node of its name: %q", got)
	}
	var none *disruption.Refusals
	none.Note(step.Err, now())
	if none.Blocks("n", disruption.ReasonEmpty, now()) != nil {
		t.Error("nil refuses")
	}
}

// Ask ends with its context and its timeout, and an error is no answer.
func TestAsk(t *testing.T) {
	cmd, _ := newStage(1, 0)
	ask := disruption.AskApproval{Command: cmd}
	waits := disruption.ApproverFunc(func(ctx context.Context, _ *disruption.Command) (disruption.Approval, error) {
		<-ctx.Done()
		return disruption.Approval{Decision: disruption.Approved}, nil
	})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if a, err := disruption.Ask(cancelled, waits, ask, time.Hour); a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", a, err)
	}
	if a, err := disruption.Ask(context.Background(), waits, ask, time.Nanosecond); a != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", a, err)
	}
	broken := errors.New("no connection")
	fails := disruption.ApproverFunc(func(context.Context, *disruption.Command) (disruption.Approval, error) {
		return disruption.Approval{Decision: disruption.Approved}, broken
	})
	if a, err := disruption.Ask(context.Background(), fails, ask, 0); a != nil || !errors.Is(err, broken) || !strings.Contains(err.Error(), "command c") {
		t.Errorf("%v, %v", a, err)
	}
}

func seconds(least, most int) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(rt *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(rt, "seconds")) * time.Second
	})
}

// Whatever an approver answers and whenever: nothing is done before it has approved, or its silence counts as that; and no
// command waits longer than it may.
func TestApprovalProperties(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		cmd, s := newStage(1, rapid.IntRange(0, 1).Draw(rt, "replacements"))
		policy := disruption.ApprovalPolicy{
			Wait: rapid.Ptr(seconds(-1, 3600), true).Draw(rt, "wait"), Every: rapid.Ptr(seconds(-1, 100), true).Draw(rt, "every"),
			Silence: rapid.SampledFrom([]disruption.ApprovalDecision{"", disruption.Approved, disruption.Refused}).Draw(rt, "silence"),
		}
		e := disruption.ExecuteApproved(cmd, policy)
		limit := option.Or(policy.Wait, disruption.DefaultApprovalWait)
		o := s.observed()
		for e.State() == disruption.StateApproving {
			o.Approval = nil
			if rapid.IntRange(0, 3).Draw(rt, "answers") == 0 {
				o.Approval = &disruption.Approval{
					Decision: rapid.SampledFrom([]disruption.ApprovalDecision{"", "", "", disruption.Approved, disruption.Refused}).Draw(rt, "decision"),
					For:      rapid.Ptr(seconds(-10, 4000), true).Draw(rt, "for"),
				}
			}
			step := e.Next(o, s.now)
			for _, effect := range step.Effects {
				switch effect.(type) {
				case disruption.AskApproval, disruption.ValidateCommand:
				default:
					rt.Fatalf("%s before it was approved", effect)
				}
			}
			waited := s.now.Sub(now())
			switch late := waited >= limit; {
			case step.State == disruption.StateApproving:
				if late || step.Again <= 0 || waited+step.Again > limit {
					rt.Fatalf("waits after %s for %s more, and may for %s", waited, step.Again, limit)
				}
			case step.State == disruption.StateFailed:
				if !late && (o.Approval == nil || o.Approval.Decision != disruption.Refused) {
					rt.Fatalf("dropped after %s by %v", waited, o.Approval)
				}
			case !late && (o.Approval == nil || o.Approval.Decision != disruption.Approved):
				rt.Fatalf("begun after %s by %v", waited, o.Approval)
			case late && policy.Silence != disruption.Approved && (o.Approval == nil || o.Approval.Decision != disruption.Approved):
				rt.Fatalf("begun by silence, which is %q", policy.Silence)
			}
			s.now = s.now.Add(step.Again)
		}
	})
}
