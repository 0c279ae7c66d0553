package v1

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// good is a request without a mistake.
func good() *ProvisioningRequest {
	return &ProvisioningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "research", Generation: 1, CreationTimestamp: metav1.NewTime(time.Unix(1000, 0))},
		Spec: ProvisioningRequestSpec{
			ProvisioningClassName: ClassCheckCapacity,
			PodSets:               []PodSet{{PodTemplateRef: Reference{Name: "worker"}, Count: 2}},
		},
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *ProvisioningRequest)
		want   string
	}{
		"good":                {func(*ProvisioningRequest) {}, ""},
		"generated name":      {func(r *ProvisioningRequest) { r.Name, r.GenerateName = "", "train-" }, ""},
		"no name":             {func(r *ProvisioningRequest) { r.Name = "" }, "metadata.name: Required value: give the request a name"},
		"bad name":            {func(r *ProvisioningRequest) { r.Name = "A_" }, "metadata.name: Invalid value"},
		"no class":            {func(r *ProvisioningRequest) { r.Spec.ProvisioningClassName = "" }, "spec.provisioningClassName: Required value"},
		"bad class":           {func(r *ProvisioningRequest) { r.Spec.ProvisioningClassName = "a b" }, "spec.provisioningClassName: Invalid value"},
		"no pods":             {func(r *ProvisioningRequest) { r.Spec.PodSets = nil }, "spec.podSets: Required value"},
		"many pod sets":       {func(r *ProvisioningRequest) { r.Spec.PodSets = make([]PodSet, 33) }, "spec.podSets: Too many: 33: must have at most 32"},
		"no template":         {func(r *ProvisioningRequest) { r.Spec.PodSets[0].PodTemplateRef.Name = "" }, "spec.podSets[0].podTemplateRef.name: Required value"},
		"no count":            {func(r *ProvisioningRequest) { r.Spec.PodSets[0].Count = 0 }, "spec.podSets[0].count: Invalid value: 0"},
		"long parameter":      {func(r *ProvisioningRequest) { r.Spec.Parameters = parameters("a", strings.Repeat("ä", 256)) }, "spec.parameters[a]: Too long"},
		"another's parameter": {func(r *ProvisioningRequest) { r.Spec.Parameters = parameters("a", strings.Repeat("ä", 255)) }, ""},
		"valid until":         {func(r *ProvisioningRequest) { r.Spec.Parameters = parameters(ParameterValidUntilSeconds, "0") }, ""},
		"valid until before":  {func(r *ProvisioningRequest) { r.Spec.Parameters = parameters(ParameterValidUntilSeconds, "-1") }, "spec.parameters[ValidUntilSeconds]: Invalid value"},
		"valid beyond durations": {func(r *ProvisioningRequest) {
			r.Spec.Parameters = parameters(ParameterValidUntilSeconds, "9223372036854775807")
		}, "whole number of seconds from 0 to 3153600000"},
		"no retry":          {func(r *ProvisioningRequest) { r.Spec.Parameters = parameters(ParameterNoRetry, "true") }, ""},
		"no retry, unclear": {func(r *ProvisioningRequest) { r.Spec.Parameters = parameters(ParameterNoRetry, "yes") }, `spec.parameters[noRetry]: Unsupported value: "yes"`},
		"no retry, of another class, unclear": {func(r *ProvisioningRequest) {
			r.Spec.ProvisioningClassName, r.Spec.Parameters = ClassBestEffortAtomicScaleUp, parameters(ParameterNoRetry, "yes")
		}, `spec.parameters[noRetry]: Unsupported value: "yes"`},
		"partial": {func(r *ProvisioningRequest) {
			r.Spec.Parameters = parameters(ParameterPartialCapacityCheck, PartialBook)
		}, ""},
		"partial, unclear": {func(r *ProvisioningRequest) { r.Spec.Parameters = parameters(ParameterPartialCapacityCheck, "true") }, `spec.parameters[partialCapacityCheck]: Unsupported value: "true"`},
		"another class, any value": {func(r *ProvisioningRequest) {
			r.Spec.ProvisioningClassName, r.Spec.Parameters = "queued.example.com", parameters(ParameterNoRetry, "yes")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := good()
			c.change(r)
			errs := r.Validate()
			if (len(errs) > 0) != (c.want != "") || len(errs) > 0 && !strings.Contains(errs.ToAggregate().Error(), c.want) {
				t.Errorf("got %v, want %q", errs, c.want)
			}
		})
	}
}

func parameters(name, value string) map[string]Parameter {
	return map[string]Parameter{name: Parameter(value)}
}

