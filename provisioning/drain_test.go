package provisioning_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

func drainPod(name string, edit ...func(*corev1.Pod)) *corev1.Pod {
	grace := int64(30)
	p := build.Pod(name, build.UID("uid-"+name))
	p.Spec.TerminationGracePeriodSeconds = &grace
	p.Status.Phase = corev1.PodRunning
	for _, e := range edit {
		e(p)
	}
	return p
}

func grace(seconds int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &seconds }
}
func noGrace(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = nil }
func ofDaemonSet(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d"}}
}
func critical(p *corev1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" }
func doNotDisrupt(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: value}
		p.Status.StartTime = &metav1.Time{Time: start}
	}
}
func terminating(when time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: when} }
}
func tolerates(p *corev1.Pod) {
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
}

// PRV-067, PRV-068: who has to go now.
func TestDrainOrder(t *testing.T) {
	all := []*corev1.Pod{
		drainPod("b"), drainPod("a"), drainPod("daemon", ofDaemonSet), drainPod("critical", critical), drainPod("last", critical, ofDaemonSet),
		drainPod("stays", tolerates), drainPod("ended", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		drainPod("stuck", terminating(at(-61))),
	}
	for name, c := range map[string]struct {
		pods    []*corev1.Pod
		tier    pods.DrainTier
		waiting int
		want    []string
	}{
		"PRV-068: ordinary pods first":           {all, pods.TierOrdinary, 5, []string{"evict pod default/a", "evict pod default/b"}},
		"PRV-068: then those of DaemonSets":      {all[2:], pods.TierOrdinaryDaemon, 3, []string{"evict pod default/daemon"}},
		"PRV-068: then critical ones":            {all[3:], pods.TierCritical, 2, []string{"evict pod default/critical"}},
		"PRV-068: critical DaemonSets last":      {all[4:], pods.TierCriticalDaemon, 1, []string{"evict pod default/last"}},
		"PRV-067: nobody is waited for":          {all[5:], pods.TierCriticalDaemon, 0, nil},
		"PRV-068: one that is going holds later": {[]*corev1.Pod{drainPod("going", terminating(at(30))), drainPod("daemon", ofDaemonSet)}, pods.TierOrdinary, 2, nil},
	} {
		d := provisioning.DrainNode(c.pods, time.Time{}, start)
		if diff := cmp.Diff(c.want, texts(d.Effects)); diff != "" || d.Waiting != c.waiting || d.Tier != c.tier {
			t.Errorf("%s: %d waiting, %v (-want +got):\n%s", name, d.Waiting, d.Tier, diff)
		}
	}
	d := provisioning.DrainNode([]*corev1.Pod{drainPod("a", doNotDisrupt("true")), drainPod("b", doNotDisrupt("90s"))}, time.Time{}, start)
	if len(d.Effects) != 0 || len(d.Blocked) != 2 || d.Waiting != 2 || d.Again != 90*time.Second {
		t.Errorf("PRV-067: protected pods are waited for: %+v", d)
	}
}

// PRV-069, acceptance scenario 17 of disruption: the deadline's rule.
func TestDrainDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		pod   *corev1.Pod
		after float64 // seconds from start; the deadline is at 600
		want  string
		grace time.Duration
		again time.Duration
	}{
		"time enough":                       {pod: drainPod("a", grace(300)), after: 300, want: "evict"},
		"PRV-069: grace would be cut":       {pod: drainPod("a", grace(300)), after: 301, want: "delete", grace: 299 * time.Second},
		"PRV-069: longer than the deadline": {pod: drainPod("a", grace(1200)), after: 1, want: "delete", grace: 599 * time.Second},
		"PRV-069: past the deadline":        {pod: drainPod("a", grace(300)), after: 700, want: "delete", grace: time.Second},
		"PRV-069: whatever it says":         {pod: drainPod("a", grace(300), doNotDisrupt("true")), after: 301, want: "delete", grace: 299 * time.Second},
		"PRV-069: in any tier":              {pod: drainPod("a", grace(300), critical, ofDaemonSet), after: 301, want: "delete", grace: 299 * time.Second},
		"PRV-069: no grace of its own":      {pod: drainPod("a", noGrace), after: 700, want: "evict"},
		"PRV-069: going, ends too late":     {pod: drainPod("a", terminating(at(601))), after: 100, want: "delete", grace: 500 * time.Second},
		"PRV-069: going, ends in time":      {pod: drainPod("a", terminating(at(600))), after: 100},
	} {
		d := provisioning.DrainNode([]*corev1.Pod{c.pod}, at(600), at(c.after))
		got, given := "", time.Duration(0)
		for _, e := range d.Effects {
			switch e := e.(type) {
			case provisioning.DeletePod:
				got, given = "delete", e.Grace
			case provisioning.EvictPod:
				got = "evict"
				if e.Deadline.IsZero() != (c.pod.Spec.TerminationGracePeriodSeconds == nil) {
					t.Errorf("%s: deadline %s", name, e.Deadline)
				}
			}
		}
		if got != c.want || given != c.grace {
			t.Errorf("%s: %q with %s, want %q with %s", name, got, given, c.want, c.grace)
		}
	}
	if d := provisioning.DrainNode([]*corev1.Pod{drainPod("a", grace(300), doNotDisrupt("true"))}, at(600), start); d.Again != 300*time.Second {
		t.Errorf("asks again in %s, want when the rule applies", d.Again)
	}
}

