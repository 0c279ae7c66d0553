package reconcilers

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// brokenMapper does not answer.
type brokenMapper struct{ meta.RESTMapper }

func (brokenMapper) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return nil, errors.New("connection refused")
}

// Kinds of pod groups are watched where the API server serves them, in the version that it prefers; without the feature none is.
func TestGroupsThatAreServedAreWatched(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: "scheduling.k8s.io", Version: "v1beta1"}, {Group: "scheduling.k8s.io", Version: "v1alpha3"}, {Group: "scheduling.volcano.sh", Version: "v1beta1"}})
	for _, kind := range []string{"PodGroup", "Workload"} {
		mapper.Add(schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1beta1", Kind: kind}, meta.RESTScopeNamespace)
		mapper.Add(schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1alpha3", Kind: kind}, meta.RESTScopeNamespace)
	}
	mapper.Add(schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroup"}, meta.RESTScopeNamespace)
	o := Options{Features: Features{Gangs: true}, Logger: slog.New(slog.DiscardHandler)}
	if err := o.findGroups(mapper); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range watchedKinds(&o) {
		if object, ok := w.object.(*unstructured.Unstructured); ok {
			got = append(got, string(w.kind)+" "+object.GetAPIVersion())
			if cluster.KindOf(object) != w.kind {
				t.Errorf("the cluster's state takes %s for %s", w.kind, cluster.KindOf(object))
			}
		}
	}
	if want := []string{"PodGroup scheduling.k8s.io/v1beta1", "PodGroup.scheduling.volcano.sh scheduling.volcano.sh/v1beta1"}; !slices.Equal(got, want) {
		t.Errorf("watched: %q, want %q", got, want)
	}
	if err := o.findGroups(brokenMapper{}); err == nil {
		t.Error("an API server that does not answer is no error")
	}
	o.Features.Gangs = false
	if err := o.findGroups(brokenMapper{}); err != nil || len(o.groups) > 0 {
		t.Errorf("without the feature: %v, %v", o.groups, err)
	}
}

// Pods name their PodGroup in a field that the oldest API library does not have: with a library that has it, it is read.
func TestPodsOfSchedulingGroupsAreGangs(t *testing.T) {
	state, err := cluster.New(cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	train := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": map[string]any{"namespace": "research", "name": "train"},
		"spec": map[string]any{
			"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(2)}}, "priority": int64(100),
			"schedulingConstraints": map[string]any{"topology": []any{map[string]any{"key": corev1.LabelTopologyZone}}},
		},
	}}
	events := []cluster.Event{cluster.Upsert(train)}
	for _, name := range []string{"train-0", "train-1"} {
		pod := newPod(name)
		pod.Namespace = "research"
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("train")}
		events = append(events, cluster.Upsert(pod))
	}
	if err := state.Apply(events...); err != nil {
		t.Fatal(err)
	}
	gangs := state.Snapshot(cluster.Query{}).Snapshot.Gangs
	if len(gangs) != 1 || len(gangs[0].Members) != 2 || gangs[0].Minimum != 2 || gangs[0].Priority == nil || *gangs[0].Priority != 100 || len(gangs[0].Topology) != 1 {
		t.Errorf("gangs: %+v", gangs)
	}
}

// A CompositePodGroup makes one gang of its groups; without it, or when it is gone, each is planned by itself.
func TestGroupsOfGroupsAreGangs(t *testing.T) {
	state, err := cluster.New(cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	group := func(version, kind, name string, spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "scheduling.k8s.io/" + version, "kind": kind, "metadata": map[string]any{"namespace": "default", "name": name}, "spec": spec,
		}}
	}
	var events []cluster.Event
	for name, n := range map[string]int64{"driver": 1, "workers": 2} {
		events = append(events, cluster.Upsert(group("v1beta1", "PodGroup", name, map[string]any{
			"parentCompositePodGroupName": "job", "schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": n}},
		})))
		for i := range n {
			pod := newPod(fmt.Sprintf("%s-%d", name, i))
			pod.Namespace, pod.Spec.SchedulingGroup = "default", &corev1.PodSchedulingGroup{PodGroupName: new(name)}
			events = append(events, cluster.Upsert(pod))
		}
	}
	job := group("v1alpha3", "CompositePodGroup", "job", map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minGroupCount": int64(2)}}})
	for i, step := range []struct {
		event cluster.Event
		want  string
	}{{cluster.Upsert(newPod("alone")), "workers 2 of 2"}, {cluster.Upsert(job), "job 3 of 3"}, {cluster.Delete(job), "workers 2 of 2"}} {
		if err := state.Apply(append(events, step.event)...); err != nil {
			t.Fatal(err)
		}
		events = nil
		var got []string
		for _, g := range state.Snapshot(cluster.Query{}).Snapshot.Gangs {
			got = append(got, fmt.Sprintf("%s %d of %d", g.Name, g.Minimum, len(g.Members)))
		}
		if !slices.Equal(got, []string{step.want}) {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}

// The nodes of a gang come together: with one out of stock, what was launched is gone and no node was open to pods; with stock, all come.
func TestGangsAreLaunchedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		cheapest := func(k cloudprovider.OfferingKey) bool {
			return k.CapacityType == v1.CapacityTypeOnDemand && strings.HasSuffix(k.Zone, "1a") && k.InstanceType == "m1.xlarge"
		}
		w.cloud.SetStock(0, func(cloudprovider.OfferingKey) bool { return true })
		w.cloud.SetStock(1, cheapest)
		for _, name := range []string{"train-0", "train-1"} {
			pod := newPod(name)
			pod.Labels = map[string]string{"kueue.x-k8s.io/pod-group-name": "train"}
			pod.Annotations = map[string]string{"kueue.x-k8s.io/pod-group-total-count": "2"}
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
			w.create(pod)
		}
		w.plan()
		claims := w.allClaims()
		if len(claims) != 2 {
			t.Fatalf("%d claims", len(claims))
		}
		for _, c := range claims {
			if group, ok := v1.LaunchGroupOf(c); !ok || group.Claims != 2 {
				t.Fatalf("claim %s is of no group: %v", c.Name, c.Annotations)
			}
		}
		for range 60 {
			w.live(1)
			for _, n := range w.allNodes() {
				if n.Labels[v1.NodeRegisteredLabelKey] == "true" {
					t.Fatal("a node is registered without the other")
				}
			}
		}
		if claims, instances := w.allClaims(), w.cloud.Instances(); len(claims)+len(instances) > 0 {
			t.Fatalf("%d claims and %d instances are left", len(claims), len(instances))
		}
		w.cloud.SetStock(10, cheapest)
		w.live(240) // what was sold out is shown as such for some minutes
		w.plan()
		w.live(30)
		registered := 0
		for _, n := range w.allNodes() {
			if n.Labels[v1.NodeRegisteredLabelKey] == "true" {
				registered++
			}
		}
		if registered != 2 {
			t.Errorf("%d nodes are registered: claims %d, %v", registered, len(w.allClaims()), w.told)
		}
	})
}

// Where there are no nodes kube-scheduler v1.37 does not call members of a PodGroup unschedulable, but reports an error: they wait for
// nodes all the same. Other pods that it met an error with do not.
func TestGroupedPodsThatTheSchedulerStumbledOver(t *testing.T) {
	for group, want := range map[string]bool{"train": true, "": false} {
		pod := &corev1.Pod{}
		if group != "" {
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
		}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulerError}}
		if got := pods.Provisionable(pod); got != want {
			t.Errorf("in PodGroup %q: %t, want %t", group, got, want)
		}
	}
}