// Nothing of the specification may change.
func TestValidateUpdate(t *testing.T) {
	for want, change := range map[string]func(r *ProvisioningRequest){
		"":                           func(r *ProvisioningRequest) { r.Labels = map[string]string{"a": "b"} },
		"spec.podSets":               func(r *ProvisioningRequest) { r.Spec.PodSets[0].Count++ },
		"spec.provisioningClassName": func(r *ProvisioningRequest) { r.Spec.ProvisioningClassName = ClassPlan },
		"spec.parameters":            func(r *ProvisioningRequest) { r.Spec.Parameters = parameters("a", "b") },
	} {
		r := good()
		change(r)
		errs := r.ValidateUpdate(good())
		if (len(errs) > 0) != (want != "") || len(errs) > 0 && errs[0].Field != want {
			t.Errorf("got %v, want an error of %q", errs, want)
		}
	}
}

func TestValidUntil(t *testing.T) {
	r := good()
	if got := r.ValidUntil(); !got.Equal(time.Unix(1000, 0).Add(7 * 24 * time.Hour)) {
		t.Errorf("by default %s", got)
	}
	r.Spec.Parameters = parameters(ParameterValidUntilSeconds, "60")
	if got := r.ValidUntil(); !got.Equal(time.Unix(1060, 0)) {
		t.Errorf("60 seconds: %s", got)
	}
}

// The time of transition moves with the status alone, and says when a booking began.
func TestConditions(t *testing.T) {
	r := good()
	if c := r.Condition(ConditionProvisioned); c.Status != metav1.ConditionUnknown || !c.LastTransitionTime.Equal(&r.CreationTimestamp) {
		t.Errorf("before it is written: %+v", c)
	}
	first, second := time.Unix(2000, 0), time.Unix(3000, 0)
	if !r.SetCondition(ConditionProvisioned, metav1.ConditionTrue, ReasonCapacityIsFound, "", first) ||
		!r.SetCondition(ConditionProvisioned, metav1.ConditionTrue, ReasonCapacityIsProvisioned, "", second) ||
		r.SetCondition(ConditionProvisioned, metav1.ConditionTrue, ReasonCapacityIsProvisioned, "", second) {
		t.Error("what changes is not reported")
	}
	if c := r.Condition(ConditionProvisioned); !c.LastTransitionTime.Time.Equal(first) || c.ObservedGeneration != 1 || len(r.Status.Conditions) != 1 {
		t.Errorf("%+v", r.Status.Conditions)
	}
	if new(ProvisioningRequest).Outcome().Type != ConditionAccepted || r.Outcome().Type != ConditionProvisioned {
		t.Errorf("the outcome is %+v", r.Outcome())
	}
	if !r.Booked() || r.Done() {
		t.Error("a provisioned request is not booked")
	}
	for _, end := range []string{ConditionFailed, ConditionBookingExpired, ConditionCapacityRevoked} {
		over := r.DeepCopy()
		over.SetCondition(end, metav1.ConditionTrue, "Over", "", second)
		if over.Booked() || !over.Done() || over.Outcome().Type != end {
			t.Errorf("%s does not end the request", end)
		}
	}
}

func TestConsumedBy(t *testing.T) {
	for want, annotations := range map[string]map[string]string{
		"":    nil,
		"new": {ConsumeAnnotationKey: "new", ConsumeAnnotationKeyOld: "old"},
		"old": {ConsumeAnnotationKeyOld: "old"},
	} {
		if got := ConsumedBy(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}); got != want {
			t.Errorf("%v: got %q, want %q", annotations, got, want)
		}
	}
	if ConsumedBy(nil) != "" {
		t.Error("no pod uses a request")
	}
}

// What a client writes is what a manifest says: nothing is added or lost.
func TestRoundTrip(t *testing.T) {
	manifest := "apiVersion: autoscaling.x-k8s.io/v1\nkind: ProvisioningRequest\nmetadata:\n  name: train\nspec:\n  parameters:\n    noRetry: \"true\"\n" +
		"  podSets:\n  - count: 4\n    podTemplateRef:\n      name: worker\n  provisioningClassName: check-capacity.autoscaling.x-k8s.io\n"
	var r ProvisioningRequest
	if err := yaml.UnmarshalStrict([]byte(manifest), &r); err != nil {
		t.Fatal(err)
	}
	if text, err := yaml.Marshal(&r); err != nil || string(text) != manifest {
		t.Errorf("%v\n%s", err, text)
	}
	if err := yaml.UnmarshalStrict([]byte(manifest+"  podSet: []\n"), &r); err == nil || !strings.Contains(err.Error(), "podSet") {
		t.Errorf("an unknown field is not refused: %v", err)
	}
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil || !scheme.Recognizes(GroupVersion().WithKind(KindProvisioningRequest)) {
		t.Errorf("the scheme does not know the kind: %v", err)
	}
	if AddToScheme(nil) == nil {
		t.Error("no scheme was given, and none was missed")
	}
}
