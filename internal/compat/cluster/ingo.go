package cluster

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	dkv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
)

// inGo reports whether this project has validation in Go for the kind.
func inGo(kind string) bool {
	switch kind {
	case "NodePool", "NodeClaim", "NodeOverlay", "EC2NodeClass":
		return true
	}
	return false
}

// validateInGo checks an object with this project's validation in Go, like a program that reads manifests and has no API server.
func validateInGo(kind string, object, before map[string]any) field.ErrorList {
	lookup := instancetype.Vocabulary().Compile()
	spec := field.NewPath("spec")
	switch kind {
	case "NodePool":
		return check(object, before, func(pool, old *dkv1.NodePool) field.ErrorList {
			errs := requirements.ValidateNodePool(pool, lookup)
			if old != nil {
				return append(errs, pool.ValidateUpdate(old)...)
			}
			return append(errs, pool.Validate()...)
		})
	case "NodeClaim":
		return check(object, before, func(claim, old *dkv1.NodeClaim) field.ErrorList {
			errs := requirements.ValidateRequirements(claim.Spec.Requirements, lookup, spec.Child("requirements"))
			if old != nil {
				return append(errs, claim.ValidateUpdate(old)...)
			}
			return append(errs, claim.Validate()...)
		})
	case "NodeOverlay":
		return check(object, before, func(overlay, _ *dkv1.NodeOverlay) field.ErrorList {
			return append(requirements.ValidateRequirements(overlay.Spec.Requirements, lookup, spec.Child("requirements")), overlay.Validate()...)
		})
	default:
		return check(object, before, func(class, _ *awsv1.EC2NodeClass) field.ErrorList { return class.Validate() })
	}
}

func check[T any](object, before map[string]any, validate func(object, old *T) field.ErrorList) field.ErrorList {
	decoded, err := decode[T](object)
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath(""), "", err.Error())}
	}
	var old *T
	if before != nil {
		if old, err = decode[T](before); err != nil {
			return field.ErrorList{field.Invalid(field.NewPath(""), "", err.Error())}
		}
	}
	return validate(decoded, old)
}

func decode[T any](object map[string]any) (*T, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	out := new(T)
	return out, json.Unmarshal(data, out)
}
