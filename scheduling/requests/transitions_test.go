package requests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	apiv1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

const (
	check  = v1.ClassCheckCapacity
	atomic = v1.ClassBestEffortAtomicScaleUp

	found    = "+Accepted(Accepted) +Provisioned(CapacityIsFound)"
	notFound = "+Accepted(Accepted) -Provisioned(CapacityIsNotFound)"
	coming   = "+Accepted(Accepted) -Provisioned(CapacityIsBeingProvisioned)"
	expired  = " +BookingExpired(CapacityReservationTimeExpired)"
	failed   = " +Failed(Expired)"
	lost     = " +BookingExpired(CapacityIsLost)"
	revoked  = " +CapacityRevoked(CapacityIsLost)"
)

// Each way from one state of a request to the next, in the order in which they are gone.
func TestTransitions(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(w *world)
		// want is the state of the request "r", and nodes how many are launched in the last round.
		want  string
		nodes int
	}{
		{"check: found", func(w *world) { w.ask("r", check, 4); w.turn() }, found, 0},
		{"check: found, and again", func(w *world) { w.ask("r", check, 4); w.turn().after(time.Minute).turn() }, found, 0},
		{"check: not found", func(w *world) { w.ask("r", check, 5); w.turn() }, notFound, 0},
		{"check: not found, then found", func(w *world) { w.ask("r", check, 5); w.turn(); w.addNode("n3"); w.turn() }, found, 0},
		{"check: not found, no retry", func(w *world) { w.ask("r", check, 5, v1.ParameterNoRetry, "true"); w.turn() }, notFound + " +Failed(CapacityIsNotFound)", 0},
		{"check: not found, no retry: not tried again", func(w *world) {
			w.ask("r", check, 5, v1.ParameterNoRetry, "true")
			w.turn()
			w.addNode("n3")
			w.turn()
		}, notFound + " +Failed(CapacityIsNotFound)", 0},
		{"check: not found in a week", func(w *world) { w.ask("r", check, 5); w.turn().after(v1.DefaultValidFor).turn() }, notFound + failed, 0},
		{"check: not found in almost a week", func(w *world) { w.ask("r", check, 5); w.turn().after(v1.DefaultValidFor - time.Second).turn() }, notFound, 0},
		{"check: not found in its time", func(w *world) {
			w.ask("r", check, 5, v1.ParameterValidUntilSeconds, "60")
			w.turn().after(time.Minute).turn()
		}, notFound + failed, 0},
		{"check: tried once at least", func(w *world) { w.ask("r", check, 4, v1.ParameterValidUntilSeconds, "0"); w.after(time.Hour).turn() }, found, 0},
		{"check: tried once at least, not found", func(w *world) { w.ask("r", check, 5, v1.ParameterValidUntilSeconds, "0"); w.after(time.Hour).turn() }, notFound + failed, 0},
		{"check: booking expires", func(w *world) { w.ask("r", check, 4); w.turn().after(10 * time.Minute).turn() }, found + expired, 0},
		{"check: booking expires not yet", func(w *world) { w.ask("r", check, 4); w.turn().after(10*time.Minute - time.Second).turn() }, found, 0},
		{"check: booking expired stays so", func(w *world) {
			w.ask("r", check, 4)
			w.turn().after(10 * time.Minute).turn().after(v1.DefaultValidFor).turn()
		}, found + expired, 0},
		{"check: a node with booked room goes, another has room", func(w *world) {
			w.ask("r", check, 2)
			w.turn()
			w.in.Snapshot.Nodes = w.in.Snapshot.Nodes[1:]
			w.turn()
		}, found, 0},
		{"check: a node with booked room goes", func(w *world) {
			w.ask("r", check, 4)
			w.turn()
			w.in.Snapshot.Nodes = w.in.Snapshot.Nodes[1:]
			w.turn()
		}, found + lost, 0},
		{"check: a node with booked room is cordoned", func(w *world) {
			w.ask("r", check, 4)
			w.turn()
			n := w.in.Snapshot.Nodes[0].Object.DeepCopy()
			n.Spec.Unschedulable, n.Spec.Taints = true, []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
			w.in.Snapshot.Nodes[0].Object = n
			w.turn()
		}, found + lost, 0},
		{"check: others take booked room", func(w *world) {
			w.ask("r", check, 4)
			w.turn().bind("n1", build.Pod("other", build.CPU("1")))
			w.turn()
		}, found + lost, 0},
		{"check: a request that lost its room books nothing", func(w *world) {
			w.ask("r", check, 4)
			w.turn().bind("n1", build.Pod("other", build.CPU("1")))
			w.turn()
			w.ask("s", check, 1)
			w.turn()
			w.wantState("s", found)
		}, found + lost, 0},
		{"check: others take booked room that pods of the request use", func(w *world) {
			w.ask("r", check, 4)
			w.turn().bind("n1", build.Pod("other", build.CPU("1")))
			w.in.Snapshot.Pods = []*corev1.Pod{worker("w", "r")}
			w.turn()
		}, found + revoked, 0},
		{"atomic: others take booked room that pods of the request use", func(w *world) {
			w.withPool("100").ask("r", atomic, 4)
			w.turn().bind("n1", build.Pod("other", build.CPU("1")))
			w.in.Snapshot.Pods = []*corev1.Pod{worker("w1", "r"), worker("w2", "r"), worker("w3", "r"), worker("w4", "r")}
			w.turn()
		}, found + lost, 1},
		{"check: the template goes", func(w *world) { w.ask("r", check, 4); w.turn(); w.in.PodTemplates = nil; w.turn() }, found + " +BookingExpired(PodTemplateNotFound)", 0},
		{"no template yet", func(w *world) { w.in.PodTemplates = nil; w.ask("r", check, 4); w.turn() }, "-Accepted(PodTemplateNotFound)", 0},
		{"no template yet, then one", func(w *world) {
			templates := w.in.PodTemplates
			w.in.PodTemplates = nil
			w.ask("r", check, 4)
			w.turn()
			w.in.PodTemplates = templates
			w.turn()
		}, found, 0},
		{"no template in its time", func(w *world) {
			w.in.PodTemplates = nil
			w.ask("r", check, 4)
			w.turn().after(v1.DefaultValidFor).turn()
		}, "-Accepted(PodTemplateNotFound)" + failed, 0},
		{"no sense", func(w *world) { w.ask("r", check, 0); w.turn() }, "+Failed(FailedToCreatePods)", 0},
		{"no sense in a parameter", func(w *world) { w.ask("r", check, 1, v1.ParameterValidUntilSeconds, "soon"); w.turn() }, "+Failed(FailedToCreatePods)", 0},
		{"too many pods", func(w *world) { w.ask("r", check, 50_001); w.turn() }, "+Failed(FailedToCreatePods)", 0},
		{"another class", func(w *world) { w.ask("r", "queued.example.com", 1); w.turn() }, "", 0},
		{"being deleted", func(w *world) { r := w.ask("r", check, 1); r.DeletionTimestamp = &r.CreationTimestamp; w.turn() }, "", 0},

		{"atomic: found", func(w *world) { w.withPool("100").ask("r", atomic, 4); w.turn() }, found, 0},
		{"atomic: launched", func(w *world) { w.withPool("100").ask("r", atomic, 8); w.turn() }, coming, 2},
		{"atomic: on their way", func(w *world) { w.withPool("100").ask("r", atomic, 8); w.turn(); w.launch(); w.turn() }, coming, 0},
		{"atomic: provisioned", func(w *world) {
			w.withPool("100").ask("r", atomic, 8)
			w.turn()
			w.launch()
			w.turn()
			w.initialize()
			w.turn()
		}, "+Accepted(Accepted) +Provisioned(CapacityIsProvisioned)", 0},
		{"atomic: provisioned, then expired", func(w *world) {
			w.withPool("100").ask("r", atomic, 8)
			w.turn()
			w.launch()
			w.initialize()
			w.after(time.Minute).turn().after(10 * time.Minute).turn()
		}, "+Accepted(Accepted) +Provisioned(CapacityIsProvisioned)" + expired, 0},
		{"atomic: one of two nodes does not come", func(w *world) {
			w.withPool("100").ask("r", atomic, 8)
			w.turn()
			w.launch()
			w.in.Snapshot.Nodes = w.in.Snapshot.Nodes[:3]
			w.turn()
		}, coming, 1},
		{"atomic: beyond the limit", func(w *world) { w.withPool("4").ask("r", atomic, 8); w.turn() }, notFound, 0},
		{"atomic: beyond the limit, no retry", func(w *world) { w.withPool("4").ask("r", atomic, 8, v1.ParameterNoRetry, "true"); w.turn() }, notFound + " +Failed(CapacityIsNotFound)", 0},
		{"atomic: on their way, no retry", func(w *world) {
			w.withPool("100").ask("r", atomic, 8, v1.ParameterNoRetry, "true")
			w.turn()
			w.launch()
			w.turn()
		}, coming, 0},
		{"atomic: beyond the limit in its time", func(w *world) {
			w.withPool("4").ask("r", atomic, 8, v1.ParameterValidUntilSeconds, "60")
			w.turn().after(time.Minute).turn()
		}, notFound + failed, 0},
		{"atomic: nodes don't come in its time", func(w *world) {
			w.withPool("100").ask("r", atomic, 8, v1.ParameterValidUntilSeconds, "60")
			w.turn()
			w.launch()
			w.after(time.Minute).turn()
		}, coming + failed, 0},
		{"atomic: room is lost, and nothing launched for it", func(w *world) {
			w.withPool("100").ask("r", atomic, 4)
			w.turn()
			w.in.Snapshot.Nodes = w.in.Snapshot.Nodes[1:]
			w.turn()
		}, found + lost, 0},

		{"plan", func(w *world) { w.withPool("100").ask("r", v1.ClassPlan, 8); w.turn() }, "+Accepted(Accepted) -Provisioned(CapacityIsPlanned)", 0},
		{"plan: beyond the limit", func(w *world) { w.withPool("4").ask("r", v1.ClassPlan, 8); w.turn() }, notFound, 0},
		{"plan: over", func(w *world) { w.withPool("100").ask("r", v1.ClassPlan, 8); w.turn().after(v1.DefaultValidFor).turn() }, "+Accepted(Accepted) -Provisioned(CapacityIsPlanned)" + failed, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 2)
			c.run(w)
			w.wantState("r", c.want)
			w.wantLaunched(c.nodes)
		})
	}
}

