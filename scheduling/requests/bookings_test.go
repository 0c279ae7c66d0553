package requests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/api/option"
	apiv1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// What is booked is named in the status, and is not booked again: neither for other requests, nor for pods.
func TestBookingHoldsRoom(t *testing.T) {
	w := newWorld(t, 2).withPool("100")
	w.ask("r", check, 3)
	w.turn()
	w.wantBooked("r", "n1 2; n2 1")
	if until := w.request("r").Status.ProvisioningClassDetails[v1.DetailBookedUntil]; until != "2026-01-01T12:10:00Z" {
		t.Errorf("booked until %s", until)
	}
	w.ask("s", check, 2)
	w.in.Snapshot.Pods = build.Pods("web", 2, build.CPU("2"))
	w.turn()
	w.wantState("r", found)
	w.wantState("s", notFound) // a pod that waits takes the last place
	w.wantLaunched(1)
	w.after(10 * time.Minute).turn()
	w.wantState("s", found) // what has expired holds nothing, and the pods have places
	w.wantLaunched(0)
}

// The oldest request comes first, whatever the order in which they are given; among those of one time the name decides.
func TestOldestFirst(t *testing.T) {
	w := newWorld(t, 1)
	w.after(time.Minute).ask("a", check, 2)
	w.after(-time.Minute).ask("c", check, 2)
	w.ask("b", check, 2)
	w.after(time.Hour).turn()
	w.wantState("a", notFound)
	w.wantState("b", found)
	w.wantState("c", notFound)
}

// Pods that use a booking take its room: those that wait are nominated for it, and nothing is launched for them.
func TestConsumers(t *testing.T) {
	w := newWorld(t, 2).withPool("100")
	w.ask("r", check, 3)
	w.turn()
	other := build.Pod("other", build.CPU("2"))
	w.in.Snapshot.Pods = []*corev1.Pod{other, worker("w1", "r"), worker("w2", "r"), worker("w3", "r")}
	w.turn()
	w.wantState("r", found)
	w.wantBooked("r", "n1 2; n2 1")
	w.wantLaunched(0)
	var nominated []string
	for _, pod := range w.round.Snapshot.Pods {
		nominated = append(nominated, pod.Name+"@"+pod.Status.NominatedNodeName)
	}
	if diff := cmp.Diff([]string{"other@", "w1@n1", "w2@n1", "w3@n2"}, nominated); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if len(w.round.HeldBack) > 0 || w.in.Snapshot.Pods[1].Status.NominatedNodeName != "" {
		t.Error("a pod is held back, or changed")
	}

	// Bound elsewhere than booked, they let go as much; a further pod has no part in the booking.
	w.in.Snapshot.Pods = []*corev1.Pod{worker("w3", "r"), worker("w4", "r")}
	w.bind("n1", other, worker("w1", "r"))
	w.bind("n2", worker("w2", "r"))
	w.turn()
	w.wantState("r", found)
	if diff := cmp.Diff([]scheduling.PodKey{{Namespace: "default", Name: "w4"}}, w.round.HeldBack); diff != "" {
		t.Errorf("held back (-want +got):\n%s", diff)
	}
	if len(w.plan.Existing) != 1 || w.plan.Existing[0].Name != "n2" {
		t.Errorf("w3 is at %+v", w.plan.Existing)
	}
	w.wantLaunched(0)
}

