package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ConvertOptions steer a conversion. The zero value asks for the meaning to be kept and completes no references.
//
// +kubebuilder:object:generate=false
type ConvertOptions struct {
	// NodeClass is the provider's own kind of node class: what a reference without apiVersion or kind means. With the zero
	// value such a reference is left incomplete, which v1 refuses.
	NodeClass schema.GroupKind
	// OwnerExpireAfter is the expireAfter of the pool that owns the claim; v1beta1 keeps it in the pool alone. Unset, for a
	// claim without a pool, reads as Never. Only NodeClaim.ToV1 reads it.
	OwnerExpireAfter v1.NillableDuration
	// ReferenceCompat asks for what Karpenter's conversion webhook gives, where that is something else: see the package.
	ReferenceCompat bool
	// Force gives an object even though there are warnings of severity error. Without it the object is nil then.
	Force bool
}
