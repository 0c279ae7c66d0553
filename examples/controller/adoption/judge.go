package adoption

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// judge validates objects of one version of a kind like an API server.
type judge struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// readDefinition decodes a CRD like an API server.
func readDefinition(text []byte) (*apiextensions.CustomResourceDefinition, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		return nil, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil); err != nil {
		return nil, err
	}
	return &internal, nil
}

func newJudge(crd *apiextensions.CustomResourceDefinition, version string) (*judge, error) {
	props, err := apiextensions.GetSchemaForVersion(crd, version)
	if err != nil {
		return nil, err
	}
	if props == nil {
		return nil, fmt.Errorf("%s has no schema for version %s", crd.Name, version)
	}
	structural, err := schema.NewStructural(props.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &judge{structural: structural, schema: validator, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// admit returns the paths of the fields that a write of a stored object would drop, and why it can't be written. Validation rules are
// evaluated as if the object was updated without changes.
func (j *judge) admit(ctx context.Context, stored *unstructured.Unstructured) (dropped []string, errs field.ErrorList) {
	o := stored.DeepCopy()
	dropped = pruning.PruneWithOptions(o.Object, j.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(o.Object, j.structural)
	defaulting.Default(o.Object, j.structural)
	errs = validation.ValidateCustomResource(nil, o.Object, j.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, j.structural, o.Object)...)
	if len(errs) > 0 {
		return dropped, errs // like the API server, which evaluates validation rules only if the object matches the schema
	}
	errs, _ = j.rules.Validate(ctx, nil, j.structural, o.Object, o.Object, celconfig.RuntimeCELCostBudget)
	return dropped, errs
}
