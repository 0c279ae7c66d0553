package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	kruntime "k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
)

// Definitions says with which definitions custom resources are checked.
type Definitions string

const (
	// Theirs are the definitions that the suite contains.
	Theirs Definitions = ""
	// Ours are this project's definitions, for all kinds that it defines.
	Ours Definitions = "drawknife"
	// InGo is this project's validation in Go, without any definition.
	InGo Definitions = "drawknife-go"
)

func definitionsInUse() Definitions { return Definitions(os.Getenv("COMPAT_DEFINITIONS")) }

type judge struct {
	structural *schema.Structural
	validator  validation.SchemaCreateValidator
	update     validation.SchemaValidator
	rules      *cel.Validator
}

func schemaKind(crd *apiextensionsv1.CustomResourceDefinition, version string) kruntime.GroupVersionKind {
	return kruntime.GroupVersionKind{Group: crd.Spec.Group, Version: version, Kind: crd.Spec.Names.Kind}
}

func judgesOf(definitions []*apiextensionsv1.CustomResourceDefinition) (map[string]*judge, error) {
	judges := map[string]*judge{}
	for _, crd := range definitions {
		key := schemaKind(crd, "").GroupKind().String()
		if definitionsInUse() == Ours {
			ours, err := ourDefinition(crd)
			if err != nil {
				return nil, err
			}
			crd = ours
		}
		for _, version := range crd.Spec.Versions {
			if !version.Storage {
				continue
			}
			j, err := newJudge(crd, version.Name)
			if err != nil {
				return nil, fmt.Errorf("definition %s: %w", crd.Name, err)
			}
			judges[key] = j
		}
	}
	return judges, nil
}

// ourDefinition returns this project's definition of the kind, or the given definition if the project has none.
func ourDefinition(theirs *apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	for _, crd := range crds.All() {
		if crd.Group == theirs.Spec.Group && crd.Kind == theirs.Spec.Names.Kind {
			out := &apiextensionsv1.CustomResourceDefinition{}
			return out, yaml.Unmarshal(crd.YAML(), out)
		}
	}
	return theirs, nil
}

func newJudge(crd *apiextensionsv1.CustomResourceDefinition, version string) (*judge, error) {
	crd = crd.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, &internal, nil); err != nil {
		return nil, err
	}
	props, err := apiextensions.GetSchemaForVersion(&internal, version)
	if err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(props.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &judge{structural: structural, validator: validator, update: validator, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// admit fills in the defaults of a custom resource and checks it. old is nil or empty for a new object.
func (c *Client) admit(ctx context.Context, obj client.Object, old *unstructured.Unstructured) error {
	gvk, err := apiutil.GVKForObject(obj, scheme.Scheme)
	if err != nil || c.judges[gvk.GroupKind().String()] == nil {
		return nil
	}
	recordReached()
	object, err := asMap(obj)
	if err != nil {
		return err
	}
	object["apiVersion"], object["kind"] = gvk.GroupVersion().String(), gvk.Kind
	var before map[string]any
	if old != nil && len(old.Object) > 0 {
		if before, err = asMap(old); err != nil {
			return err
		}
	}
	j := c.judges[gvk.GroupKind().String()]
	pruning.Prune(object, j.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, j.structural)
	defaulting.Default(object, j.structural)
	errs := metadataErrors(obj)
	if definitionsInUse() == InGo && inGo(gvk.Kind) {
		errs = append(errs, validateInGo(gvk.Kind, object, before)...)
	} else {
		errs = append(errs, j.judge(ctx, object, before)...)
	}
	if len(errs) > 0 {
		return errors.NewInvalid(gvk.GroupKind(), obj.GetName(), errs)
	}
	return fromMap(object, obj)
}

func metadataErrors(obj client.Object) field.ErrorList {
	if obj.GetName() == "" && obj.GetGenerateName() == "" {
		return nil
	}
	path := field.NewPath("metadata")
	errs := metav1validation.ValidateLabels(obj.GetLabels(), path.Child("labels"))
	name := obj.GetName()
	if name == "" {
		name = obj.GetGenerateName() + "x"
	}
	for _, why := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(path.Child("name"), name, why))
	}
	return errs
}

func (j *judge) judge(ctx context.Context, object, before map[string]any) (errs field.ErrorList) {
	if before != nil {
		errs = validation.ValidateCustomResourceUpdate(nil, object, before, j.update)
	} else {
		errs = validation.ValidateCustomResource(nil, object, j.validator)
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, j.structural, object)...)
	if len(errs) > 0 {
		return errs // like the API server: it evaluates rules only for objects with a valid structure
	}
	var was any
	if before != nil {
		was = before
	}
	errs, _ = j.rules.Validate(ctx, nil, j.structural, object, was, celconfig.RuntimeCELCostBudget)
	return errs
}

func asMap(obj any) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, utiljson.Unmarshal(data, &out)
}

func fromMap(object map[string]any, obj client.Object) error {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		u.Object = object
		return nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	fresh := reflect.New(reflect.TypeOf(obj).Elem())
	if err := json.Unmarshal(data, fresh.Interface()); err != nil {
		return err
	}
	reflect.ValueOf(obj).Elem().Set(fresh.Elem())
	return nil
}
