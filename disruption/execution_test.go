package disruption_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// stage carries out what an execution asks for.
type stage struct {
	now      time.Time
	members  map[string]disruption.MemberState
	repl     []disruption.ReplacementState
	verdict  *disruption.Validation
	refuse   map[string]error // by an effect's text: it is not carried out
	log      []string
	queue    int
	deleted  map[string]bool
	tainting map[string]error
}

// newStage has a command over n members with so many replacements that validates after 15 s.
func newStage(members, replacements int) (*disruption.Command, *stage) {
	cmd := &disruption.Command{ID: "c", Method: disruption.MethodMultiNode, Reason: disruption.ReasonUnderutilized, Planned: now(), NotBefore: now().Add(15 * time.Second)}
	s := &stage{now: now(), members: map[string]disruption.MemberState{}, refuse: map[string]error{}, deleted: map[string]bool{}, tainting: map[string]error{}}
	for i := range members {
		name := fmt.Sprintf("n%d", i)
		cmd.Members = append(cmd.Members, disruption.Member{Node: name, Claim: "claim-" + name, UID: types.UID("uid-" + name)})
		s.members[name] = disruption.MemberState{
			Node:  &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}},
			Claim: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-" + name, UID: types.UID("uid-" + name)}},
		}
	}
	for range replacements {
		cmd.Replacements = append(cmd.Replacements, disruption.Replacement{Pool: v1.NewPoolKey("default"),
			Node: &scheduling.NewNode{InstanceTypes: []scheduling.InstanceTypeOption{{Name: "c4", Zone: "a", CapacityType: "spot"}}}})
	}
	s.repl = make([]disruption.ReplacementState, replacements)
	s.verdict = &disruption.Validation{Command: cmd}
	cmd.Receivers = []scheduling.ExistingNode{{Name: "receiver"}}
	return cmd, s
}

func (s *stage) observed() disruption.Observed {
	o := disruption.Observed{Members: map[string]disruption.MemberState{}, Replacements: slices.Clone(s.repl), Executing: s.queue}
	for name, m := range s.members {
		m.Err = s.tainting[name]
		o.Members[name] = m
	}
	return o
}

// claimOf is the member whose claim has the name.
func (s *stage) nodeOf(claim string) string { return strings.TrimPrefix(claim, "claim-") }

func (s *stage) do(e disruption.Effect) {
	s.log = append(s.log, e.String())
	if err, refused := s.refuse[e.String()]; refused {
		switch t := e.(type) {
		case disruption.TaintNode:
			s.tainting[t.Node] = err
		case disruption.CordonNode:
			s.tainting[t.Node] = err
		}
		if l, ok := e.(disruption.LaunchReplacement); ok {
			s.repl[l.Index].Err = err
		}
		return
	}
	if err := disruption.Do(context.Background(), e, s); err != nil {
		panic(err) // a stage never refuses
	}
}

// annotate puts a command's record on the claim.
func annotate(claim *v1.NodeClaim, record string) {
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations[v1.DisruptionCommandAnnotationKey] = record
}

// step asks once and does what is asked for, the first answer to a validation included.
func (s *stage) step(e *disruption.Execution) disruption.Step {
	o := s.observed()
	if e.State() == disruption.StateValidating {
		o.Validation = s.verdict
	}
	step := e.Next(o, s.now)
	clear(s.tainting)
	for _, effect := range step.Effects {
		s.do(effect)
	}
	return step
}

// run steps until the state comes, or it has been tried for long.
func (s *stage) run(e *disruption.Execution, until disruption.State) disruption.Step {
	for range 50 {
		step := s.step(e)
		if step.State == until || step.State.Final() {
			return step
		}
		s.now = s.now.Add(step.Again)
	}
	return disruption.Step{}
}

func (s *stage) initialize(i int) {
	claim := s.repl[i].Stored.DeepCopy()
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		claim.Conditions().SetTrue(kind, s.now)
	}
	s.repl[i].Stored = claim
}