// The annotation's older name counts too, and pods that have ended don't. Pods of a request that is over, or of another
// class, are planned like any pod.
func TestWhoIsHeldBack(t *testing.T) {
	w := newWorld(t, 0).withPool("100")
	w.ask("check", check, 9, v1.ParameterNoRetry, "true")
	w.ask("atomic", atomic, 1, v1.ParameterValidUntilSeconds, "0")
	w.turn()
	w.in.Snapshot.Pods = []*corev1.Pod{
		worker("a", "check"), build.Pod("b", build.CPU("2"), build.Annotations(v1.ConsumeAnnotationKeyOld, "check")),
		worker("c", "atomic"), worker("d", "none"), worker("e", "check", build.Namespace("other")),
	}
	w.turn()
	var names []string
	for _, key := range w.round.HeldBack {
		names = append(names, key.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("held back (-want +got):\n%s", diff)
	}
	w.wantLaunched(2)
}

// Pods that use a request before it is provisioned count as its pods: their nodes are not launched twice.
func TestEarlyConsumers(t *testing.T) {
	w := newWorld(t, 0).withPool("100")
	w.ask("r", atomic, 4)
	w.in.Snapshot.Pods = []*corev1.Pod{worker("w1", "r"), worker("w2", "r"), worker("w3", "r")}
	w.turn()
	w.wantState("r", coming)
	w.wantLaunched(2)
	w.launch()
	w.initialize()
	w.turn()
	w.wantState("r", "+Accepted(Accepted) +Provisioned(CapacityIsProvisioned)")
	w.wantLaunched(0)

	// Those of another gang are planned with that.
	w = newWorld(t, 0).withPool("100")
	w.ask("r", atomic, 4)
	w.in.Snapshot.Pods = []*corev1.Pod{worker("w1", "r"), worker("w2", "r")}
	w.in.Snapshot.Gangs = []scheduling.Gang{{Namespace: "default", Name: "g", Members: []scheduling.PodKey{{Namespace: "default", Name: "w1"}, {Namespace: "default", Name: "w2"}}}}
	w.turn()
	w.wantLaunched(2)
}

// Members of a gang that use a booking take its room, too.
func TestGangConsumes(t *testing.T) {
	w := newWorld(t, 2).withPool("100")
	w.ask("r", check, 4)
	w.turn()
	g := scheduling.Gang{Namespace: "default", Name: "g"}
	for i := range 4 {
		pod := worker(fmt.Sprintf("w%d", i), "r")
		w.in.Snapshot.Pods = append(w.in.Snapshot.Pods, pod)
		g.Members = append(g.Members, scheduling.PodKey{Namespace: "default", Name: pod.Name})
	}
	w.in.Snapshot.Pods = append(w.in.Snapshot.Pods, build.Pod("other", build.CPU("2"), build.Priority(10)))
	w.in.Snapshot.Gangs = []scheduling.Gang{g}
	w.turn()
	w.wantState("r", found)
	for _, node := range w.plan.Existing {
		for _, key := range node.Pods {
			if key.Name == "other" {
				t.Errorf("another pod takes booked room: %+v", w.plan.Existing)
			}
		}
	}
	w.wantLaunched(1)
}

// Of several PodSets each pod is of the one that it is like.
func TestPodSets(t *testing.T) {
	w := newWorld(t, 2)
	w.in.PodTemplates = append(w.in.PodTemplates, template("leader", "cpu", "3"))
	r := w.ask("r", check, 2)
	r.Spec.PodSets = append(r.Spec.PodSets, v1.PodSet{PodTemplateRef: v1.Reference{Name: "leader"}, Count: 1})
	w.turn()
	w.wantBooked("r", "n1 0,1; n2 2,0")
	w.in.Snapshot.Pods = []*corev1.Pod{build.Pod("l", build.CPU("3"), build.Annotations(v1.ConsumeAnnotationKey, "r")), worker("w1", "r")}
	w.turn()
	if at := w.round.nominee; at[scheduling.PodKey{Namespace: "default", Name: "l"}] != "n1" || at[scheduling.PodKey{Namespace: "default", Name: "w1"}] != "n2" {
		t.Errorf("nominated: %v", at)
	}
}

// Of PodSets that have no room together some may have.
func TestPartialCapacity(t *testing.T) {
	for mode, c := range map[string]struct{ state, booked, sets string }{
		"":                  {notFound, "", ""},
		v1.PartialCheckOnly: {"+Accepted(Accepted) -Provisioned(PartialCapacityIsFound)", "", `["worker","small"]`},
		v1.PartialBook:      {"+Accepted(Accepted) +Provisioned(PartialCapacityIsFound)", "n1 2,0,0; n2 0,0,1", `["worker","small"]`},
	} {
		w := newWorld(t, 2)
		w.in.PodTemplates = append(w.in.PodTemplates, template("big", "cpu", "5"), template("small", "cpu", "1"))
		r := w.ask("r", check, 2, v1.ParameterPartialCapacityCheck, mode)
		if mode == "" {
			r.Spec.Parameters = nil
		}
		r.Spec.PodSets = append(r.Spec.PodSets, v1.PodSet{PodTemplateRef: v1.Reference{Name: "big"}, Count: 1}, v1.PodSet{PodTemplateRef: v1.Reference{Name: "small"}, Count: 1})
		w.turn()
		w.wantState("r", c.state)
		w.wantBooked("r", c.booked)
		if got := w.request("r").Status.ProvisioningClassDetails[v1.DetailSchedulablePodSets]; string(got) != c.sets {
			t.Errorf("%s: %s has room, want %s", mode, got, c.sets)
		}
	}
	w := newWorld(t, 1)
	w.in.PodTemplates = append(w.in.PodTemplates, template("big", "cpu", "5"))
	r := w.ask("r", check, 3, v1.ParameterPartialCapacityCheck, v1.PartialBook)
	r.Spec.PodSets = append(r.Spec.PodSets, v1.PodSet{PodTemplateRef: v1.Reference{Name: "big"}, Count: 1})
	w.turn()
	w.wantState("r", notFound)
}

// A plan says what would be launched, for how much and until when, and launches nothing. It is renewed when its time is over.
func TestPlanDetails(t *testing.T) {
	w := newWorld(t, 1).withPool("100")
	w.ask("r", v1.ClassPlan, 6)
	w.turn()
	w.wantLaunched(0)
	details := w.request("r").Status.ProvisioningClassDetails
	if diff := cmp.Diff(map[string]v1.Detail{
		v1.DetailPlanExistingPods: "2", v1.DetailPlanHourlyCost: "1", v1.DetailPlanValidUntil: "2026-01-01T12:10:00Z",
		v1.DetailPlanNodes: `[{"count":2,"nodePool":"p","instanceType":"large","zone":"zone-a","capacityType":"on-demand","hourlyPrice":0.5}]`,
	}, details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	w.addNode("n2")
	w.after(9 * time.Minute).turn()
	if got := w.request("r").Status.ProvisioningClassDetails[v1.DetailPlanHourlyCost]; got != "1" {
		t.Errorf("an answer that was good still became %s", got)
	}
	w.after(time.Minute).turn()
	details = w.request("r").Status.ProvisioningClassDetails
	if details[v1.DetailPlanHourlyCost] != "0.5" || details[v1.DetailPlanExistingPods] != "4" || details[v1.DetailPlanValidUntil] != "2026-01-01T12:20:00Z" {
		t.Errorf("renewed: %v", details)
	}
}

// A list of nodes that is too long keeps those of which there are most.
func TestPlannedNodesAreCut(t *testing.T) {
	var list []PlannedNodes
	for i := range 500 {
		list = append(list, PlannedNodes{Count: i, InstanceType: strings.Repeat("x", 100)})
	}
	text, err := encodeNodes(list)
	var kept []PlannedNodes
	if err != nil || len(text) > maxDetail || json.Unmarshal([]byte(text), &kept) != nil || len(kept) == 0 || kept[0].Count != 500-len(kept) {
		t.Errorf("%v: %d bytes, %d kinds", err, len(text), len(kept))
	}
}

// A booking on many nodes takes several details, and is read as it was written.
func TestLongBooking(t *testing.T) {
	p := places{}
	for i := range 3000 {
		p.add(fmt.Sprintf("ip-10-0-%d-%d.eu-central-1.compute.internal", i/256, i%256), 1, 2, i%3+1)
	}
	details := map[string]v1.Detail{"booking-9": "old 1,1\n", "other": "x"}
	if !p.write(details) || len(details) != 6 || details["other"] != "x" {
		t.Fatalf("%d details", len(details))
	}
	for key, text := range details {
		if len(text) > maxDetail {
			t.Errorf("%s has %d bytes", key, len(text))
		}
	}
	if diff := cmp.Diff(p, readPlaces(details, 2)); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if got := readPlaces(map[string]v1.Detail{v1.DetailBooking: "n1\nn2 1\nn3 x,1\n 1,1\nn4 -1,2\n"}, 2); !cmp.Equal(got, places{"n3": {0, 1}, "n4": {0, 2}}) {
		t.Errorf("what makes no sense is read as %v", got)
	}
}

// Planners of disruption are told of the room, by pods that must not be moved.
func TestHeld(t *testing.T) {
	w := newWorld(t, 2)
	w.ask("r", check, 3)
	w.turn()
	held := Held(w.in)
	s := With(w.in.Snapshot, held)
	if len(held["n1"]) != 2 || len(held["n2"]) != 1 || len(s.Nodes[0].Pods) != 2 || len(w.in.Snapshot.Nodes[0].Pods) != 0 {
		t.Errorf("held: %v", held)
	}
	pod := held["n1"][0]
	if pod.Spec.NodeName != "n1" || pod.Annotations[apiv1.DoNotDisruptAnnotationKey] != "true" {
		t.Errorf("%+v", pod)
	}
	if diff := cmp.Diff([]string{"n1", "n2"}, w.round.Hosts(w.plan)); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	if Held(Input{}) != nil || With(nil, held) != nil {
		t.Error("something is held of nothing")
	}
	// Nodes that a request's pods are to be on are not empty either.
	w = newWorld(t, 1).withPool("100")
	w.ask("r", atomic, 4)
	w.turn()
	w.launch()
	w.turn()
	if hosts := w.round.Hosts(w.plan); len(hosts) != 2 {
		t.Errorf("hosts: %v", hosts)
	}
}

// Requests that ask for more than is planned at once come one after the other.
func TestMaxPods(t *testing.T) {
	most := 4
	w := newWorld(t, 3)
	w.in.MaxPods = &most
	w.ask("a", check, 3)
	w.ask("b", check, 3)
	w.turn()
	w.wantState("a", found)
	w.wantState("b", "+Accepted(Accepted)")
	w.turn()
	w.wantState("b", found)
}

// Names of pods that stand for those of requests are no other pods'.
func TestNamesAreFree(t *testing.T) {
	w := newWorld(t, 2).withPool("100")
	w.ask("r", atomic, 6)
	w.in.Snapshot.Pods = []*corev1.Pod{build.Pod("provisioning-request-r-0-0", build.CPU("1"))}
	w.turn()
	w.wantState("r", coming)
}

// Ephemeral volumes have no claims before their pods are there.
func TestEphemeralVolumes(t *testing.T) {
	w := newWorld(t, 2)
	spec := &w.in.PodTemplates[0].Template.Spec
	spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}}
	w.ask("r", check, 4)
	w.turn()
	w.wantState("r", found)
	if len(spec.Volumes) != 1 || len(spec.Containers[0].VolumeMounts) != 1 {
		t.Error("the template was changed")
	}
}

