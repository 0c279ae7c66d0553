package disruption_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// told is "Reason Kind/name", sorted.
func told(list []disruption.Event) []string {
	var out []string
	for _, e := range list {
		s := fmt.Sprintf("%s %s/%s", e.Reason, e.Kind, e.Name)
		if e.Warning {
			s = "Warning " + s
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// twice is the event of a reason on a node and on its claim.
func twice(reason, node string) []string {
	return []string{reason + " Node/" + node, reason + " NodeClaim/claim-" + node}
}

// DIS-048, DIS-080, DIS-100, DIS-101, DIS-103, DIS-281: what operators hear of nodes that stay, and what they need not hear.
func TestPlanEvents(t *testing.T) {
	for name, c := range map[string]struct {
		make  func(*world)
		want  []string
		says  string
		every time.Duration
	}{
		"DIS-048 no candidate": {func(w *world) {
			w.node("n", "c4", annotated(v1.DoNotDisruptAnnotationKey, "true"))
		}, twice("DisruptionBlocked", "n"), "the node bears the annotation", 0},
		"DIS-048, DIS-049: one that a command removes is no news": {func(w *world) {
			w.node("n", "c4")
			w.input.Executing = map[string]string{"n": "c"}
		}, nil, "", 0},
		"DIS-050 nor is one that nobody here made": {func(w *world) { w.node("n", "c4", holding(pods("p", 3, "1")...)).Claim = nil }, nil, "", 0},
		"DIS-080 Never": {func(w *world) {
			w.pool("default", after("Never"))
			w.node("n", "c4")
		}, twice("Unconsolidatable", "n"), "consolidateAfter of its nodepool is Never", 15 * time.Minute},
		"DIS-080 placeholders": {func(w *world) {
			w.node("n", "c4")
			w.input.Buffered = map[string]bool{"n": true}
		}, twice("Unconsolidatable", "n"), "capacity buffers", 15 * time.Minute},
		"DIS-100 no type": {func(w *world) { w.node("n", "c5", holding(pods("p", 3, "1")...)) },
			twice("Unconsolidatable", "n"), `no instance type "c5"`, 15 * time.Minute},
		"DIS-103 WhenEmpty": {func(w *world) {
			w.pool("default", policy(v1.ConsolidationPolicyWhenEmpty))
			w.node("n", "c4", holding(pods("p", 3, "1")...))
		}, twice("Unconsolidatable", "n"), "WhenEmpty", 15 * time.Minute},
		"DIS-137 many": {func(w *world) {
			onlyTypes(instanceType("c8", 8, "on-demand=0.8"), instanceType("c4", 4, "on-demand=0.1"))(w)
			w.snapshot.Catalogs["all"][0].Offerings[0].Available = false
			w.snapshot.Catalogs["all"][0].Offerings[1].Available = false
			w.node("n", "c8", holding(pods("p", 2, "3")...))
		}, twice("Unconsolidatable", "n"), "2 new nodes", 15 * time.Minute},
		"DIS-094 drift without a place": {func(w *world) {
			w.pool("default", policy(v1.ConsolidationPolicyWhenEmpty))
			w.node("n", "c4", drifted(time.Hour), labelled("only", "here"), holding(pod("p", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"only": "here"} })))
		}, append(twice("DisruptionBlocked", "n"), twice("Unconsolidatable", "n")...), "pods would have no place: default/p", 0},
		"DIS-099 a static pool's nodes stay, silently": {func(w *world) {
			w.pool("default", replicas(1))
			w.node("n", "c4", holding(pods("p", 1, "1")...))
		}, nil, "", 0},
		"DIS-104 so does one whose time has not come": {func(w *world) {
			w.pool("default", after("2h"))
			w.node("n", "c4", holding(pods("p", 1, "1")...))
			w.nodeState("n", func(m *cluster.NodeState) { m.LastPodEvent = now().Add(-time.Hour) })
		}, nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			c.make(w)
			f := w.fleet(t)
			p, err := (&disruption.Reference{}).Plan(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			list := p.Events(f)
			if diff := cmp.Diff(c.want, told(list)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if len(list) > 0 && (!strings.Contains(list[0].Message, c.says) || option.Or(list[0].Every, 0) != c.every) {
				t.Errorf("%q every %s, want %q every %s", list[0].Message, option.Or(list[0].Every, 0), c.says, c.every)
			}
		})
	}
}

// DIS-143, DIS-173: a command of consolidation is told of on its members, with what it saves; where a Balanced pool had to
// approve, the score too: on node and claim for one member, on the pool for several. Emptiness says nothing before it acts.
func TestCommandEvents(t *testing.T) {
	balanced := policy(v1.ConsolidationPolicyBalanced)
	events := func(w *world) []disruption.Event {
		f := w.fleet(t)
		p, err := (&disruption.Reference{}).Plan(context.Background(), f)
		if err != nil || len(p.Commands) != 1 {
			t.Fatal(p, err)
		}
		return p.Events(f)
	}
	w := newWorld()
	w.node("n", "c16", holding(pods("p", 3, "1")...))
	list := events(w)
	if diff := cmp.Diff(twice("ConsolidationCandidate", "n"), told(list)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := "replace n (Underutilized), launch c4/a/on-demand of default, moving 3 pods, saving 0.6000 USD/h"; list[0].Message != text || list[0].Identity != text {
		t.Errorf("%q, identity %q", list[0].Message, list[0].Identity)
	}
	w.pool("default", balanced)
	list = events(w)
	if diff := cmp.Diff(append(twice("ConsolidationApproved", "n"), twice("ConsolidationCandidate", "n")...), told(list)); diff != "" {
		t.Errorf("Balanced (-want +got):\n%s", diff)
	}
	if text := "score 0.750 of nodepool default reaches 0.500 (k=2): 75.00% of its cost saved for 100.00% of its disruption"; !strings.HasPrefix(list[2].Message, text) {
		t.Errorf("%q", list[2].Message)
	}
	w = newWorld()
	w.pool("default", balanced)
	for _, name := range []string{"a", "b"} {
		w.node(name, "c4", holding(pods(name, 1, "500m")...))
	}
	w.pool("other")
	w.node("room", "c4", ofPool("other"), annotated(v1.DoNotDisruptAnnotationKey, "true"))
	list = slices.DeleteFunc(events(w), func(e disruption.Event) bool { return e.Reason == disruption.EventDisruptionBlocked })
	want := append([]string{"ConsolidationApproved NodePool/default"}, "ConsolidationCandidate Node/a", "ConsolidationCandidate Node/b",
		"ConsolidationCandidate NodeClaim/claim-a", "ConsolidationCandidate NodeClaim/claim-b")
	if diff := cmp.Diff(want, told(list)); diff != "" {
		t.Errorf("several (-want +got):\n%s", diff)
	}
	w = newWorld()
	w.node("n", "c4")
	if list := events(w); len(list) != 0 {
		t.Errorf("emptiness reports %q", told(list))
	}
}

// DIS-114, DIS-120: a command that is void is told of with the category, whatever method found it: of several nodes too.
func TestRejectionEvents(t *testing.T) {
	cmd := &disruption.Command{Method: disruption.MethodMultiNode, Members: []disruption.Member{{Node: "a", Claim: "claim-a"}, {Node: "b", Claim: "claim-b"}}}
	void := &disruption.RejectedError{Category: disruption.RejectedBudget, Node: "b", Block: &disruption.Block{Code: disruption.BlockNominated}}
	list := cmd.RejectionEvents(fmt.Errorf("%w: %w", disruption.ErrVoid, void))
	want := append(twice("ConsolidationRejected", "a"), twice("ConsolidationRejected", "b")...)
	slices.Sort(want)
	if diff := cmp.Diff(want, told(list)); diff != "" || list[0].Identity != "budget" || !strings.HasPrefix(list[0].Message, "budget: ") {
		t.Errorf("%+v\n%s", list, diff)
	}
	if list := cmd.RejectionEvents(errors.New("who knows")); list[0].Message != "unknown: who knows" {
		t.Errorf("%q", list[0].Message)
	}
	if list := cmd.RejectionEvents(nil); list != nil {
		t.Errorf("without an error %q", told(list))
	}
	cmd.Method = disruption.MethodDrift
	if list := cmd.RejectionEvents(void); list != nil {
		t.Errorf("drift reports %q", told(list))
	}
}

// DIS-208: a pool that has nodes, none of which its budgets let go, hears so for each reason.
func TestPoolBlockedEvents(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "0", Reasons: []v1.DisruptionReason{v1.DisruptionReasonDrifted, v1.DisruptionReasonEmpty}}, v1.Budget{Nodes: "10%"}))
	w.pool("without nodes", budgets(v1.Budget{Nodes: "0"}))
	w.fill("n", 3)
	_, l := w.tracker(t)
	var got []string
	for _, e := range l.Events() {
		got = append(got, fmt.Sprintf("%s/%s %s %s", e.Kind, e.Name, e.Identity, option.Or(e.Every, 0)))
	}
	if diff := cmp.Diff([]string{"NodePool/default Empty 1m0s", "NodePool/default Drifted 1m0s"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// DIS-033, DIS-281; DIS-319 scenario 2: what a pod's owner hears of its annotation.
func TestProtectionEvents(t *testing.T) {
	for name, c := range map[string]struct {
		value    string
		age      time.Duration
		want     string
		identity string
	}{
		"DIS-319 scenario 2: false is no value, and warned of": {"false", 0, "Warning InvalidDoNotDisruptAnnotation Pod/p", "*"},
		"DIS-033 while it protects":                            {"2h", 119 * time.Minute, "DoNotDisruptUntil Pod/p", "2026-05-04T10:01:00Z"},
		"DIS-033 once it has elapsed":                          {"2h", 2 * time.Hour, "DoNotDisruptGracePeriodElapsed Pod/p", ""},
		"DIS-033 true says all":                                {"true", 0, "", ""},
		"DIS-032 zero":                                         {"0s", 0, "Warning InvalidDoNotDisruptAnnotation Pod/p", "*"},
	} {
		t.Run(name, func(t *testing.T) {
			list := disruption.ProtectionEvents(pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, c.value), started(c.age)), now())
			if got := strings.Join(told(list), ";"); got != c.want {
				t.Fatalf("%q, want %q", got, c.want)
			}
			if len(list) == 0 {
				return
			}
			if e := list[0]; e.Namespace != "default" || e.UID != "p" || e.Identity != c.identity && (c.identity != "*" || e.Identity != e.Message) {
				t.Errorf("%+v", e)
			}
		})
	}
	if list := disruption.ProtectionEvents(pod("p"), now()); list != nil {
		t.Errorf("without the annotation: %q", told(list))
	}
}

// DIS-266, DIS-281: that nothing is repaired is told on the node, its claim and its pool, each under its own kind.
func TestRepairBlockedEvents(t *testing.T) {
	list, claim := unhealthyNodes(3, 2, time.Hour)
	step := disruption.Repair(disruption.RepairState{Node: list[0], Claim: claim, Policies: []cloudprovider.RepairPolicy{repairPolicies()[0]}, Nodes: list}, now())
	events := step.Block.Events(list[0], claim)
	want := []string{"Warning NodeRepairBlocked Node/n-00", "Warning NodeRepairBlocked NodeClaim/claim-n-00", "Warning NodeRepairBlocked NodePool/default"}
	if diff := cmp.Diff(want, told(events)); diff != "" || option.Or(events[0].Every, 0) != 15*time.Minute {
		t.Errorf("every %s (-want +got):\n%s", option.Or(events[0].Every, 0), diff)
	}
}

// DIS-189, DIS-192, DIS-280, DIS-281: events of commands under way distinguish their reasons, and nothing else: what their
// message says does not have them told more often than every two minutes.
func TestExecutionEvents(t *testing.T) {
	cmd, s := newStage(1, 1)
	e := disruption.Execute(cmd)
	s.run(e, disruption.StateWaiting)
	s.step(e)
	step := s.step(e)
	if len(step.Events) != 1 || step.Events[0].Kind != "NodeClaim" || step.Events[0].Name != "new-0" || step.Events[0].Identity != "Underutilized" || step.Events[0].Every != nil || disruption.DefaultEventInterval != 2*time.Minute {
		t.Errorf("%+v", step.Events)
	}
	s.initialize(0)
	if diff := cmp.Diff(twice("DisruptionTerminating", "n0"), told(s.step(e).Events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
