package provisioning_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/provisioning"
)

// shop is a Deployment, the controller of its ReplicaSet, a PodDisruptionBudget and a node that drains.
type shop struct {
	now        time.Time
	deployment *appsv1.Deployment
	replicaSet *appsv1.ReplicaSet
	autoscaler []*autoscalingv2.HorizontalPodAutoscaler
	pods       []*corev1.Pod
	// startup is how long a pod takes until it is ready; never is below 0. minAvailable is the budget's.
	startup      time.Duration
	minAvailable int
	deadline     time.Time
	made         int
	// least are the fewest that were ready at a time, most the most replicas asked for.
	least, most int
	log         []string
}

func controlledBy(kind string, uid types.UID) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "web", UID: uid, Controller: &yes}}
}

// newShop has n pods, so many of them on the node that drains, all ready.
func newShop(n, draining int) *shop {
	replicas := int32(n)
	s := &shop{now: start, startup: 30 * time.Second, least: n}
	s.deployment = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "deployment"}}
	s.deployment.Spec.Replicas = &replicas
	s.replicaSet = &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "replicaset", OwnerReferences: controlledBy("Deployment", "deployment")}}
	for i := range n {
		p := s.pod()
		p.Spec.NodeName = "other"
		if i < draining {
			p.Spec.NodeName = "draining"
		}
		p.CreationTimestamp = metav1.NewTime(start.Add(-time.Hour))
	}
	s.settle()
	return s
}

func (s *shop) pod() *corev1.Pod {
	s.made++
	p := drainPod(fmt.Sprintf("web-%02d", s.made), func(p *corev1.Pod) {
		p.OwnerReferences, p.CreationTimestamp, p.Spec.NodeName = controlledBy("ReplicaSet", "replicaset"), metav1.NewTime(s.now), "other"
		p.Status.Phase = corev1.PodPending
	})
	s.pods = append(s.pods, p)
	return p
}

func ready(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Status == corev1.ConditionTrue
}

func (s *shop) ready() int {
	n := 0
	for _, p := range s.pods {
		if ready(p) {
			n++
		}
	}
	return n
}

// settle lets kubelets and the ReplicaSet's controller do their work.
func (s *shop) settle() {
	s.pods = slices.DeleteFunc(s.pods, func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && !s.now.Before(p.DeletionTimestamp.Time) })
	active := 0
	for _, p := range s.pods {
		if p.DeletionTimestamp == nil {
			active++
		}
		if age := s.now.Sub(p.CreationTimestamp.Time); s.startup >= 0 && age >= s.startup || age >= time.Hour {
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
	}
	want := int(*s.deployment.Spec.Replicas)
	for ; active < want; active++ {
		s.pod()
	}
	for ; active > want; active-- { // the youngest that is not ready goes first, then the youngest
		victim := slices.MaxFunc(slices.DeleteFunc(slices.Clone(s.pods), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }), func(a, b *corev1.Pod) int {
			if ready(a) != ready(b) {
				if ready(b) {
					return 1
				}
				return -1
			}
			return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
		})
		s.remove(victim)
	}
	s.least, s.most = min(s.least, s.ready()), max(s.most, want)
}

func (s *shop) remove(p *corev1.Pod) {
	p.DeletionTimestamp = &metav1.Time{Time: s.now.Add(2 * time.Second)}
	if !ready(p) && p.Status.Phase == corev1.PodPending {
		p.DeletionTimestamp.Time = s.now
	}
}

func (s *shop) do(e provisioning.Effect) {
	s.log = append(s.log, e.String())
	switch e := e.(type) {
	case provisioning.EvictPod:
		for _, p := range s.pods {
			if p.UID == e.UID && p.DeletionTimestamp == nil && (!ready(p) || s.ready() > s.minAvailable) {
				s.remove(p)
			}
		}
	case provisioning.DeletePod:
		for _, p := range s.pods {
			if p.UID == e.UID {
				s.remove(p)
			}
		}
	case provisioning.ScaleWorkload:
		if *s.deployment.Spec.Replicas != e.From {
			return
		}
		d := s.deployment.DeepCopy()
		*d.Spec.Replicas = e.To
		delete(d.Annotations, provisioning.SurgeAnnotation)
		if e.Surge != nil {
			d.Annotations = map[string]string{provisioning.SurgeAnnotation: e.Surge.String()}
		}
		s.deployment = d
	}
}