// Pods are completed as admission would.
func TestAdmit(t *testing.T) {
	w := newWorld(t, 2)
	w.in.Admit = func(pod *corev1.Pod) {
		pod.Spec.Overhead = build.Amounts("cpu", "1")
		pod.Spec.NodeName, pod.Annotations = "elsewhere", nil
	}
	w.ask("r", check, 4)
	w.turn()
	w.wantState("r", notFound)
}

func TestArguments(t *testing.T) {
	var missing *option.ArgumentError
	if _, err := Begin(t.Context(), Input{}); !errors.As(err, &missing) {
		t.Errorf("no snapshot: %v", err)
	}
	if _, err := (&Round{}).Answer(t.Context(), &scheduling.Plan{}); !errors.As(err, &missing) {
		t.Errorf("no round: %v", err)
	}
	w := newWorld(t, 1).withPool("100")
	w.ask("r", atomic, 4)
	w.turn()
	if _, err := w.round.Answer(t.Context(), nil); !errors.As(err, &missing) {
		t.Errorf("no plan: %v", err)
	}
	w.in.Requests[0].Status = v1.ProvisioningRequestStatus{}
	w.turn()
	if _, err := w.round.Answer(t.Context(), &scheduling.Plan{}); !errors.As(err, &missing) {
		t.Errorf("another plan: %v", err)
	}
	w.ask("s", check, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Begin(ctx, w.in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The order of the input says nothing, and nothing of it is changed.
func TestPure(t *testing.T) {
	of := func(reverse bool) []v1.ProvisioningRequestStatus {
		w := newWorld(t, 3).withPool("40")
		w.ask("a", check, 3)
		w.ask("b", atomic, 5)
		w.ask("c", check, 2)
		w.ask("d", v1.ClassPlan, 4)
		w.in.Requests = append(w.in.Requests, nil)
		w.in.PodTemplates = append(w.in.PodTemplates, nil)
		if reverse {
			slices.Reverse(w.in.Requests)
			slices.Reverse(w.in.PodTemplates)
		}
		round, err := Begin(t.Context(), w.in)
		if err != nil {
			t.Fatal(err)
		}
		m, err := scheduling.Compile(round.Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := m.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		answers, err := round.Answer(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		var out []v1.ProvisioningRequestStatus
		for _, a := range answers {
			out = append(out, a.Request.Status)
			if !a.Changed || len(w.request(a.Request.Name).Status.Conditions) > 0 {
				t.Errorf("%s is not changed, or in place", a.Request.Name)
			}
		}
		return out
	}
	if diff := cmp.Diff(of(false), of(true)); diff != "" {
		t.Errorf("in another order (-was +is):\n%s", diff)
	}
}

// Room that is booked in a round is held in that round, too, for pods of the request that wait already.
func TestBookedForWaitingPods(t *testing.T) {
	w := newWorld(t, 1).withPool("4")
	w.ask("r", check, 1)
	w.ask("s", atomic, 2)
	w.in.Snapshot.Pods = []*corev1.Pod{worker("w", "r")}
	w.turn()
	w.wantState("r", found)
	w.wantState("s", coming)
	w.wantLaunched(1)
}
