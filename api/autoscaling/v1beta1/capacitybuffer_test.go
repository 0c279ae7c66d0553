package v1beta1

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/internal/manifesttest"
)

var update = flag.Bool("update", false, "rewrite the golden files in their canonical form")

func ptr[T any](v T) *T { return &v }

func read(t *testing.T, file string) *CapacityBuffer {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	b := &CapacityBuffer{}
	if err := yaml.UnmarshalStrict(text, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// PRV-001, PRV-150: every field is read, and written as it was; limits that are empty stay apart from none.
func TestManifestsRoundTrip(t *testing.T) {
	for _, file := range []string{"podtemplate.yaml", "scalable.yaml"} {
		t.Run(file, func(t *testing.T) {
			manifesttest.RoundTrip(t, file, &CapacityBuffer{}, AddToScheme, *update)
		})
	}
}

func TestDeepCopySharesNothing(t *testing.T) {
	b := read(t, "podtemplate.yaml")
	c := b.DeepCopy()
	*c.Spec.Replicas, c.Spec.PodTemplateRef.Name, *c.Spec.ProvisioningStrategy = 9, "x", "x"
	c.Spec.Limits["cpu"] = resource.MustParse("1")
	c.Status.Conditions[0].Reason = "x"
	*c.Status.PodTemplateGeneration, *c.Status.Replicas = 9, 9
	if again := read(t, "podtemplate.yaml"); !cmp.Equal(b, again) {
		t.Errorf("changing a copy changed the original:\n%s", cmp.Diff(again, b))
	}
}

// PRV-150: the strategy's default; nothing that is set is changed.
func TestDefault(t *testing.T) {
	b := &CapacityBuffer{}
	if b.Strategy() != "buffer.x-k8s.io/active-capacity" {
		t.Errorf("strategy %q", b.Strategy())
	}
	b.Default()
	once := b.DeepCopy()
	b.Default()
	if *b.Spec.ProvisioningStrategy != StrategyActiveCapacity || !cmp.Equal(once, b) {
		t.Errorf("defaulted: %+v", b.Spec)
	}
	b.Spec.ProvisioningStrategy = ptr("other")
	b.Default()
	if *b.Spec.ProvisioningStrategy != "other" || b.Strategy() != "other" {
		t.Error("a strategy that was given is replaced")
	}
}

// PRV-150.
func TestValidation(t *testing.T) {
	template := func(change func(*CapacityBufferSpec)) CapacityBufferSpec {
		s := CapacityBufferSpec{PodTemplateRef: &LocalObjectRef{Name: "web"}, Replicas: ptr(int32(1))}
		change(&s)
		return s
	}
	scalable := func(change func(*CapacityBufferSpec)) CapacityBufferSpec {
		s := CapacityBufferSpec{ScalableRef: &ScalableRef{APIGroup: "apps", Kind: "Deployment", Name: "web"}, Percentage: ptr(int32(10))}
		change(&s)
		return s
	}
	cpu := func(q string) corev1.ResourceList { return corev1.ResourceList{"cpu": resource.MustParse(q)} }
	for _, tc := range []struct {
		name       string
		spec       CapacityBufferSpec
		path, text string
	}{
		{"template and number", template(func(*CapacityBufferSpec) {}), "", ""},
		{"template and limits", template(func(s *CapacityBufferSpec) { s.Replicas, s.Limits = nil, cpu("1") }), "", ""},
		{"template and neither", template(func(s *CapacityBufferSpec) { s.Replicas = nil }), "spec.replicas", "here or by limits"},
		{"template and empty limits", template(func(s *CapacityBufferSpec) { s.Replicas, s.Limits = nil, corev1.ResourceList{} }), "spec.replicas", "here or by limits"},
		{"template and a percentage alone", template(func(s *CapacityBufferSpec) { s.Replicas, s.Percentage = nil, ptr(int32(1)) }), "spec.replicas", "here or by limits"},
		{"template without name", template(func(s *CapacityBufferSpec) { s.PodTemplateRef.Name = "" }), "spec.podTemplateRef.name", "name the PodTemplate"},
		{"workload", scalable(func(*CapacityBufferSpec) {}), "", ""},
		{"more than the whole workload", scalable(func(s *CapacityBufferSpec) { s.Percentage = ptr(int32(300)) }), "", ""},
		{"workload without size", scalable(func(s *CapacityBufferSpec) { s.Percentage = nil }), "", ""},
		{"StatefulSet", scalable(func(s *CapacityBufferSpec) { s.ScalableRef.Kind = "StatefulSet" }), "", ""},
		{"ReplicaSet", scalable(func(s *CapacityBufferSpec) { s.ScalableRef.Kind = "ReplicaSet" }), "", ""},
		{"Job", scalable(func(s *CapacityBufferSpec) { s.ScalableRef.Kind = "Job" }), "spec.scalableRef.kind", `supported values: "Deployment", "ReplicaSet", "StatefulSet"`},
		{"another group", scalable(func(s *CapacityBufferSpec) { s.ScalableRef.APIGroup = "" }), "spec.scalableRef.apiGroup", `supported values: "apps"`},
		{"workload without name", scalable(func(s *CapacityBufferSpec) { s.ScalableRef.Name = "" }), "spec.scalableRef.name", "name the workload"},
		{"neither", CapacityBufferSpec{Replicas: ptr(int32(1))}, "spec.podTemplateRef", "or a workload in scalableRef"},
		{"both", scalable(func(s *CapacityBufferSpec) { s.PodTemplateRef = &LocalObjectRef{Name: "web"} }), "spec.scalableRef", "give one of"},
		{"another strategy", template(func(s *CapacityBufferSpec) { s.ProvisioningStrategy = ptr("buffer.gke.io/standby-capacity") }), "spec.provisioningStrategy", "active-capacity"},
		{"negative number", template(func(s *CapacityBufferSpec) { s.Replicas = ptr(int32(-1)) }), "spec.replicas", "must not be negative"},
		{"negative percentage", scalable(func(s *CapacityBufferSpec) { s.Percentage = ptr(int32(-1)) }), "spec.percentage", "must not be negative"},
		{"negative limit", template(func(s *CapacityBufferSpec) { s.Limits = cpu("-1") }), "spec.limits[cpu]", "must not be negative"},
		{"absurd limit", template(func(s *CapacityBufferSpec) { s.Limits = cpu("1e99999999") }), "spec.limits[cpu]", "check the unit"},
		{"limit that is no resource", template(func(s *CapacityBufferSpec) { s.Limits = corev1.ResourceList{"c p u": resource.MustParse("1")} }), "spec.limits[c p u]", "not a resource name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tc.spec}
			errs := b.Validate()
			if tc.path == "" {
				if len(errs) > 0 {
					t.Errorf("refused: %v", errs.ToAggregate())
				}
				return
			}
			if len(errs) != 1 || errs[0].Field != tc.path || !strings.Contains(errs[0].Error(), tc.text) {
				t.Errorf("got %v, want one error at %s saying %q", errs, tc.path, tc.text)
			}
		})
	}
	t.Run("names", func(t *testing.T) {
		for name, ok := range map[string]bool{"web": true, "": false, "Web": false} {
			b := &CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template(func(*CapacityBufferSpec) {})}
			if errs := b.Validate(); (len(errs) == 0) != ok || !ok && errs[0].Field != "metadata.name" {
				t.Errorf("%q: %v", name, errs)
			}
		}
		b := &CapacityBuffer{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"}, Spec: template(func(*CapacityBufferSpec) {})}
		if errs := b.Validate(); len(errs) > 0 {
			t.Errorf("generated name: %v", errs)
		}
	})
}

// PRV-153: transition times move with the status alone.
func TestConditions(t *testing.T) {
	created := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	b := &CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Generation: 2, CreationTimestamp: metav1.NewTime(created)}}
	want := metav1.Condition{
		Type: "Provisioning", Status: "Unknown", Reason: "AwaitingReconciliation",
		ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(created),
	}
	if diff := cmp.Diff(want, b.Condition(ConditionProvisioning)); diff != "" {
		t.Errorf("never written (-want +got):\n%s", diff)
	}
	first, second, third := created.Add(time.Minute), created.Add(2*time.Minute), created.Add(3*time.Minute)
	for _, step := range []struct {
		name    string
		status  metav1.ConditionStatus
		reason  string
		at      time.Time
		changed bool
		since   time.Time
	}{
		{"new", "False", ReasonBufferEmpty, first, true, first},
		{"the same", "False", ReasonBufferEmpty, second, false, first},
		{"another reason", "False", ReasonRequiresNewCapacity, second, true, first},
		{"another status", "True", ReasonFitsExistingCapacity, third, true, third},
	} {
		changed := b.SetCondition(ConditionProvisioning, step.status, step.reason, "", step.at)
		got := b.Condition(ConditionProvisioning)
		if changed != step.changed || got.Status != step.status || got.Reason != step.reason || !got.LastTransitionTime.Time.Equal(step.since) {
			t.Errorf("%s: changed %v, %+v", step.name, changed, got)
		}
	}
	if len(b.Status.Conditions) != 1 {
		t.Errorf("%d conditions", len(b.Status.Conditions))
	}
}

func FuzzManifest(f *testing.F) {
	manifesttest.Seed(f)
	f.Fuzz(func(t *testing.T, manifest []byte) {
		b := &CapacityBuffer{}
		if !manifesttest.Reread(t, manifest, b, &CapacityBuffer{}) {
			return
		}
		b.Validate()
	})
}
