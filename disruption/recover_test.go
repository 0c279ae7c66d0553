package disruption_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// recorded puts a record on the node's claim, as of a command that it belongs to.
func recorded(r disruption.Record) nodeOption {
	return func(n *scheduling.Node) {
		r := r
		if r.Role == disruption.RoleMember {
			r.UID = n.Claim.UID
		} else {
			r.Pool = "default"
			n.Claim.CreationTimestamp = metav1.NewTime(r.Planned.Add(time.Second).Truncate(time.Second))
		}
		annotate(n.Claim, r.String())
	}
}

func memberOf(id string, index, replacements int) disruption.Record {
	return disruption.Record{
		ID: id, Role: disruption.RoleMember, Index: index, Method: disruption.MethodMultiNode, Reason: disruption.ReasonUnderutilized, Members: 2,
		Replacements: replacements, Planned: now().Add(-time.Minute), Started: now().Add(-time.Minute), Price: 0.2, Cost: 2,
	}
}

func replacementOf(id string, index, replacements int) disruption.Record {
	r := memberOf(id, index, replacements)
	r.Role, r.Price, r.Cost = disruption.RoleReplacement, 0, 0
	return r
}

// DIS-196: a command whose replacements are all there goes on, until the deadline that it had; any other is taken back; one whose
// members all go needs nothing; and records that nobody needs any more are taken off.
func TestRecover(t *testing.T) {
	w := newWorld()
	w.node("on-a", "c4", holding(pods("p", 2, "1")...), recorded(memberOf("on", 0, 1)))
	w.node("on-b", "c4", recorded(memberOf("on", 1, 1)), func(n *scheduling.Node) { n.Object.Spec.Taints = []corev1.Taint{v1.DisruptedTaint()} })
	w.node("on-new", "c4", coming(registered), recorded(replacementOf("on", 0, 1)))
	w.node("back-a", "c4", recorded(memberOf("back", 0, 2)), func(n *scheduling.Node) { n.Object.Spec.Taints = []corev1.Taint{v1.DisruptedTaint()} })
	w.node("back-new", "c4", coming(registered), recorded(replacementOf("back", 1, 2)))
	w.node("delete-a", "c4", recorded(memberOf("delete", 0, 0)))
	gone := func(n *scheduling.Node) { n.Claim.DeletionTimestamp = &metav1.Time{Time: now()} }
	w.node("drained", "c4", recorded(memberOf("drains", 0, 1)), gone)
	w.node("ended", "c4", recorded(replacementOf("ended", 0, 1)))
	w.node("broken", "c4", func(n *scheduling.Node) { annotate(n.Claim, "{") })
	w.node("stray", "c4", func(n *scheduling.Node) { n.Object.Spec.Taints = []corev1.Taint{v1.DisruptedTaint()} })

	found := disruption.Recover(disruption.ViewOf(w.snapshot))
	var states []string
	for _, c := range found.Commands {
		cmd := c.Execution.Command()
		states = append(states, fmt.Sprintf("%s %s %v %d", cmd.ID, c.Execution.State(), cmd.Nodes(), len(slices.DeleteFunc(c.Replacements, func(c *v1.NodeClaim) bool { return c == nil }))))
	}
	if diff := cmp.Diff([]string{"back Undoing [back-a] 1", "delete Undoing [delete-a] 0", "on Tainting [on-a on-b] 1"}, states); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	var effects []string
	for _, e := range found.Effects {
		effects = append(effects, e.String())
	}
	if diff := cmp.Diff([]string{
		"take command off nodeclaim claim-ended", "take command off nodeclaim claim-broken", "untaint node stray",
	}, effects); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	if len(found.Draining) != 1 || found.Draining[0].Nodes()[0] != "drained" {
		t.Errorf("draining %v", found.Draining)
	}
	on := found.Commands[2].Execution
	if cmd := on.Command(); cmd.Pods() != 2 || cmd.Savings != 0.4 || cmd.Replacements[0].Pool != v1.NewPoolKey("default") {
		t.Errorf("%+v", cmd)
	}
	if step := on.Next(disruption.Observed{}, now().Add(9*time.Minute+time.Second)); !errors.Is(step.Err, disruption.ErrTimeout) {
		t.Errorf("nine minutes after it was found, ten after it began: %s, %v", step.State, step.Err)
	}
	if step := found.Commands[1].Execution.Next(disruption.Observed{}, now()); !errors.Is(step.Err, disruption.ErrInterrupted) {
		t.Errorf("taken back: %s, %v", step.State, step.Err)
	}
}

