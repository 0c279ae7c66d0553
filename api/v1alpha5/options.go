package v1alpha5

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ConvertOptions steer a conversion. The zero value asks for the meaning to be kept, adds no requirements and rewrites no
// references.
//
// +kubebuilder:object:generate=false
type ConvertOptions struct {
	// Defaults are the requirements that a webhook used to add to a Provisioner that was applied: DefaultRequirements and
	// the provider's. Give them for manifests; leave them nil for objects that an API server returned, which have them.
	Defaults []RequirementDefault
	// RetiredLabels are label keys of the provider that later generations don't have; a requirement on one can't be kept.
	RetiredLabels []string
	// NodeTemplate is the provider's kind of node template, and NodeClass what became of it: references to the one are
	// rewritten to the other. With the zero values they are copied, and what they leave out stays out.
	NodeTemplate, NodeClass schema.GroupVersionKind
	// OwnerExpireAfter is for how long the Machine's Provisioner lets nodes live; a Machine does not say. Unset reads as
	// Never. Only Machine.ToV1 reads it.
	OwnerExpireAfter v1.NillableDuration
	// ReferenceCompat asks for what Karpenter's conversion tool gives, where that is something else: see the package.
	ReferenceCompat bool
	// Force gives an object even though there are warnings of severity error. Without it the object is nil then.
	Force bool
}