// clean reports what an execution left on members that are not going.
func (s *stage) left() string {
	for name, m := range s.members {
		switch {
		case s.deleted[name] || m.Claim == nil:
		case v1.DisruptionMarked(m.Node) || len(m.Node.Spec.Taints) > 0 || m.Node.Spec.Unschedulable:
			return name + " is marked as being disrupted"
		case m.Claim.Conditions().Has(v1.ConditionDisruptionReason):
			return name + " has its condition"
		case m.Marked:
			return name + " is marked"
		case m.Claim.Annotations[v1.DisruptionCommandAnnotationKey] != "":
			return name + " has its record"
		}
	}
	return ""
}

// DIS-184, DIS-187, DIS-189, DIS-192, DIS-193, DIS-197: the order of things; the command is written down before anything else is
// done, and noted in the history before anything is deleted.
func TestExecution(t *testing.T) {
	cmd, s := newStage(2, 1)
	e := disruption.Execute(cmd)
	if step := s.step(e); step.State != disruption.StateDelayed || step.Again != 15*time.Second || len(step.Effects) != 0 {
		t.Fatalf("at first: %+v", step)
	}
	s.now = s.now.Add(15 * time.Second)
	s.run(e, disruption.StateWaiting)
	want := []string{
		"validate command c", "write command on nodeclaim claim-n0", "write command on nodeclaim claim-n1",
		"taint node n0", "set reason of nodeclaim claim-n0 (Underutilized)", "taint node n1", "set reason of nodeclaim claim-n1 (Underutilized)",
		"launch replacement of default", "mark node n0", "mark node n1", "nominate node receiver", "note 2 disruptions",
	}
	if !slices.Equal(s.log, want) {
		t.Errorf("effects %q\nwant %q", s.log, want)
	}
	s.log = nil
	s.now = s.now.Add(9 * time.Minute)
	step := s.step(e)
	if len(step.Effects) != 0 || len(step.Events) != 1 || step.Events[0].Reason != disruption.EventDisruptionLaunching || step.Again != time.Second || e.Unready() != 1 {
		t.Errorf("while it launches: %+v", step)
	}
	claim := s.repl[0].Stored.DeepCopy()
	claim.Conditions().SetTrue(v1.ConditionLaunched, s.now)
	s.repl[0].Stored = claim
	if step := s.step(e); step.Events[0].Reason != disruption.EventDisruptionWaitingReadiness {
		t.Errorf("while it comes up: %+v", step.Events)
	}
	s.initialize(0)
	step = s.step(e)
	if want := []string{"delete nodeclaim claim-n0 (Underutilized)", "delete nodeclaim claim-n1 (Underutilized)"}; !slices.Equal(s.log, want) || len(step.Events) != 4 {
		t.Errorf("when it is ready: %q, %+v", s.log, step.Events)
	}
	if step := s.step(e); step.State != disruption.StateDone || step.Again != 0 || step.Err != nil {
		t.Errorf("at last: %+v", step)
	}
}