// DIS-191: a record that somebody edited does not make a command that never ends.
func TestRecoverWithoutStart(t *testing.T) {
	w := newWorld()
	r := memberOf("x", 0, 1)
	r.Started = time.Time{}
	w.node("a", "c4", recorded(r))
	w.node("b", "c4", coming(registered), recorded(replacementOf("x", 0, 1)))
	e := disruption.Recover(disruption.ViewOf(w.snapshot)).Commands[0].Execution
	if step := e.Next(disruption.Observed{}, now().Add(9*time.Minute)); step.State.Final() && errors.Is(step.Err, disruption.ErrTimeout) {
		t.Errorf("after nine minutes: %s, %v", step.State, step.Err)
	}
	e = disruption.Recover(disruption.ViewOf(w.snapshot)).Commands[0].Execution
	if step := e.Next(disruption.Observed{}, now().Add(11*time.Minute)); !errors.Is(step.Err, disruption.ErrTimeout) {
		t.Errorf("after eleven minutes: %s, %v", step.State, step.Err)
	}
}

// DIS-191: a process whose clock was ahead has neither a command wait for longer than others nor budgets remember what it started for
// longer: what was to happen later than now has happened now.
func TestRecoverFromAClockAhead(t *testing.T) {
	w := newWorld()
	later := func(r disruption.Record) disruption.Record {
		r.Planned, r.Started = now().Add(24*time.Hour), now().Add(24*time.Hour)
		return r
	}
	w.node("a", "c4", recorded(later(memberOf("x", 0, 1))))
	w.node("b", "c4", coming(registered), recorded(later(replacementOf("x", 0, 1))))
	h := disruption.History{startedFor("earlier", "x", time.Hour), startedFor("later", "y", -24*time.Hour)}
	w.pool("default").Annotations = map[string]string{v1.DisruptionHistoryAnnotationKey: h.Annotation(v1.NewPoolKey("default"))}
	found := disruption.Recover(disruption.ViewOf(w.snapshot))
	if step := found.Commands[0].Execution.Next(disruption.Observed{}, now().Add(11*time.Minute)); !errors.Is(step.Err, disruption.ErrTimeout) {
		t.Errorf("after eleven minutes: %s, %v", step.State, step.Err)
	}
	if h := found.History; len(h) != 2 || !h[0].Time.Equal(now().Add(-time.Hour)) || !h[1].Time.Equal(now()) {
		t.Errorf("history %+v", h)
	}
}