// PRV-070: pace, deadlines, and pods that come again under their name.
func TestEvictionQueue(t *testing.T) {
	q := provisioning.NewEvictionQueue()
	a := provisioning.EvictPod{Key: types.NamespacedName{Namespace: "x", Name: "a"}, UID: "1"}
	later := provisioning.EvictPod{Key: a.Key, UID: "2"}
	q.Add(a, at(0))
	q.Add(a, at(0))
	q.Add(later, at(1))
	if q.Len() != 2 {
		t.Errorf("%d entries, want one for each UID", q.Len())
	}
	q.Remove("2")
	now := at(0)
	var waits []time.Duration
	for range 9 {
		if _, _, ok, _ := q.Next(now); !ok {
			t.Fatal("not due")
		}
		q.Report(a, provisioning.EvictionRefused, now)
		_, _, ok, again := q.Next(now)
		if ok {
			t.Fatal("due at once after a refusal")
		}
		waits = append(waits, again)
		now = now.Add(again)
	}
	want := []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000}
	for i := range want {
		want[i] *= time.Millisecond
	}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("back-off (-want +got):\n%s", diff)
	}
	a.Deadline = now.Add(time.Minute)
	q.Add(a, now)
	a.Deadline = now.Add(time.Hour)
	q.Add(a, now)
	got, late, _, _ := q.Next(now)
	if !got.Deadline.Equal(now.Add(time.Minute)) || late {
		t.Errorf("PRV-070: a deadline was put off: %s, late %t", got.Deadline, late)
	}
	if e, _, ok, again := q.Next(now.Add(time.Minute)); ok || again != 0 {
		t.Errorf("PRV-070: %v is handed out, or promised in %s, while its request is under way", e.Key, again)
	}
	q.Report(a, provisioning.EvictionRefused, now)
	if _, late, _, _ := q.Next(now.Add(2 * time.Minute)); !late {
		t.Error("PRV-070: past its deadline it still is to be evicted")
	}
	q.Report(a, provisioning.EvictionDone, now)
	if _, _, ok, again := q.Next(now); ok || again != 0 || q.Len() != 0 {
		t.Error("a pod that is gone is still there")
	}
}

// The pod that has waited longest comes first, whatever the order they were added in.
func TestEvictionQueueOrder(t *testing.T) {
	q := provisioning.NewEvictionQueue()
	for i, name := range []string{"c", "a", "b"} {
		q.Add(provisioning.EvictPod{Key: types.NamespacedName{Name: name}, UID: types.UID(name)}, at(float64(i%2)))
	}
	var order []string
	for q.Len() > 0 {
		e, _, ok, _ := q.Next(at(5))
		if !ok {
			t.Fatal("not due")
		}
		order = append(order, e.Key.Name)
		q.Report(e, provisioning.EvictionDone, at(5))
	}
	if got := strings.Join(order, ""); got != "bca" {
		t.Errorf("order %s, want bca", got)
	}
}

// PRV-070: whatever is added, refused and forgotten in whatever order, the pod that is handed out is the one that has waited
// longest of those that may be.
func TestEvictionQueueProperty(t *testing.T) {
	type known struct {
		due      time.Time
		failures int
		taken    bool
	}
	seeded.Check(t, func(t *rapid.T) {
		q, want, now := provisioning.NewEvictionQueue(), map[string]*known{}, start
		pod := func(name string) provisioning.EvictPod {
			return provisioning.EvictPod{Key: types.NamespacedName{Namespace: "x", Name: name}, UID: types.UID(name)}
		}
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := name.Draw(t, "pod")
				q.Add(pod(n), now)
				if want[n] == nil {
					want[n] = &known{due: now}
				}
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
			},
			"remove": func(t *rapid.T) { n := name.Draw(t, "pod"); q.Remove(types.UID(n)); delete(want, n) },
			"report": func(t *rapid.T) {
				n := name.Draw(t, "pod")
				if want[n] == nil || !want[n].taken {
					t.Skip("it was not handed out")
				}
				if rapid.Bool().Draw(t, "done") {
					q.Report(pod(n), provisioning.EvictionDone, now)
					delete(want, n)
					return
				}
				q.Report(pod(n), provisioning.EvictionRefused, now)
				want[n].taken, want[n].due = false, now.Add(min(100*time.Millisecond<<want[n].failures, 10*time.Second))
				want[n].failures++
			},
			"next": func(t *rapid.T) {
				first := ""
				for _, n := range []string{"a", "b", "c", "d", "e"} {
					if k := want[n]; k != nil && !k.taken && (first == "" || k.due.Before(want[first].due)) {
						first = n
					}
				}
				got, _, ok, again := q.Next(now)
				switch {
				case first == "":
					if ok || again != 0 {
						t.Fatalf("%v is handed out, or promised in %s, of none", got.Key, again)
					}
				case want[first].due.After(now):
					if ok || again != want[first].due.Sub(now) {
						t.Fatalf("%v is handed out, or promised in %s; want %s in %s", got.Key, again, first, want[first].due.Sub(now))
					}
				default:
					if !ok || got.Key.Name != first {
						t.Fatalf("%v is handed out, want %s", got.Key, first)
					}
					want[first].taken = true
				}
			},
			"": func(t *rapid.T) {
				if q.Len() != len(want) {
					t.Fatalf("%d pods, want %d", q.Len(), len(want))
				}
			},
		})
	})
}