// How commands fail, and what is left then (DIS-185, DIS-186, DIS-190, DIS-191, DIS-194); DIS-319 scenarios 14 and 15.
func TestExecutionFails(t *testing.T) {
	tests := []struct {
		name                  string
		members, replacements int
		prepare               func(*stage)
		waiting               func(*stage)
		want                  error
		deleted               int
		unready               int
	}{
		{"void", 1, 0, func(s *stage) {
			s.verdict = &disruption.Validation{Err: &disruption.RejectedError{Category: disruption.RejectedChurn, Block: &disruption.Block{}}}
		}, nil, disruption.ErrVoid, 0, 0},
		{"DIS-185 one can't be tainted, with replacements", 2, 1, func(s *stage) { s.refuse["taint node n1"] = errors.New("no") }, nil, disruption.ErrTainting, 0, 1},
		{"DIS-185 one of a delete", 2, 0, func(s *stage) { s.refuse["taint node n1"] = errors.New("no") }, nil, nil, 1, 0},
		{"DIS-185 all of a delete", 1, 0, func(s *stage) { s.refuse["taint node n0"] = errors.New("no") }, nil, disruption.ErrTainting, 0, 0},
		{"DIS-185 one that is gone is no error", 2, 0, func(s *stage) { delete(s.members, "n1") }, nil, nil, 1, 0},
		{"DIS-186 one replacement can't be created", 1, 2, func(s *stage) { s.refuse["launch replacement of default"] = errors.New("limit") }, nil, disruption.ErrLaunch, 0, 2},
		{"DIS-319 scenario 14, DIS-190: a replacement disappears", 1, 1, nil, func(s *stage) { s.repl[0].Stored, s.repl[0].Known = nil, false }, disruption.ErrReplacementGone, 0, 1},
		{"DIS-319 scenario 15, DIS-191: not ready after ten minutes", 1, 1, nil, func(s *stage) { s.now = s.now.Add(10*time.Minute + time.Second) }, disruption.ErrTimeout, 0, 1},
		{"DIS-192 deleting never succeeds", 1, 0, func(s *stage) { s.refuse["delete nodeclaim claim-n0 (Underutilized)"] = errors.New("no") },
			func(s *stage) { s.now = s.now.Add(11 * time.Minute) }, disruption.ErrTimeout, 0, 0},
	}
	for i := range 2 * len(tests) {
		tt, name := tests[i/2], tests[i/2].name
		cmd, s := newStage(tt.members, tt.replacements)
		if tt.prepare != nil {
			tt.prepare(s)
		}
		if i%2 == 1 {
			name += ", API-243: of a pool of the first generation"
			bornAlpha(cmd, s)
		}
		t.Run(name, func(t *testing.T) {
			e := disruption.Execute(cmd)
			s.run(e, disruption.StateWaiting)
			if tt.waiting != nil {
				s.run(e, disruption.StateDeleting)
				tt.waiting(s)
			}
			step := s.run(e, disruption.StateDone)
			if !errors.Is(step.Err, tt.want) || (tt.want == nil) != (step.State == disruption.StateDone) {
				t.Errorf("%s, %v; want %v", step.State, step.Err, tt.want)
			}
			if left := s.left(); left != "" {
				t.Error(left)
			}
			if len(s.deleted) != tt.deleted || e.Unready() != tt.unready {
				t.Errorf("%d deleted, %d not ready; want %d, %d", len(s.deleted), e.Unready(), tt.deleted, tt.unready)
			}
		})
	}
}

// bornAlpha has the members be of a pool of the first generation; what is refused of taints is refused of cordons.
func bornAlpha(cmd *disruption.Command, s *stage) {
	for i := range cmd.Members {
		cmd.Members[i].Pool = alphaKey
	}
	for text, err := range s.refuse {
		if node, is := strings.CutPrefix(text, "taint node "); is {
			s.refuse["cordon node "+node] = err
		}
	}
}

// API-243, API-247: nodes of pools of the first generation are cordoned, each other node is tainted; what somebody else cordoned
// before is not cordoned by us, stays so when the command fails, and all other marks are taken back; a marker of ours that is
// there is not put on again.
func TestExecutionMarksByGeneration(t *testing.T) {
	cmd, s := newStage(4, 1)
	for _, i := range []int{0, 1, 3} {
		cmd.Members[i].Pool = alphaKey
	}
	cmd.Members[2].Pool = v1.NewPoolKey("default")
	s.members["n1"].Node.Spec.Unschedulable = true
	v1.MarkerCordon.Mark(s.members["n3"].Node)
	e := disruption.Execute(cmd)
	s.run(e, disruption.StateWaiting)
	var marks []string
	for _, text := range s.log {
		if strings.Contains(text, "taint") || strings.Contains(text, "cordon") {
			marks = append(marks, text)
		}
	}
	if want := []string{"cordon node n0", "taint node n2"}; !slices.Equal(marks, want) {
		t.Errorf("%q, want %q", marks, want)
	}
	for name, ours := range map[string]bool{"n0": true, "n1": false, "n3": true} {
		if n := s.members[name].Node; !n.Spec.Unschedulable || v1.DisruptionTainted(n) || v1.DisruptionCordoned(n) != ours {
			t.Errorf("%s: %+v %v", name, n.Spec, n.Annotations)
		}
	}
	s.log = nil
	s.repl[0].Stored, s.repl[0].Known = nil, false
	if step := s.run(e, disruption.StateFailed); step.State != disruption.StateFailed {
		t.Fatalf("%+v", step)
	}
	for name, cordoned := range map[string]bool{"n0": false, "n1": true, "n2": false, "n3": false} {
		if n := s.members[name].Node; n.Spec.Unschedulable != cordoned || v1.DisruptionMarked(n) {
			t.Errorf("%s after the command has failed: %+v %v", name, n.Spec, n.Annotations)
		}
	}
}