// round looks at the node once: the effects up to the one at which the controller crashes are done; crash below 0 is none.
func (s *shop) round(evictor provisioning.Evictor, crash int) (events []provisioning.Event) {
	var here []*corev1.Pod
	for _, p := range s.pods {
		if p.Spec.NodeName == "draining" {
			here = append(here, p)
		}
	}
	var wanted []provisioning.EvictPod
	var effects []provisioning.Effect
	for _, e := range provisioning.DrainNode(here, s.deadline, s.now).Effects {
		if evict, ok := e.(provisioning.EvictPod); ok {
			wanted = append(wanted, evict)
			continue
		}
		effects = append(effects, e)
	}
	loads := provisioning.NewWorkloads(provisioning.WorkloadObjects{Deployments: []*appsv1.Deployment{s.deployment}, ReplicaSets: []*appsv1.ReplicaSet{s.replicaSet}, Autoscalers: s.autoscaler})
	for _, l := range loads.Leaving(wanted, s.pods) {
		step := evictor.Evict(l, s.now)
		effects, events = append(effects, step.Effects...), append(events, step.Events...)
	}
	for i, e := range effects {
		if i == crash {
			break
		}
		s.do(e)
	}
	s.settle()
	return events
}

// drain goes on until the node is empty and nothing is left to be taken back, or for two hours; it says how long that took.
func (s *shop) drain(evictor provisioning.Evictor) (took time.Duration, events []provisioning.Event) {
	for ; took < 2*time.Hour; took += time.Second {
		events = append(events, s.round(evictor, -1)...)
		if s.over() {
			break
		}
		s.now = s.now.Add(time.Second)
		s.settle()
	}
	return took, events
}

func (s *shop) over() bool {
	return s.deployment.Annotations[provisioning.SurgeAnnotation] == "" && !slices.ContainsFunc(s.pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == "draining" })
}

// What becomes of a Deployment whose pods have to leave a node: how few are ready meanwhile, how long it takes, what it asks
// for at most and in the end.
func TestEvictors(t *testing.T) {
	surge := provisioning.SurgeFirst{}
	scaled := []*autoscalingv2.HorizontalPodAutoscaler{{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}}}
	scaled[0].Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	for name, c := range map[string]struct {
		evictor     provisioning.Evictor
		n, draining int
		make        func(*shop)
		least, most int
		atMost      time.Duration
		events      int
	}{
		"at once: one of one":                  {provisioning.EvictAtOnce{}, 1, 1, nil, 0, 1, 3 * time.Second, 0},
		"at once: a budget slows it down":      {provisioning.EvictAtOnce{}, 4, 3, func(s *shop) { s.minAvailable = 3 }, 3, 4, 70 * time.Second, 0},
		"surge: one of one":                    {surge, 1, 1, nil, 1, 2, 33 * time.Second, 0},
		"surge: three of four, one by one":     {surge, 4, 3, nil, 4, 5, 97 * time.Second, 0},
		"surge: three of four, two at a time":  {provisioning.SurgeFirst{Pods: 2}, 4, 3, nil, 4, 6, 65 * time.Second, 0},
		"surge: no more than have to leave":    {provisioning.SurgeFirst{Pods: 9}, 4, 3, nil, 4, 7, 33 * time.Second, 0},
		"surge: with a budget for all of it":   {surge, 2, 2, func(s *shop) { s.minAvailable = 2 }, 2, 3, 65 * time.Second, 0},
		"surge: more are ready than asked for": {surge, 4, 1, func(s *shop) { *s.deployment.Spec.Replicas, s.most = 3, 0 }, 3, 3, 3 * time.Second, 0},
		"surge: one that serves nothing goes": {surge, 4, 1, func(s *shop) {
			s.pods[0].Status.Conditions, s.pods[0].CreationTimestamp, s.startup = nil, metav1.NewTime(start), time.Hour
		}, 3, 4, 3 * time.Second, 0},
		"surge: a replacement never comes":     {surge, 2, 1, func(s *shop) { s.startup = -1 }, 1, 3, 603 * time.Second, 1},
		"surge: the last call":                 {surge, 2, 1, func(s *shop) { s.startup, s.deadline = -1, start.Add(5*time.Minute) }, 1, 3, 213 * time.Second, 0},
		"surge: an autoscaler's is left alone": {surge, 2, 1, func(s *shop) { s.autoscaler = scaled }, 1, 2, 3 * time.Second, 0},
		"surge: Recreate wants no two":         {surge, 1, 1, func(s *shop) { s.deployment.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }, 0, 1, 3 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(c.n, c.draining)
			if c.make != nil {
				c.make(s)
			}
			want := *s.deployment.Spec.Replicas
			took, events := s.drain(c.evictor)
			if s.least != c.least || s.most != c.most || took > c.atMost || *s.deployment.Spec.Replicas != want || min(len(events), 1) != c.events {
				t.Errorf("at least %d ready, at most %d asked for, %s, %d in the end, events %v; want %d, %d, %s, %d, %d",
					s.least, s.most, took, *s.deployment.Spec.Replicas, events, c.least, c.most, c.atMost, want, c.events)
				t.Logf("%q", s.log)
			}
		})
	}
}

