package buffers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/scheduling"
)

func keys(names ...string) []scheduling.PodKey {
	var list []scheduling.PodKey
	for _, name := range names {
		list = append(list, scheduling.PodKey{Namespace: "shop", Name: name})
	}
	return list
}

// threeBuffers are a and b with two pods each, c with none, d that is not resolved.
func threeBuffers() []Resolved {
	return Resolve(Input{
		Buffers: []*v1beta1.CapacityBuffer{
			onTemplate("a", ptr(int32(2))), onTemplate("b", ptr(int32(2))), onTemplate("c", ptr(int32(0))), onTemplate("d", ptr(int32(1))),
		},
		PodTemplates: []*corev1.PodTemplate{podTemplate("a"), podTemplate("b"), podTemplate("c")},
	})
}

func plan() *scheduling.Plan {
	return &scheduling.Plan{
		Existing: []scheduling.ExistingNode{
			{Name: "n1", Pods: keys("web-1", "capacity-buffer-a-0")},
			{Name: "n2", Pods: keys("web-2")},
			{Name: "n3", Pods: keys("capacity-buffer-a-1", "capacity-buffer-b-1")},
		},
		NewNodes:      []scheduling.NewNode{{Name: "default-1", Pods: keys("capacity-buffer-b-0", "web-3")}},
		Unschedulable: []scheduling.Unschedulable{{Pod: keys("web-4")[0]}},
	}
}

// PRV-153: the conditions after a pass.
func TestConditionsAfterAPass(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	resolved := threeBuffers()
	places := Locate(resolved, plan())
	if diff := cmp.Diff([]Places{{Existing: 2}, {Existing: 1, New: 1}, {}, {}}, places); diff != "" {
		t.Fatalf("places (-want +got):\n%s", diff)
	}
	type conditions struct{ Ready, Provisioning string }
	var got []conditions
	for i := range resolved {
		r := &resolved[i]
		b := r.Buffer.DeepCopy()
		if !r.Record(b, now) || r.Record(b, now) {
			t.Errorf("%s: the first record changes the status, the second doesn't", b.Name)
		}
		p := r.Provisioning(places[i])
		if !p.Record(b, now) || p.Record(b, now) {
			t.Errorf("%s: the first record of a pass changes the condition, the second doesn't", b.Name)
		}
		text := func(conditionType string) string {
			c := b.Condition(conditionType)
			return string(c.Status) + " " + c.Reason + " " + c.Message
		}
		got = append(got, conditions{text(v1beta1.ConditionReadyForProvisioning), text(v1beta1.ConditionProvisioning)})
		if len(r.Buffer.Status.Conditions) > 0 {
			t.Errorf("%s: the buffer given was written to", b.Name)
		}
	}
	missing := `there is no PodTemplate "d" in namespace "shop": create it or correct the reference`
	want := []conditions{
		{"True Resolved ", "True FitsExistingCapacity "},
		{"True Resolved ", "False RequiresNewCapacity pods asked for: 2; with room on existing nodes: 1, on nodes to be launched: 1, nowhere: 0"},
		{"True Resolved ", "False BufferEmpty the buffer stands for no pods: its size is 0, or its limits hold none"},
		{"False PodTemplateNotFound " + missing, "False NotReadyForProvisioning PodTemplateNotFound: " + missing},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	t.Run("without a plan nothing has a place", func(t *testing.T) {
		if got := resolved[0].Provisioning(Locate(resolved, nil)[0]); got.Status != metav1.ConditionFalse || got.Reason != v1beta1.ReasonRequiresNewCapacity {
			t.Errorf("got %+v", got)
		}
	})
}

// PRV-153: the rest of the status, and that what no longer holds is taken back.
func TestStatus(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	resolved := threeBuffers()
	b := resolved[0].Buffer.DeepCopy()
	resolved[0].Record(b, now)
	want := v1beta1.CapacityBufferStatus{
		PodTemplateRef: &v1beta1.LocalObjectRef{Name: "a"}, PodTemplateGeneration: ptr(int64(7)), Replicas: ptr(int32(2)),
		ProvisioningStrategy: ptr("buffer.x-k8s.io/active-capacity"),
		Conditions:           []metav1.Condition{{Type: "ReadyForProvisioning", Status: "True", Reason: "Resolved", LastTransitionTime: metav1.NewTime(now)}},
	}
	if diff := cmp.Diff(want, b.Status); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
	gone := Resolve(Input{Buffers: []*v1beta1.CapacityBuffer{b}})[0]
	later := now.Add(time.Minute)
	if !gone.Record(b, later) {
		t.Error("nothing changed")
	}
	want = v1beta1.CapacityBufferStatus{Conditions: []metav1.Condition{{
		Type: "ReadyForProvisioning", Status: "False", Reason: "PodTemplateNotFound", Message: gone.Message, LastTransitionTime: metav1.NewTime(later),
	}}}
	if diff := cmp.Diff(want, b.Status); diff != "" {
		t.Errorf("once the template is gone (-want +got):\n%s", diff)
	}
}

// PRV-154.
func TestHosts(t *testing.T) {
	pods := Placeholders(threeBuffers())
	if diff := cmp.Diff([]string{"n1", "n3"}, Hosts(pods, plan())); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	if got := Hosts(pods, nil); got != nil {
		t.Errorf("without a plan: %v", got)
	}
	if got := Hosts(nil, plan()); got != nil {
		t.Errorf("without placeholders: %v", got)
	}
}