// DIS-190: what only one of the two knows is on its way.
func TestExecutionWaitsForTheOtherHalf(t *testing.T) {
	cmd, s := newStage(1, 1)
	e := disruption.Execute(cmd)
	s.run(e, disruption.StateWaiting)
	stored := s.repl[0].Stored
	s.repl[0].Stored = nil
	if step := s.step(e); step.State != disruption.StateWaiting {
		t.Errorf("known in memory alone: %s, %v", step.State, step.Err)
	}
	s.repl[0].Stored, s.repl[0].Known = stored, false
	if step := s.step(e); step.State != disruption.StateWaiting {
		t.Errorf("known to the API alone: %s, %v", step.State, step.Err)
	}
	s.initialize(0)
	s.step(e)
	s.repl[0].Stored = nil
	if step := s.step(e); step.State != disruption.StateDone {
		t.Errorf("a replacement is looked at after it was ready: %s, %v", step.State, step.Err)
	}
}

// DIS-191: the more there is to do, the longer each command may take, up to an hour.
func TestExecutionTimeout(t *testing.T) {
	for queue, limit := range map[int]time.Duration{1: 10 * time.Minute, 10_000: 800 * time.Second, 100_000: time.Hour} {
		cmd, s := newStage(1, 1)
		s.queue = queue
		e := disruption.Execute(cmd)
		s.now = cmd.NotBefore
		s.run(e, disruption.StateWaiting)
		s.now = cmd.NotBefore.Add(limit)
		if step := s.step(e); step.State != disruption.StateWaiting {
			t.Errorf("%d members: %s after %s", queue, step.State, limit)
		}
		s.now = s.now.Add(5 * time.Second)
		if step := s.step(e); step.State == disruption.StateWaiting {
			t.Errorf("%d members: still waiting after %s", queue, limit)
		}
	}
}

// A replacement that came up for nothing is removed again, unless pods run on it.
func TestExecutionRemovesReplacements(t *testing.T) {
	for _, pods := range []bool{false, true} {
		cmd, s := newStage(1, 2)
		e := disruption.Execute(cmd)
		s.run(e, disruption.StateWaiting)
		s.initialize(0)
		s.repl[0].Pods = pods
		s.repl[1].Stored, s.repl[1].Known = nil, false
		if step := s.run(e, disruption.StateFailed); step.State != disruption.StateFailed {
			t.Fatalf("%+v", step)
		}
		if got := slices.Contains(s.log, "delete replacement new-0"); got == pods {
			t.Errorf("pods on it %v: deleted %v", pods, got)
		}
	}
}

// A replacement that is up stays while members go: their pods are to come to it. One that is not up yet goes with the command.
func TestExecutionKeepsReplacementsOfMembersThatGo(t *testing.T) {
	for _, ready := range []bool{true, false} {
		cmd, s := newStage(2, 2)
		e := disruption.Execute(cmd)
		s.run(e, disruption.StateWaiting)
		s.initialize(0)
		if ready {
			s.initialize(1)
		}
		s.refuse["delete nodeclaim claim-n1 (Underutilized)"] = errors.New("no")
		s.run(e, disruption.StateDeleting)
		m := s.members["n0"]
		m.Claim = m.Claim.DeepCopy()
		m.Claim.DeletionTimestamp = &metav1.Time{Time: s.now}
		s.members["n0"], s.deleted["n0"] = m, true
		s.now = s.now.Add(11 * time.Minute)
		if step := s.run(e, disruption.StateFailed); !errors.Is(step.Err, disruption.ErrTimeout) {
			t.Fatalf("%s, %v", step.State, step.Err)
		}
		for i, want := range []bool{false, !ready} {
			if got := slices.Contains(s.log, fmt.Sprintf("delete replacement new-%d", i)); got != want {
				t.Errorf("replacement %d, both ready %v: deleted %v", i, ready, got)
			}
			if r := s.repl[i].Stored; r != nil && r.Annotations[v1.DisruptionCommandAnnotationKey] != "" {
				t.Errorf("replacement %d stays with its record", i)
			}
		}
		if left := s.left(); left != "" {
			t.Error(left)
		}
	}
}

