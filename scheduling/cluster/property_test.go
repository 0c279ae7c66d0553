package cluster_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// server is an API server: what there is, and what has happened in the order it happened.
type server struct {
	version int
	objects map[cluster.ObjectKey]metav1.Object
	history []cluster.Event
}

func newServer() *server { return &server{objects: make(map[cluster.ObjectKey]metav1.Object)} }

func keyOf(object metav1.Object) cluster.ObjectKey {
	return cluster.ObjectKey{Kind: cluster.KindOf(object), NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}}
}

// write creates the object, or changes the one of that name.
func (s *server) write(object metav1.Object) {
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	if old := s.objects[keyOf(object)]; old != nil {
		object.SetUID(old.GetUID())
		object.SetCreationTimestamp(old.GetCreationTimestamp())
	} else {
		object.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
	}
	s.objects[keyOf(object)] = object
	s.history = append(s.history, cluster.Upsert(object))
}

func (s *server) remove(key cluster.ObjectKey) {
	if old := s.objects[key]; old != nil {
		delete(s.objects, key)
		s.history = append(s.history, cluster.Delete(old))
	}
}

// all is what there is, in an order of the given draw.
func (s *server) all(t *rapid.T) []cluster.Event {
	keys := slices.SortedFunc(maps.Keys(s.objects), func(a, b cluster.ObjectKey) int { return cmp.Compare(a.String(), b.String()) })
	events := make([]cluster.Event, 0, len(keys))
	for _, key := range rapid.Permutation(keys).Draw(t, "order from scratch") {
		events = append(events, cluster.Upsert(s.objects[key]))
	}
	return events
}

func oneOf[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func meta(t *rapid.T, name string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Time{Time: noon.Add(-time.Duration(rapid.IntRange(0, 2).Draw(t, "age")) * time.Hour)}}
	if rapid.IntRange(0, 7).Draw(t, "deleting") == 0 {
		m.DeletionTimestamp = &metav1.Time{Time: noon}
	}
	return m
}

// Names are few, so that all that can clash does: nodes share provider IDs, claims bear the names of nodes, pods are bound
// to nodes that are not there.
func anyName(t *rapid.T) string       { return oneOf(t, "name", "n0", "n1", "n2", "n3") }
func anyProviderID(t *rapid.T) string { return oneOf(t, "provider ID", "", "p0", "p1", "p2", "p2") }

func anyNode(t *rapid.T) *corev1.Node {
	n := &corev1.Node{ObjectMeta: meta(t, anyName(t)), Spec: corev1.NodeSpec{ProviderID: anyProviderID(t)}}
	n.Labels = map[string]string{}
	for _, label := range []string{v1.NodePoolLabelKey, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey, corev1.LabelInstanceTypeStable, corev1.LabelHostname} {
		if rapid.Bool().Draw(t, label) {
			n.Labels[label] = "true"
		}
	}
	if rapid.Bool().Draw(t, "has status") {
		n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(oneOf(t, "cpu", "4", "8", "1e99"))}
	}
	return n
}

func anyClaim(t *rapid.T) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: meta(t, anyName(t))}
	c.Labels = map[string]string{v1.NodePoolLabelKey: oneOf(t, "pool", "true", "other")}
	c.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{
		Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: oneOf(t, "types", []string{fake.GenericTypes(3)[0].Name}, []string{fake.GenericTypes(3)[1].Name, fake.GenericTypes(3)[2].Name}, []string{"unheard-of"}),
	}}
	c.Status.ProviderID = anyProviderID(t)
	if c.Status.ProviderID != "" && rapid.Bool().Draw(t, "has capacity") {
		c.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	}
	if rapid.Bool().Draw(t, "terminating instance") {
		c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionInstanceTerminating, Status: metav1.ConditionTrue}}
	}
	if rapid.Bool().Draw(t, "initialized") {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: v1.ConditionInitialized, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon)})
	}
	return c
}

