package v1alpha5

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ConvertOptions are the options of a conversion. The zero value keeps the meaning, adds no requirements and rewrites no references.
//
// +kubebuilder:object:generate=false
type ConvertOptions struct {
	// Defaults are the requirements that a webhook used to add to Provisioners: DefaultRequirements and those of the provider. Set them
	// for manifests. Leave them nil for objects from an API server, which contain these requirements already.
	Defaults []RequirementDefault
	// RetiredLabels are label keys of the provider that later generations don't have. A requirement on one of them can't be converted.
	RetiredLabels []string
	// NodeTemplate is the provider's kind of node template, and NodeClass the kind that replaced it: references to the first become
	// references to the second. With the zero values references are copied unchanged.
	NodeTemplate, NodeClass schema.GroupVersionKind
	// OwnerExpireAfter is how long nodes of the Machine's Provisioner may live, because a Machine does not contain this duration. Unset
	// means Never. Only Machine.ToV1 reads it.
	OwnerExpireAfter v1.NillableDuration
	// ReferenceCompat produces the result of Karpenter's conversion tool where it differs: see the package comment.
	ReferenceCompat bool
	// Force returns an object even if there are warnings of severity error. Without Force, the object is nil in this case.
	Force bool
}