// A command that fails while a watch does not show yet what was just launched waits for it, and removes it: it would come up for nothing.
// One that turns out not to be there is waited for no longer.
func TestExecutionRemovesReplacementsThatAreNotSeenYet(t *testing.T) {
	for _, appears := range []bool{true, false} {
		cmd, s := newStage(1, 2)
		e := disruption.Execute(cmd)
		s.run(e, disruption.StateWaiting)
		unseen := s.repl[0].Stored
		s.repl[0].Stored = nil
		s.repl[1].Stored, s.repl[1].Known = nil, false
		for range 5 {
			if step := s.step(e); step.State != disruption.StateUndoing || step.Again == 0 {
				t.Fatalf("%s, again in %s: it has a replacement that is known in memory alone", step.State, step.Again)
			}
		}
		if s.repl[0].Known = appears; appears {
			s.repl[0].Stored = unseen
		}
		if step := s.run(e, disruption.StateFailed); step.State != disruption.StateFailed {
			t.Fatalf("%+v", step)
		}
		if got := slices.Contains(s.log, "delete replacement new-0"); got != appears {
			t.Errorf("appears %v, deleted %v", appears, got)
		}
		if left := s.left(); left != "" {
			t.Error(left)
		}
	}
}

// DIS-184: a command one of whose members somebody else removes before anything is launched ends: provisioning launches for that member's
// pods, and the command's new nodes would come up as well. One that has launched goes on.
func TestExecutionOfMembersThatOthersRemove(t *testing.T) {
	for name, c := range map[string]struct {
		remove func(*stage)
		static bool
	}{
		"deleted": {func(s *stage) {
			m := s.members["n0"]
			m.Claim = m.Claim.DeepCopy()
			m.Claim.DeletionTimestamp = &metav1.Time{Time: s.now}
			s.members["n0"], s.deleted["n0"] = m, true
		}, false},
		"gone":                   {func(s *stage) { delete(s.members, "n0") }, false},
		"gone, of a static pool": {func(s *stage) { delete(s.members, "n0") }, true},
	} {
		for _, launched := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, launched %v", name, launched), func(t *testing.T) {
				cmd, s := newStage(2, 1)
				cmd.Replacements[0].Static = c.static
				e := disruption.Execute(cmd)
				before := disruption.StateTainting
				if launched {
					before = disruption.StateWaiting
				}
				s.run(e, before)
				c.remove(s)
				if launched {
					s.initialize(0)
				}
				step := s.run(e, disruption.StateDone)
				if got := slices.Contains(s.log, "launch replacement of default"); got != launched {
					t.Errorf("launched %v", got)
				}
				if launched != (step.State == disruption.StateDone) || !launched && !errors.Is(step.Err, disruption.ErrMemberGone) {
					t.Errorf("%s, %v", step.State, step.Err)
				}
				if left := s.left(); left != "" {
					t.Error(left)
				}
			})
		}
	}
}