// launch has the new nodes of the last plan be on their way.
func (w *world) launch() {
	s := *w.in.Snapshot
	s.Nodes = append([]scheduling.Node(nil), s.Nodes...)
	for _, n := range w.plan.NewNodes {
		n.Name = fmt.Sprintf("%s-%d", n.Name, len(s.Nodes))
		claim := build.Claim(n.Name, build.OfPool("p"), build.OfType(large(), "", ""))
		s.Nodes = append(s.Nodes, scheduling.Node{Name: n.Name, Pool: n.Pool, Claim: claim})
	}
	w.in.Snapshot = &s
}

// initialize has all nodes that are on their way be there.
func (w *world) initialize() {
	s := *w.in.Snapshot
	s.Nodes = append([]scheduling.Node(nil), s.Nodes...)
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Object == nil {
			n.Object = build.Node(n.Name, build.OfPool("p"), build.OfType(large(), "", ""), build.Labels(apiv1.NodeRegisteredLabelKey, "true", apiv1.NodeInitializedLabelKey, "true"))
		}
	}
	w.in.Snapshot = &s
}

// What conditions say to people.
func TestMessages(t *testing.T) {
	w := newWorld(t, 2).withPool("4")
	w.ask("check", check, 5)
	w.ask("atomic", atomic, 8)
	w.turn()
	for name, want := range map[string]string{
		"check":  "nodes that are there don't have room for all pods (5): no existing node takes it: of 2 existing nodes, 2 have too little room (n1: 0 cpu free, 2 asked for)",
		"atomic": "6 of 8 members fit",
	} {
		if got := w.request(name).Condition(v1.ConditionProvisioned).Message; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	w = newWorld(t, 2).withPool("100")
	w.ask("atomic", atomic, 8)
	w.turn()
	if got, want := w.request("atomic").Condition(v1.ConditionProvisioned).Message, "of 8 pods 4 have room on nodes that are there, 0 on nodes that are on their way, and 4 on nodes to be launched"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w.in.PodTemplates = nil
	w.ask("none", check, 1)
	w.turn()
	if got, want := w.request("none").Condition(v1.ConditionAccepted).Message, `there is no PodTemplate "worker" in namespace "default" yet`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
