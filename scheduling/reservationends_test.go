package scheduling_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// beginning is when the snapshots of these tests are planned.
var beginning = time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)

// ending ends all reservations of the type at a time.
func ending(it *cloudprovider.InstanceType, at time.Time) *cloudprovider.InstanceType {
	for i := range it.Offerings {
		if it.Offerings[i].Reserved() {
			it.Offerings[i].ReservationEnds = at
		}
	}
	return it
}

// runsFor gives the pod an active deadline.
func runsFor(seconds int64) podOption {
	return func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = &seconds }
}

func at(s *scheduling.Snapshot, t time.Time) *scheduling.Snapshot {
	s.Time = t
	return s
}

// neverSpot keeps the pod off spot nodes, by a limit of its workload.
func neverSpot(p *corev1.Pod) {
	controlledBy("apps/v1", "ReplicaSet", "w")(p)
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, v1.SpotMaxShareAnnotationKey, "0%")
}

// Pods whose run time is known use a reservation only if it does not end before they would be done; all others use it as ever.
func TestReservationsThatEnd(t *testing.T) {
	in := func(d time.Duration) *cloudprovider.InstanceType { return ending(lent("r", 9), beginning.Add(d)) }
	big := requests("cpu=4")
	for _, c := range []struct {
		name  string
		parts []any
		gang  func(list []*corev1.Pod) *scheduling.Gang
		want  string // capacity types of the nodes
	}{
		{"it ends later", []any{in(2 * time.Hour), pods("p", 2, big, runsFor(3600))}, nil, "reserved reserved"},
		{"it ends at that moment", []any{in(time.Hour), pods("p", 2, big, runsFor(3600))}, nil, "reserved reserved"},
		{"it ends a second earlier", []any{in(time.Hour - time.Second), pods("p", 2, big, runsFor(3600))}, nil, "on-demand on-demand"},
		{"it never ends", []any{lent("r", 9), pods("p", 2, big, runsFor(3600))}, nil, "reserved reserved"},
		{"nobody knows for how long they run", []any{in(time.Minute), pods("p", 2, big)}, nil, "reserved reserved"},
		{"some run longer", []any{in(time.Hour), pods("p", 1, big, runsFor(60)), pods("q", 1, big, runsFor(7200))}, nil, "reserved on-demand"},
		{"a run time beyond all time", []any{in(time.Hour), pods("p", 1, big, runsFor(1<<62))}, nil, "on-demand"},
		{"the gang runs longer", []any{in(time.Hour), pods("p", 2, big)}, func(list []*corev1.Pod) *scheduling.Gang {
			g := gangOf("g", list)
			g.RunSeconds = 7200
			return &g
		}, "on-demand on-demand"},
		{"the gang is done earlier, whatever its pods say", []any{in(time.Hour), pods("p", 2, big, runsFor(7200))}, func(list []*corev1.Pod) *scheduling.Gang {
			g := gangOf("g", list)
			g.RunSeconds = 1800
			return &g
		}, "reserved reserved"},
		{"a member runs longer", []any{in(time.Hour), pods("p", 2, big, runsFor(7200))}, func(list []*corev1.Pod) *scheduling.Gang {
			g := gangOf("g", list)
			return &g
		}, "on-demand on-demand"},
		{"members that do not exist yet", []any{in(time.Hour)}, func([]*corev1.Pod) *scheduling.Gang {
			return &scheduling.Gang{Namespace: "default", Name: "g", Templates: []scheduling.GangTemplate{
				{Count: 2, Template: corev1.PodTemplateSpec{Spec: pod("x", big, runsFor(7200)).Spec}},
			}}
		}, "on-demand on-demand"},
		{"limits on spot nodes too", []any{in(time.Hour), pods("p", 2, big, runsFor(7200), neverSpot)}, nil, "on-demand on-demand"},
		{"the zone of the reservation", []any{in(time.Hour), pods("p", 2, big, runsFor(7200))}, func(list []*corev1.Pod) *scheduling.Gang {
			g := gangOf("g", list, together(corev1.LabelTopologyZone))
			return &g
		}, "on-demand on-demand"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(cluster(c.parts...), beginning)
			if c.gang != nil {
				s.Gangs = append(s.Gangs, *c.gang(s.Pods))
			}
			p := solve(t, s)
			var got []string
			for i := range p.NewNodes {
				n := &p.NewNodes[i]
				kind := n.InstanceTypes[0].CapacityType
				got = append(got, kind)
				if may := n.Requirements.Get("example.com/reservation").Has("r"); may != (kind == v1.CapacityTypeReserved) {
					t.Errorf("node %d is %s, and its claim allows the reservation: %t", i, kind, may)
				}
			}
			if text := strings.Join(got, " "); text != c.want && text != reversed(got) || len(p.Unschedulable) > 0 {
				t.Errorf("nodes are %q, want %q; %d pods wait", text, c.want, len(p.Unschedulable))
			}
		})
	}
}