func anyPod(t *rapid.T) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: meta(t, oneOf(t, "pod", "a", "b", "c", "d", "e", "f"))}
	p.Namespace, p.Labels = "default", map[string]string{"app": oneOf(t, "app", "web", "db")}
	p.Spec.NodeName = oneOf(t, "on", "", "n0", "n1", "n2", "n9")
	p.Status.Phase = oneOf(t, "phase", corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded)
	if p.Spec.NodeName == "" && rapid.Bool().Draw(t, "unschedulable") {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	switch rapid.IntRange(0, 8).Draw(t, "kind of pod") {
	case 6:
		p.Labels["scheduling.x-k8s.io/pod-group"] = oneOf(t, "group", "train", "sweep")
	case 7:
		p.Labels["kueue.x-k8s.io/pod-group-name"] = oneOf(t, "kueue group", "train", "queue")
		p.Annotations = map[string]string{"kueue.x-k8s.io/pod-group-total-count": oneOf(t, "total", "2", "3")}
	case 8:
		p.Spec.WorkloadRef = &corev1.WorkloadReference{Name: oneOf(t, "workload", "train", "sweep"), PodGroup: oneOf(t, "part", "workers", "driver")}
		p.Annotations = map[string]string{"scheduling.k8s.io/group-name": "train"}
	case 0:
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d"}}
	case 1:
		p.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	}
	return p
}

func anyBudget(t *rapid.T) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: oneOf(t, "budget", "one", "two")}}
	none := intstr.FromInt32(int32(rapid.IntRange(0, 1).Draw(t, "max unavailable")))
	b.Spec.MaxUnavailable = &none
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": oneOf(t, "app", "web", "db", "!?")}}
	return b
}

func anyOther(t *rapid.T) metav1.Object {
	m := metav1.ObjectMeta{Name: anyName(t)}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return &corev1.PersistentVolume{ObjectMeta: m}
	case 1:
		return &corev1.Namespace{ObjectMeta: m}
	case 2:
		m.Namespace = "default"
		return &appsv1.DaemonSet{ObjectMeta: m}
	case 3:
		pool := &v1.NodePool{ObjectMeta: m}
		if rapid.Bool().Draw(t, "bad limit") {
			pool.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("-1")}
		}
		return pool
	case 4:
		return &v1.NodeOverlay{ObjectMeta: m}
	}
	m.Namespace = "default"
	return &corev1.PersistentVolumeClaim{ObjectMeta: m}
}

// anyGroup is an object that makes a gang of pods that name it, or one that can't be read.
func anyGroup(t *rapid.T) metav1.Object {
	o := oneOf(t, "group kind", group("scheduling.x-k8s.io/v1alpha1", "PodGroup"), group("scheduling.volcano.sh/v1beta1", "PodGroup"), group("scheduling.k8s.io/v1alpha1", "Workload")).DeepCopy()
	o.SetNamespace("default")
	o.SetName(oneOf(t, "group name", "train", "sweep"))
	count := oneOf(t, "minimum", int64(1), 2, 3, -1)
	o.Object["spec"] = map[string]any{
		"minMember": count,
		"podGroups": []any{map[string]any{"name": "workers", "policy": map[string]any{"gang": map[string]any{"minCount": count}}}},
	}
	return o
}

func group(apiVersion, kind string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
}

// happen lets something happen to an object.
func (s *server) happen(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "removal") == 0 && len(s.objects) > 0 {
		keys := slices.SortedFunc(maps.Keys(s.objects), func(a, b cluster.ObjectKey) int { return cmp.Compare(a.String(), b.String()) })
		s.remove(rapid.SampledFrom(keys).Draw(t, "removed"))
		return
	}
	switch rapid.IntRange(0, 10).Draw(t, "what") {
	case 10:
		s.write(anyGroup(t))
	case 0, 1, 2:
		s.write(anyNode(t))
	case 3, 4, 5:
		s.write(anyClaim(t))
	case 6, 7:
		s.write(anyPod(t))
	case 8:
		s.write(anyBudget(t))
	default:
		s.write(anyOther(t))
	}
}

func newState(t rapid.TB) *cluster.State {
	t.Helper()
	state, err := cluster.New(cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func query() cluster.Query {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "true"}}
	return cluster.Query{
		Time: noon, NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("true"), Object: pool, Catalog: "all"}},
		Catalogs: map[string][]*cloudprovider.InstanceType{"all": fake.GenericTypes(3)},
	}
}

