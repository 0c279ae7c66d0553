package v1beta1

import (
	"testing"

	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
)

// An object of v1beta1 is one of v1 but for its version, and shares nothing with it.
func TestProvisioningRequestV1(t *testing.T) {
	var r ProvisioningRequest
	manifest := "{apiVersion: autoscaling.x-k8s.io/v1beta1, kind: ProvisioningRequest, metadata: {name: train, labels: {a: b}}, " +
		"spec: {provisioningClassName: c, podSets: [{podTemplateRef: {name: worker}, count: 2}]}, status: {conditions: [{type: Accepted, status: 'True'}]}}"
	if err := yaml.UnmarshalStrict([]byte(manifest), &r); err != nil {
		t.Fatal(err)
	}
	got := r.V1()
	r.Labels["a"], r.Spec.PodSets[0].Count, r.Status.Conditions[0].Type = "c", 3, "Failed"
	if got.APIVersion != v1.APIVersion || got.Kind != KindProvisioningRequest || got.Name != "train" || got.Labels["a"] != "b" || got.Spec.PodSets[0].Count != 2 || !got.Is(v1.ConditionAccepted) {
		t.Errorf("%+v", got)
	}
	if errs := got.Validate(); len(errs) > 0 {
		t.Error(errs)
	}
}