func planJSON(t *testing.T, p *scheduling.Plan) string {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func reversed(list []string) string {
	var out []string
	for i := range list {
		out = append(out, list[len(list)-1-i])
	}
	return strings.Join(out, " ")
}

// If the end of a reservation keeps a pod waiting, the plan says so, also for a gang; and nodes of that reservation don't take the pod either.
func TestReservationEndIsExplained(t *testing.T) {
	only := nodePool("p", poolNeeds(capacityKey, opIn, v1.CapacityTypeReserved))
	s := at(cluster(only, ending(lent("r", 9), beginning.Add(time.Hour)), pods("p", 2, requests("cpu=4"), runsFor(7200))), beginning)
	p := solve(t, s)
	want := "it runs for up to 2h0m0s (its activeDeadlineSeconds), and these reservations end before it would be done: example.com/reservation In [r] at 2026-05-04T13:00:00Z"
	if len(p.Unschedulable) != 2 || p.Unschedulable[0].Reasons[0].Code != scheduling.ReasonReservationEnds || p.Unschedulable[0].Reasons[0].Detail != want {
		t.Fatalf("%+v", p.Unschedulable)
	}
	s.Gangs = []scheduling.Gang{gangOf("g", s.Pods)}
	if text := solve(t, s).Gangs[0].String(); !strings.Contains(text, want) {
		t.Errorf("the gang: %s", text)
	}
	there := at(cluster(only, ending(lent("r", 0), beginning.Add(time.Hour)), node("n", nodeLabel("example.com/reservation", "r"), nodeLabel(capacityKey, v1.CapacityTypeReserved)), pods("p", 1, requests("cpu=1"), runsFor(7200))), beginning)
	if p := solve(t, there); len(p.Existing) > 0 || len(p.Unschedulable) != 1 {
		t.Errorf("a node of the reservation takes it: %+v", p.Existing)
	}
	there.Pods[0].Spec.ActiveDeadlineSeconds = nil
	if p := solve(t, there); len(p.Existing) != 1 {
		t.Errorf("a node of the reservation does not take a pod whose run time nobody knows: %+v", p.Unschedulable)
	}
}

// Whatever ends when, and however long pods run: no pod is on a new node whose claim allows a reservation that ends too early; without known
// run times plans are as if nothing ended; and Update plans as Compile does, also when time has passed.
func TestReservationEndsHold(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		it := lent("r0", rapid.IntRange(0, 3).Draw(r, "left"))
		ends := map[string]time.Time{}
		for i := range 3 {
			id := fmt.Sprintf("r%d", i)
			if i > 0 {
				it.Offerings = append(it.Offerings, reservedOffering(rapid.SampledFrom([]string{"a", "b"}).Draw(r, "zone"), id, rapid.IntRange(0, 3).Draw(r, "left")))
			}
			if hours := rapid.IntRange(0, 4).Draw(r, "ends"); hours > 0 {
				ends[id] = beginning.Add(time.Duration(hours) * time.Hour)
				it.Offerings[len(it.Offerings)-1].ReservationEnds = ends[id]
			}
		}
		s := at(cluster(it), beginning)
		known := rapid.Bool().Draw(r, "run times are known")
		runs := map[scheduling.PodKey]time.Duration{}
		for i := range rapid.IntRange(1, 5).Draw(r, "pods") {
			p := pod(fmt.Sprintf("p%d", i), requests("cpu="+rapid.SampledFrom([]string{"1", "4"}).Draw(r, "cpu")))
			if known && rapid.Bool().Draw(r, "known") {
				hours := rapid.Int64Range(1, 5).Draw(r, "hours")
				runsFor(hours * 3600)(p)
				runs[scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}] = time.Duration(hours) * time.Hour
			}
			s.Pods = append(s.Pods, p)
		}
		if rapid.Bool().Draw(r, "gang") {
			s.Gangs = []scheduling.Gang{gangOf("g", s.Pods[:1])}
		}
		check := func(p *scheduling.Plan, now time.Time) {
			for i := range p.NewNodes {
				n := &p.NewNodes[i]
				for id, end := range ends {
					may := n.Requirements.Get("example.com/reservation").Has(id) && n.Requirements.Get(capacityKey).Has(v1.CapacityTypeReserved)
					for _, key := range n.Pods {
						if run, ok := runs[key]; ok && may && n.Requirements.Has("example.com/reservation") && end.Before(now.Add(run)) {
							r.Fatalf("pod %s runs for %s on a node of reservation %s, which ends at %s", key, run, id, end)
						}
					}
				}
			}
		}
		model, err := scheduling.Compile(s)
		if err != nil {
			r.Fatal(err)
		}
		check(solve(t, s), beginning)
		if !known {
			open := *s
			open.Catalogs = map[string][]*cloudprovider.InstanceType{}
			for name, list := range s.Catalogs {
				for _, one := range list {
					open.Catalogs[name] = append(open.Catalogs[name], ending(one.DeepCopy(), time.Time{}))
				}
			}
			if a, b := planJSON(t, solve(t, s)), planJSON(t, solve(t, &open)); a != b {
				r.Fatalf("ends matter although no run time is known:\n%s\n%s", a, b)
			}
		}
		later := *s
		later.Time = beginning.Add(90 * time.Minute)
		later.Pods = append(later.Pods[:len(later.Pods):len(later.Pods)], pod("late", requests("cpu=1"), runsFor(7200)))
		runs[scheduling.PodKey{Namespace: later.Pods[0].Namespace, Name: "late"}] = 2 * time.Hour
		for range 2 {
			if model, err = model.Update(&later); err != nil {
				r.Fatal(err)
			}
			updated, err := model.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				r.Fatal(err)
			}
			check(updated, later.Time)
			if a, b := planJSON(t, updated), planJSON(t, solve(t, &later)); a != b {
				r.Fatalf("Update plans otherwise than Compile:\n%s\n%s", a, b)
			}
		}
	})
}
