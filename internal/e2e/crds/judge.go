package crds

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
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

// Judge processes objects of one version of a kind as an API server would. It is safe for concurrent use.
type Judge struct {
	structural *schema.Structural
	schema     validation.SchemaCreateValidator
	update     validation.SchemaValidator
	rules      *cel.Validator
}

// Read decodes a definition and sets defaults as an API server does.
func Read(text []byte) (*apiextensions.CustomResourceDefinition, error) {
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

// Accept returns the reasons why an API server would refuse the definition: schemas that are not structural, and rules that don't compile
// or may cost too much. It returns none if it would accept the definition.
func Accept(ctx context.Context, crd *apiextensions.CustomResourceDefinition) field.ErrorList {
	return crdvalidation.ValidateCustomResourceDefinition(ctx, crd)
}

// NewJudge makes the Judge for one version of the definition.
func NewJudge(crd *apiextensions.CustomResourceDefinition, version string) (*Judge, error) {
	props, err := apiextensions.GetSchemaForVersion(crd, version)
	if err != nil {
		return nil, err
	}
	if props == nil {
		return nil, fmt.Errorf("%s has no version %s", crd.Name, version)
	}
	structural, err := schema.NewStructural(props.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &Judge{
		structural: structural, schema: validator, update: validator,
		rules: cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// Admit returns the object as an API server would store it when it is created, or when it replaces old if old is not nil. It drops unknown
// fields, sets defaults, and then validates the object. It does not change its argument.
func (j *Judge) Admit(ctx context.Context, object, old *unstructured.Unstructured) (*unstructured.Unstructured, field.ErrorList) {
	object = object.DeepCopy()
	pruning.Prune(object.Object, j.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, j.structural)
	defaulting.Default(object.Object, j.structural)

	var before any
	var errs field.ErrorList
	if old != nil {
		before = old.Object
		errs = validation.ValidateCustomResourceUpdate(nil, object.Object, old.Object, j.update)
	} else {
		errs = validation.ValidateCustomResource(nil, object.Object, j.schema)
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, j.structural, object.Object)...)
	if slices.ContainsFunc(errs, blocking) {
		return object, errs
	}
	broken, _ := j.rules.Validate(ctx, nil, j.structural, object.Object, before, celconfig.RuntimeCELCostBudget)
	return object, append(errs, broken...)
}

// blocking reports whether the error keeps an API server from evaluating rules: it evaluates rules only for objects with a valid structure.
// For example, an object in which a value does not match a pattern still gets to the rules.
func blocking(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}