// sameView compares views apart from their revisions, which say when and not what.
func sameView(t rapid.TB, got, want *cluster.View) {
	t.Helper()
	diff := gocmp.Diff(want, got, cmpopts.IgnoreFields(cluster.View{}, "Revision"), cmpopts.EquateEmpty(),
		gocmp.Comparer(func(a, b *cloudprovider.InstanceType) bool { return a.Name == b.Name }))
	if diff != "" {
		t.Fatalf("the view is not that of the objects (-from scratch +live):\n%s", diff)
	}
}

// PRV-020 to PRV-024: whatever the order in which events come, and however often, the view in the end is the one that is made
// from scratch of the objects that there are; with snapshots in between or without; and each snapshot can be compiled.
func TestViewIsThatOfTheObjects(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		api, live := newServer(), newState(r)
		for range rapid.IntRange(1, 60).Draw(r, "events") {
			api.happen(r)
		}
		events := slices.Clone(api.history)
		for range rapid.IntRange(0, 5).Draw(r, "repeated") {
			events = append(events, rapid.SampledFrom(api.history).Draw(r, "repeat"))
		}
		if rapid.Bool().Draw(r, "out of order") {
			events = rapid.Permutation(events).Draw(r, "order")
		}
		for _, e := range events {
			if !e.Deleted && rapid.IntRange(0, 5).Draw(r, "own write") == 0 {
				apply(r, live, cluster.Assume(e.Object), e)
			}
			apply(r, live, e)
			if rapid.IntRange(0, 9).Draw(r, "look") == 0 {
				if _, err := scheduling.Compile(live.Snapshot(query()).Snapshot); err != nil {
					r.Fatalf("a view that can't be compiled: %v", err)
				}
			}
		}
		scratch := newState(r)
		apply(r, scratch, api.all(r)...)
		sameView(r, live.Snapshot(query()), scratch.Snapshot(query()))
		sameView(r, live.Snapshot(cluster.Query{}), scratch.Snapshot(cluster.Query{}))
	})
}

// Marks and nominations stay with their node through everything but its end.
func TestNotesStayWithTheirNode(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		api, live := newServer(), newState(r)
		for range rapid.IntRange(1, 40).Draw(r, "events") {
			api.happen(r)
			apply(r, live, api.history[len(api.history)-1])
			name := anyName(r)
			switch rapid.IntRange(0, 6).Draw(r, "note") {
			case 0:
				live.Mark(name)
			case 1:
				live.Unmark(name)
			case 2:
				live.Nominate(name, noon.Add(time.Duration(rapid.IntRange(-1, 3).Draw(r, "minutes"))*time.Minute))
			case 3:
				live.NominateNew(name, time.Duration(rapid.IntRange(1, 3).Draw(r, "window"))*time.Minute)
			}
		}
		view := live.Snapshot(query())
		scratch := newState(r)
		apply(r, scratch, api.all(r)...)
		for _, m := range view.Nodes {
			if m.Marked && !scratch.Mark(m.Name) || !m.NominatedUntil.IsZero() && !scratch.Nominate(m.Name, m.NominatedUntil) {
				r.Fatalf("there is no node %s", m.Name)
			}
			if one := live.Node(m.Name); one == nil || one.Name != m.Name {
				r.Fatalf("node %s is not found by its name: %v", m.Name, one)
			}
		}
		sameView(r, view, scratch.Snapshot(query()))
	})
}

// Objects without UIDs and resource versions, as tests and other sources have them, are taken as they come.
func TestObjectsWithoutVersions(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		api, live := newServer(), newState(r)
		for range rapid.IntRange(1, 40).Draw(r, "events") {
			api.happen(r)
			e := api.history[len(api.history)-1]
			e.Object.SetUID("")
			e.Object.SetResourceVersion("")
			apply(r, live, e)
		}
		scratch := newState(r)
		apply(r, scratch, api.all(r)...)
		sameView(r, live.Snapshot(query()), scratch.Snapshot(query()))
	})
}

func apply(t rapid.TB, s *cluster.State, events ...cluster.Event) {
	t.Helper()
	if err := s.Apply(events...); err != nil {
		t.Fatal(err)
	}
}
