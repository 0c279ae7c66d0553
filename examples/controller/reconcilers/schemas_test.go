package reconcilers

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

// schemas judge objects by the schemas of their definitions, as an API server does.
type schemas map[schema.GroupVersionKind]*validate.SchemaValidator

func readSchemas(t *testing.T) schemas {
	t.Helper()
	out := make(schemas)
	for _, definition := range slices.Concat(crds.All(), crds.WithV1Beta1(), crds.Alpha()) {
		var crd struct {
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema spec.Schema }
				}
			}
		}
		text, err := yaml.YAMLToJSON(definition.YAML())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &crd); err != nil {
			t.Fatalf("%s: %v", definition.Name(), err)
		}
		for i := range crd.Spec.Versions {
			version := &crd.Spec.Versions[i]
			kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
			out[kind] = validate.NewSchemaValidator(&version.Schema.OpenAPIV3Schema, nil, "", strfmt.Default)
		}
	}
	return out
}

// judge is what an API server would say of the object as it is sent; nil of kinds of others.
func (s schemas) judge(c client.Client, object client.Object) error {
	kind, err := apiutil.GVKForObject(object, c.Scheme())
	if err != nil {
		return err
	}
	validator := s[kind]
	if validator == nil {
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var sent map[string]any
	if err := json.Unmarshal(text, &sent); err != nil {
		return err
	}
	if result := validator.Validate(sent); !result.IsValid() {
		return fmt.Errorf("%s %q is invalid: %v", kind.Kind, object.GetName(), result.Errors)
	}
	return nil
}

// The judge refuses what an API server refuses: without this, tests that have it would prove nothing.
func TestSchemasRefuse(t *testing.T) {
	judge := readSchemas(t)
	if len(judge) < 10 {
		t.Fatalf("%d kinds", len(judge))
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		good := build.Claim("a")
		if err := judge.judge(w.client, good); err != nil {
			t.Error(err)
		}
		for name, bad := range map[string]func(*v1.NodeClaim){
			"no requirements": func(c *v1.NodeClaim) { c.Spec.Requirements = nil },
			"no class":        func(c *v1.NodeClaim) { c.Spec.NodeClassRef.Name = "" },
			"no such operator": func(c *v1.NodeClaim) {
				c.Spec.Requirements = append(c.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: "a", Operator: "Near"})
			},
		} {
			claim := build.Claim("b")
			bad(claim)
			if err := judge.judge(w.client, claim); err == nil {
				t.Errorf("%s: taken", name)
			}
			if err := w.client.Create(t.Context(), claim); err == nil {
				t.Errorf("%s: the world takes it", name)
			}
		}
	})
}
