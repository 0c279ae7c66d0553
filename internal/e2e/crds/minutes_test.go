package crds

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/drawknife/drawknife/api/crds"
)

// A volume's size that takes minutes to read is refused by its pattern alone. An API server asks rules about what breaks a pattern,
// too, and no bound on their cost counts the digits that an exponent stands for: a rule that read it would keep the API server busy.
func TestVolumeSizeOfManyDigits(t *testing.T) {
	good := map[string]map[string]any{}
	for kind, k := range oldKinds(t) {
		good[kind+" v1beta1"], good[kind+" v1alpha1"] = k.good, k.good
	}
	for kind, k := range kinds(t) {
		good[kind+" v1"] = k.good
	}
	checked := 0
	for _, c := range append(append(crds.WithV1Beta1(), crds.Alpha()...), crds.All()...) {
		if c.Kind != "EC2NodeClass" && c.Kind != "AWSNodeTemplate" {
			continue
		}
		crd, err := Read(c.YAML())
		if err != nil {
			t.Fatal(err)
		}
		for _, version := range crd.Spec.Versions {
			judge, err := NewJudge(crd, version.Name)
			if err != nil {
				t.Fatal(err)
			}
			object := (&unstructured.Unstructured{Object: good[c.Kind+" "+version.Name]}).DeepCopy()
			mappings := []any{map[string]any{"deviceName": "/dev/xvda", "ebs": map[string]any{"volumeSize": "1e-999999999"}}}
			if err := unstructured.SetNestedSlice(object.Object, mappings, "spec", "blockDeviceMappings"); err != nil {
				t.Fatal(err)
			}
			_, errs := judge.Admit(t.Context(), object, nil)
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), "should match") {
				t.Errorf("%s %s: %v", c.Kind, version.Name, errs)
			}
			checked++
		}
	}
	if checked != 4 {
		t.Errorf("%d definitions are checked", checked)
	}
}
