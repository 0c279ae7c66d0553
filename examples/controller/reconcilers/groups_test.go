package reconcilers

import (
	"errors"
	"log/slog"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/drawknife/drawknife/scheduling/cluster"
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
