package v1alpha1

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	sigsjson "sigs.k8s.io/json"

	"github.com/drawknife/drawknife/internal/fieldtypes"
	"github.com/drawknife/drawknife/internal/quantities"
)

// Values of the header of an inline provider block, if it has one.
const (
	providerAPIVersion = "extensions.karpenter.sh/v1alpha1"
	providerKind       = "AWS"
)

// provider is an inline block with its apiVersion and kind.
type provider struct {
	metav1.TypeMeta `json:",inline"`
	AWS             `json:",inline"`
}

// DecodeProvider parses the JSON provider block of the Provisioner called name, and returns the equivalent node template with the same
// name. It is strict: unknown fields, fields that an inline block can't have, and a header of another kind are errors with the path in the
// Provisioner, all at once. Then the node template is nil. It also refuses quantities that would take minutes to parse: the block may come
// from any user, and no other code checks it.
func DecodeProvider(name string, block []byte) (*AWSNodeTemplate, field.ErrorList) {
	path := field.NewPath("spec", "provider")
	if errs := outOfBounds(block, path); len(errs) > 0 {
		return nil, errs
	}
	var in provider
	strict, err := sigsjson.UnmarshalStrict(block, &in)
	if err != nil {
		var errs field.ErrorList
		for _, f := range fieldtypes.Faults(block, reflect.TypeFor[provider]()) {
			at := path
			if f.Path != "" {
				at = path.Child(f.Path)
			}
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, f.Message))
		}
		if len(errs) == 0 {
			errs = field.ErrorList{field.Invalid(path, field.OmitValueType{}, strings.TrimPrefix(err.Error(), "json: "))}
		}
		return nil, errs
	}
	var errs field.ErrorList
	for _, err := range strict {
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, err.Error()+": remove it, or name a node template in providerRef instead, which can say more"))
	}
	if in.APIVersion != "" && in.APIVersion != providerAPIVersion {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), in.APIVersion, fmt.Sprintf("must be %s, or be left out", providerAPIVersion)))
	}
	if in.Kind != "" && in.Kind != providerKind {
		errs = append(errs, field.Invalid(path.Child("kind"), in.Kind, fmt.Sprintf("must be %s, or be left out", providerKind)))
	}
	if len(errs) > 0 {
		return nil, errs
	}
	out := &AWSNodeTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: KindAWSNodeTemplate}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: AWSNodeTemplateSpec{AWS: in.AWS},
	}
	return out, nil
}

// outOfBounds reports the quantities of the block that take too long to decode (see package quantities).
func outOfBounds(block []byte, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, f := range quantities.Find(block, reflect.TypeFor[provider]()) {
		plain := quantities.Error{Text: f.Text}
		errs = append(errs, field.Invalid(path.Child(f.Path), field.OmitValueType{}, plain.Error()))
	}
	return errs
}