// Nothing is adopted, or taken back as a member, that was not written for the NodeClaim that bears it: copies of a NodeClaim with its
// annotations, as backups have them, records that were edited, and nodes that were there before.
func TestRecoverTrustsNoForeignRecord(t *testing.T) {
	edited := func(change func(*disruption.Record), options ...nodeOption) nodeOption {
		return func(n *scheduling.Node) {
			r := replacementOf("x", 0, 1)
			change(&r)
			recorded(r)(n)
			for _, o := range options {
				o(n)
			}
		}
	}
	same := func(*disruption.Record) {}
	for name, c := range map[string]struct {
		new   []nodeOption
		goes  string
		clear []string
	}{
		"as written":       {[]nodeOption{edited(same)}, "Tainting", nil},
		"another digest":   {[]nodeOption{edited(func(r *disruption.Record) { r.Digest = "0" })}, "Undoing", []string{"claim-new-0"}},
		"another plan":     {[]nodeOption{edited(func(r *disruption.Record) { r.Planned = r.Planned.Add(time.Second) })}, "Undoing", []string{"claim-new-0"}},
		"of more members":  {[]nodeOption{edited(func(r *disruption.Record) { r.Members++ })}, "Undoing", []string{"claim-new-0"}},
		"of another place": {[]nodeOption{edited(func(r *disruption.Record) { r.Index, r.Replacements = 1, 2 })}, "Undoing", []string{"claim-new-0"}},
		"another method":   {[]nodeOption{edited(func(r *disruption.Record) { r.Method = disruption.MethodDrift })}, "Undoing", []string{"claim-new-0"}},
		"of another pool": {[]nodeOption{edited(same, func(n *scheduling.Node) {
			n.Object.Labels[v1.NodePoolLabelKey] = "other"
		})}, "Undoing", []string{"claim-new-0"}},
		"older than its command": {[]nodeOption{edited(same, func(n *scheduling.Node) {
			n.Claim.CreationTimestamp = metav1.NewTime(now().Add(-time.Hour))
		})}, "Undoing", []string{"claim-new-0"}},
		"a clock that is late": {[]nodeOption{edited(same, func(n *scheduling.Node) {
			n.Claim.CreationTimestamp = metav1.NewTime(now().Add(-4 * time.Minute))
		})}, "Tainting", nil},
		"two for one place":      {[]nodeOption{edited(same), edited(same)}, "Undoing", []string{"claim-new-0", "claim-new-1"}},
		"one of them is leaving": {[]nodeOption{edited(same), edited(same, func(n *scheduling.Node) { n.Claim.DeletionTimestamp = &metav1.Time{Time: now()} })}, "Tainting", nil},
		"a foreign one as well":  {[]nodeOption{edited(same), edited(func(r *disruption.Record) { r.Digest = "0" })}, "Tainting", []string{"claim-new-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.pool("other")
			w.node("old", "c4", recorded(memberOf("x", 0, 1)))
			w.node("copy", "c4", recorded(memberOf("x", 1, 1)), func(n *scheduling.Node) {
				n.Claim.UID = "of the copy"
				n.Object.Spec.Taints = []corev1.Taint{v1.DisruptedTaint()}
			})
			for i, o := range c.new {
				w.node(fmt.Sprintf("new-%d", i), "c4", coming(registered), o)
			}
			found := disruption.Recover(disruption.ViewOf(w.snapshot))
			if len(found.Commands) != 1 {
				t.Fatalf("%d commands", len(found.Commands))
			}
			e := found.Commands[0].Execution
			if nodes := e.Command().Nodes(); string(e.State()) != c.goes || !slices.Equal(nodes, []string{"old"}) {
				t.Errorf("%s of %v, want %s of the one that it was written for", e.State(), nodes, c.goes)
			}
			want := []string{"untaint node copy", "take command off nodeclaim claim-copy"}
			for _, claim := range c.clear {
				want = append(want, "take command off nodeclaim "+claim)
			}
			var got []string
			for _, effect := range found.Effects {
				got = append(got, effect.String())
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// Members that do not agree on what they are members of are given back, all of them.
func TestRecoverOfMembersThatDisagree(t *testing.T) {
	w := newWorld()
	other := memberOf("x", 1, 1)
	other.Digest = "0"
	w.node("a", "c4", recorded(memberOf("x", 0, 1)))
	w.node("b", "c4", recorded(other))
	w.node("new", "c4", coming(registered), recorded(replacementOf("x", 0, 1)))
	found := disruption.Recover(disruption.ViewOf(w.snapshot))
	if len(found.Commands) != 1 || found.Commands[0].Execution.State() != disruption.StateUndoing || len(found.Commands[0].Execution.Command().Members) != 2 {
		t.Errorf("%+v", found.Commands)
	}
}

// What executions write is what Recover trusts: members' UIDs, the replacement's pool, and one digest.
func TestRecordsAreOfOneCommand(t *testing.T) {
	cmd := &disruption.Command{
		ID: "x", Method: disruption.MethodDrift, Reason: disruption.ReasonDrifted, Members: []disruption.Member{{Node: "n", Claim: "c", UID: "u"}},
		Replacements: []disruption.Replacement{{Pool: v1.NewPoolKey("p"), Static: true}},
	}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	o := disruption.Observed{Members: map[string]disruption.MemberState{"n": {Node: node, Claim: claim}}}
	e, records := disruption.Execute(cmd), []*disruption.Record{}
	for range 3 {
		for _, effect := range e.Next(o, now()).Effects {
			text := ""
			switch x := effect.(type) {
			case disruption.WriteRecord:
				text = x.Record
				annotate(claim, text)
			case disruption.LaunchReplacement:
				text = x.Record
			case disruption.TaintNode:
				v1.MarkerTaint.Mark(node)
			case disruption.SetReason:
				claim.Conditions().Set(v1.ConditionDisruptionReason, "True", string(x.Reason), "", now())
			}
			if text != "" {
				r, err := disruption.RecordOf(&v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1.DisruptionCommandAnnotationKey: text}}})
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, r)
			}
		}
	}
	if len(records) != 2 || records[0].UID != "u" || records[1].Pool != v1.NewPoolKey("p").String() || records[0].Digest != cmd.Digest() || records[1].Digest != cmd.Digest() {
		t.Errorf("%+v", records)
	}
}

// DIS-184: a command that was found is busy with its members, and another may have none of them.
func TestAdopt(t *testing.T) {
	w := newWorld()
	w.node("a", "c4", recorded(memberOf("x", 0, 0)))
	found := disruption.Recover(disruption.ViewOf(w.snapshot))
	var q disruption.Queue
	if err := q.Adopt(found.Commands[0].Execution); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "x"}, q.Executing()); diff != "" {
		t.Error(diff)
	}
	var busy *disruption.BusyError
	if err := q.Adopt(disruption.Recover(disruption.ViewOf(w.snapshot)).Commands[0].Execution); !errors.As(err, &busy) {
		t.Errorf("adopted twice: %v", err)
	}
}

