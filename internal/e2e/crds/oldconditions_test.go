package crds

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
)

// conditionsOf036 are as Karpenter up to 0.36 wrote them: without reason and message.
const conditionsOf036 = `
- {type: Launched, status: "True", severity: "", lastTransitionTime: "2024-03-01T00:00:00Z"}
- {type: Ready, status: "True", severity: "", lastTransitionTime: "2024-03-01T00:00:00Z"}
`

// Objects with conditions of Karpenter up to 0.36 can be written: created, and changed in what has nothing to do with conditions. Two conditions
// of one type, which two writers would lose, are refused.
func TestConditionsWithoutReasons(t *testing.T) {
	good := map[string]map[string]any{}
	for kind, k := range oldKinds(t) {
		good[kind+" v1beta1"] = k.good
	}
	for kind, k := range kinds(t) {
		good[kind+" v1"] = k.good
	}
	for _, c := range crds.WithV1Beta1() {
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
			var conditions []any
			if err := yaml.Unmarshal([]byte(conditionsOf036), &conditions); err != nil {
				t.Fatal(err)
			}
			if err := unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions"); err != nil {
				t.Fatal(err)
			}
			admitted, errs := judge.Admit(t.Context(), object, nil)
			if len(errs) > 0 {
				t.Errorf("%s %s: %v", c.Kind, version.Name, errs)
				continue
			}
			next := admitted.DeepCopy()
			next.SetFinalizers(nil)
			if _, errs := judge.Admit(t.Context(), next, admitted); len(errs) > 0 {
				t.Errorf("%s %s: taking the finalizer off: %v", c.Kind, version.Name, errs)
			}
			if _, has, _ := unstructured.NestedSlice(admitted.Object, "status", "conditions"); !has {
				continue // this version has none
			}
			if err := unstructured.SetNestedSlice(next.Object, append(conditions, conditions[0]), "status", "conditions"); err != nil {
				t.Fatal(err)
			}
			if _, errs := judge.Admit(t.Context(), next, admitted); len(errs) != 1 || !strings.Contains(errs[0].Error(), "Duplicate value") {
				t.Errorf("%s %s: a type twice: %v", c.Kind, version.Name, errs)
			}
		}
	}
}