// Somebody who scales the workload while it has a surge keeps their number, and nobody fights over it.
func TestSurgeYields(t *testing.T) {
	s := newShop(3, 2)
	evictor := provisioning.SurgeFirst{}
	s.round(evictor, -1)
	*s.deployment.Spec.Replicas = 2 // as an autoscaler would
	s.drain(evictor)
	if *s.deployment.Spec.Replicas != 2 || s.deployment.Annotations[provisioning.SurgeAnnotation] != "" {
		t.Errorf("%d replicas, annotations %v; want 2 and none", *s.deployment.Spec.Replicas, s.deployment.Annotations)
	}
	raised := 0
	for _, line := range s.log {
		if line == "scale Deployment default/web from 3 to 4 (surge 3+1 2026-05-04T12:00:00Z)" {
			raised++
		}
	}
	if raised != 1 {
		t.Errorf("raised %d times, want once: %q", raised, s.log)
	}
	s = newShop(2, 1)
	s.round(evictor, -1)
	s.round(provisioning.EvictAtOnce{}, -1)
	if *s.deployment.Spec.Replicas != 2 || s.deployment.Annotations[provisioning.SurgeAnnotation] != "" {
		t.Errorf("another Evictor leaves a surge: %d replicas", *s.deployment.Spec.Replicas)
	}
}

// Whatever the moment of a crash, and whatever is ready when: a workload keeps what it asks for ready as long as replacements
// come in time, never has more than the surge allows, and in the end asks for what it did.
func TestSurgeProperties(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(rt, "replicas")
		s := newShop(n, rapid.IntRange(1, n).Draw(rt, "draining"))
		s.startup = time.Duration(rapid.IntRange(1, 90).Draw(rt, "startup")) * time.Second
		s.minAvailable = rapid.IntRange(0, n).Draw(rt, "minAvailable")
		evictor := provisioning.SurgeFirst{Pods: rapid.IntRange(0, 3).Draw(rt, "surge")}
		for range 2000 {
			crash := -1
			if rapid.IntRange(0, 5).Draw(rt, "crashes") == 0 {
				crash = rapid.IntRange(0, 2).Draw(rt, "at effect")
			}
			s.round(evictor, crash)
			s.now = s.now.Add(time.Duration(rapid.IntRange(1, 20).Draw(rt, "seconds")) * time.Second)
			s.settle()
			if s.least < n || s.most > n+max(1, evictor.Pods) {
				rt.Fatalf("%d ready and up to %d asked for, of %d: %q", s.least, s.most, n, s.log)
			}
			if s.over() {
				break
			}
		}
		if !s.over() || int(*s.deployment.Spec.Replicas) != n {
			rt.Fatalf("in the end %d asked for, annotations %v: %q", *s.deployment.Spec.Replicas, s.deployment.Annotations, s.log)
		}
	})
}