// Whatever fails and whenever: a member is deleted only once all replacements are ready, an execution ends, and what it leaves
// behind when it fails is nothing.
func TestExecutionInterleavings(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		cmd, s := newStage(rapid.IntRange(1, 3).Draw(rt, "members"), rapid.IntRange(0, 2).Draw(rt, "replacements"))
		if rapid.Bool().Draw(rt, "alpha") {
			bornAlpha(cmd, s)
		}
		e := disruption.Execute(cmd)
		for range 400 {
			switch rapid.IntRange(0, 9).Draw(rt, "event") {
			case 0:
				if i := rapid.IntRange(0, 2).Draw(rt, "which"); i < len(s.repl) && s.repl[i].Stored != nil {
					s.initialize(i)
				}
			case 1:
				if i := rapid.IntRange(0, 2).Draw(rt, "which"); i < len(s.repl) && rapid.Bool().Draw(rt, "gone") {
					s.repl[i].Stored, s.repl[i].Known = nil, false
				}
			case 2:
				delete(s.members, fmt.Sprintf("n%d", rapid.IntRange(0, 9).Draw(rt, "which")))
			case 3:
				s.tainting[fmt.Sprintf("n%d", rapid.IntRange(0, 9).Draw(rt, "which"))] = errors.New("conflict")
			case 4:
				s.now = s.now.Add(time.Duration(rapid.IntRange(0, 300).Draw(rt, "seconds")) * time.Second)
			}
			before := e.Unready()
			step := s.step(e)
			deletes := slices.ContainsFunc(step.Effects, func(e disruption.Effect) bool { _, is := e.(disruption.DeleteMember); return is })
			if deletes && (before > 0 && e.Unready() > 0) {
				rt.Fatalf("members are deleted and %d replacements are not ready", e.Unready())
			}
			if step.State.Final() {
				if left := s.left(); step.State == disruption.StateFailed && left != "" {
					rt.Fatalf("failed, and %s", left)
				}
				return
			}
			if step.Again <= 0 {
				rt.Fatalf("%s, and never to be looked at again", step.State)
			}
			s.now = s.now.Add(step.Again)
		}
		s.now = s.now.Add(2 * time.Hour)
		if step := s.run(e, disruption.StateFailed); !step.State.Final() {
			rt.Fatalf("it does not end: %s", step.State)
		}
	})
}

// DIS-184, DIS-195, DIS-049: commands run side by side, and a node is a member of one at a time.
func TestQueue(t *testing.T) {
	var q disruption.Queue
	first, _ := newStage(2, 0)
	second, _ := newStage(1, 0)
	second.ID = "d"
	if _, err := q.Add(first); err != nil {
		t.Fatal(err)
	}
	var busy *disruption.BusyError
	if _, err := q.Add(second); !errors.As(err, &busy) || busy.Node != "n0" || busy.By != "c" {
		t.Errorf("error %v", err)
	}
	second.Members[0].Node = "other"
	if _, err := q.Add(second); err != nil {
		t.Error(err)
	}
	if got := q.Executing(); len(got) != 3 || got["n1"] != "c" || got["other"] != "d" {
		t.Errorf("executing %v", got)
	}
	done := q.Executions()[0]
	done.Next(disruption.Observed{}, now().Add(time.Minute))
	done.Next(disruption.Observed{Validation: &disruption.Validation{Err: errors.New("void")}}, now().Add(time.Minute))
	if got := q.Executing(); len(got) != 1 {
		t.Errorf("after one has ended: %v", got)
	}
}

// DIS-073, DIS-196, API-247, DIS-302: what a command left that nobody executes is undone, whichever generation it is marked by;
// a cordon of somebody else stays.
func TestCleanUp(t *testing.T) {
	w := newWorld()
	touched := func(n *scheduling.Node) {
		n.Object.Spec.Taints = []corev1.Taint{v1.DisruptedTaint()}
		n.Claim.Conditions().SetTrue(v1.ConditionDisruptionReason, now())
	}
	w.node("left", "c4", touched)
	w.node("busy", "c4", touched)
	w.alphaPool()
	w.node("cordoned", "c4", ofAlpha, func(n *scheduling.Node) { v1.MarkerCordon.Mark(n.Object) })
	w.node("of beta", "c4", func(n *scheduling.Node) {
		n.Object.Spec.Taints = []corev1.Taint{{Key: "karpenter.sh/disruption", Value: "disrupting", Effect: corev1.TaintEffectNoSchedule}}
	})
	w.node("others", "c4", ofAlpha, func(n *scheduling.Node) { n.Object.Spec.Unschedulable = true })
	w.node("busy too", "c4", ofAlpha, func(n *scheduling.Node) { v1.MarkerCordon.Mark(n.Object) })
	w.node("going", "c4", touched, leaving)
	w.node("marked", "c4", touched)
	w.node("clean", "c4")
	view := disruption.ViewOf(w.snapshot)
	for i := range view.Nodes {
		if view.Nodes[i].Name == "marked" {
			view.Nodes[i].Marked = true
		}
	}
	var got []string
	for _, e := range disruption.CleanUp(view, map[string]string{"busy": "c", "busy too": "d"}) {
		got = append(got, e.String())
	}
	if want := []string{"untaint node left", "clear reason of nodeclaim claim-left", "uncordon node cordoned", "untaint node of beta"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