// A record of a command is small however large the command is, and comes back as it was.
func TestRecord(t *testing.T) {
	cmd := &disruption.Command{ID: strings.Repeat("f", 16), Method: disruption.MethodMultiNode, Reason: disruption.ReasonUnderutilized, Planned: now(), NotBefore: now(), Wave: 10, Waves: 12}
	o := disruption.Observed{Members: map[string]disruption.MemberState{}}
	for i := range 5000 {
		node := fmt.Sprintf("%s-%d", strings.Repeat("n", 250), i)
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: node, UID: types.UID(node)}}
		cmd.Members = append(cmd.Members, disruption.Member{Node: node, Claim: node, UID: claim.UID, Price: 1.0 / 3, Cost: 1.0 / 7})
		o.Members[node] = disruption.MemberState{Claim: claim}
	}
	step := disruption.Execute(cmd).Next(o, now())
	if len(step.Effects) != 5000 {
		t.Fatalf("%d effects", len(step.Effects))
	}
	for i, e := range step.Effects {
		w := e.(disruption.WriteRecord)
		if len(w.Record) > 1024 {
			t.Fatalf("%d bytes: %s", len(w.Record), w.Record)
		}
		claim := o.Members[cmd.Members[i].Node].Claim
		annotate(claim, w.Record)
		r, err := disruption.RecordOf(claim)
		if err != nil || r.Index != i || r.String() != w.Record || r.Wave != 10 || !r.Started.Equal(now()) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	for _, bad := range []string{"{", "{}", `{"id":"x","role":"friend"}`, `{"id":"x","role":"replacement","index":3,"replacements":2}`, `{"id":"x","role":"member","index":-1}`} {
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
		annotate(claim, bad)
		var fault *disruption.RecordError
		if _, err := disruption.RecordOf(claim); !errors.As(err, &fault) || fault.Claim != "n" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