// Groups: by workload, through the ReplicaSet; those without one come first, and workloads that only have to be tidied up too.
func TestWorkloadsLeaving(t *testing.T) {
	s := newShop(2, 1)
	alone := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "alone", UID: "alone", Annotations: map[string]string{provisioning.SurgeAnnotation: "1+1 2026-05-04T12:00:00Z"}}}
	going := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "going", UID: "going", DeletionTimestamp: &metav1.Time{Time: start}, Annotations: map[string]string{provisioning.SurgeAnnotation: "much"}}}
	loads := provisioning.NewWorkloads(provisioning.WorkloadObjects{
		Deployments: []*appsv1.Deployment{going, s.deployment}, ReplicaSets: []*appsv1.ReplicaSet{s.replicaSet, alone},
	})
	set := drainPod("set-0", func(p *corev1.Pod) { p.OwnerReferences = controlledBy("StatefulSet", "set") })
	bare := drainPod("bare")
	last := drainPod("last", func(p *corev1.Pod) { p.OwnerReferences = controlledBy("Deployment", "going") })
	var wanted []provisioning.EvictPod
	for _, p := range []*corev1.Pod{set, s.pods[0], bare, last, drainPod("gone")} {
		wanted = append(wanted, provisioning.EvictPod{Key: types.NamespacedName{Namespace: p.Namespace, Name: p.Name}, UID: p.UID})
	}
	var got []string
	for _, l := range loads.Leaving(wanted, append([]*corev1.Pod{last, set, bare}, s.pods...)) {
		text := "none:"
		if l.Workload != nil {
			text = fmt.Sprintf("%s %s, %d pods, %q:", l.Workload.Kind, l.Workload.Key.Name, len(l.Pods), l.Workload.NoSurge)
		}
		for _, e := range l.Evictions {
			text += " " + e.Key.Name
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{
		"none: bare gone set-0", `Deployment going, 1 pods, "it is being deleted": last`, `Deployment web, 2 pods, "": web-01`, `ReplicaSet alone, 0 pods, "":`,
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	step := provisioning.SurgeFirst{}.Evict(loads.Leaving(nil, nil)[0], start)
	if diff := cmp.Diff([]string{"scale ReplicaSet default/alone from 1 to 1 (surge none)"}, texts(step.Effects)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is written into the annotation is what is read from it; what nobody wrote is refused.
func FuzzParseSurge(f *testing.F) {
	for _, text := range []string{"3+1 2026-05-04T10:00:00Z", "0+0 2026-05-04T10:00:00+02:00", "", "1+1", "-1+1 2026-05-04T10:00:00Z", "99999999999+1 x", "1+1 2026-05-04T10:00:00Z more"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := provisioning.ParseSurge(text)
		if err != nil {
			return
		}
		again, err := provisioning.ParseSurge(s.String())
		if err != nil || again.From != s.From || again.By != s.By || !again.Since.Equal(s.Since.Truncate(time.Second)) || s.From < 0 || s.By < 0 {
			t.Errorf("%q is read as %+v, and %q as %+v: %v", text, s, s.String(), again, err)
		}
	})
}

// The replacement of a Deployment's only pod is brought up first.
func ExampleSurgeFirst() {
	replicas := int32(1)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "d"}}
	deployment.Spec.Replicas = &replicas
	pod := drainPod("web-1", func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "d", Controller: &yes}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
	loads := provisioning.NewWorkloads(provisioning.WorkloadObjects{Deployments: []*appsv1.Deployment{deployment}})
	wanted := []provisioning.EvictPod{{Key: types.NamespacedName{Namespace: "default", Name: "web-1"}, UID: pod.UID}}
	for _, group := range loads.Leaving(wanted, []*corev1.Pod{pod}) {
		step := provisioning.SurgeFirst{}.Evict(group, start)
		fmt.Println(step.Effects, "again in", step.Again)
	}
	// Output:
	// [scale Deployment default/web from 1 to 2 (surge 1+1 2026-05-04T12:00:00Z)] again in 2s
}
