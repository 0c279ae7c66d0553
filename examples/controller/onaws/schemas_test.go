package onaws

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// classSchema is that of the definition of EC2NodeClasses.
func classSchema(t *testing.T) *validate.SchemaValidator {
	t.Helper()
	definitions := crds.All()
	i := slices.IndexFunc(definitions, func(c crds.CRD) bool { return c.Kind == awsv1.KindEC2NodeClass })
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema spec.Schema }
			}
		}
	}
	text, err := yaml.YAMLToJSON(definitions[i].YAML())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	for v := range crd.Spec.Versions {
		if crd.Spec.Versions[v].Name == awsv1.Version {
			return validate.NewSchemaValidator(&crd.Spec.Versions[v].Schema.OpenAPIV3Schema, nil, "", strfmt.Default)
		}
	}
	t.Fatal("the definition has no such version")
	return nil
}

// judged fails the test when something is written to a class that an API server would not take.
func judged(t *testing.T) interceptor.Funcs {
	schema := classSchema(t)
	check := func(o client.Object, err error) error {
		class, ok := o.(*awsv1.EC2NodeClass)
		if err != nil || !ok {
			return err
		}
		if err := refused(schema, class); err != nil {
			t.Error(err)
			return err
		}
		return nil
	}
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			return check(o, c.Patch(ctx, o, patch, options...))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return check(o, c.SubResource(name).Patch(ctx, o, patch, options...))
		},
	}
}

func refused(schema *validate.SchemaValidator, class *awsv1.EC2NodeClass) error {
	text, err := json.Marshal(class)
	if err != nil {
		return err
	}
	var sent map[string]any
	if err := utiljson.Unmarshal(text, &sent); err != nil {
		return err
	}
	if result := schema.Validate(sent); !result.IsValid() {
		return fmt.Errorf("EC2NodeClass %q is refused: %v\n%s", class.Name, result.Errors, text)
	}
	return nil
}

// The judge refuses what an API server refuses: without this, tests that have it would prove nothing.
func TestClassesAreJudged(t *testing.T) {
	schema := classSchema(t)
	class := newClass("default")
	if err := refused(schema, class); err != nil {
		t.Error(err)
	}
	class.Status.AMIs = []awsv1.AMI{{ID: "ami-1"}} // its requirements are required
	if err := refused(schema, class); err == nil {
		t.Error("an image without requirements is taken")
	}
}
