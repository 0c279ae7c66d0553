package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ConvertOptions are the options of a conversion. The zero value keeps the meaning and completes no references.
//
// +kubebuilder:object:generate=false
type ConvertOptions struct {
	// NodeClass is the provider's own kind of node class, to which a reference without apiVersion or kind refers. With the zero value
	// such a reference stays incomplete, and v1 refuses it.
	NodeClass schema.GroupKind
	// OwnerExpireAfter is the expireAfter of the pool that owns the claim, because v1beta1 has it only in the pool. If it is unset, as for
	// a claim without a pool, the claim never expires. Only NodeClaim.ToV1 reads it.
	OwnerExpireAfter v1.NillableDuration
	// ReferenceCompat produces the result of Karpenter's conversion webhook where it differs: see the package comment.
	ReferenceCompat bool
	// Force returns an object even if there are warnings of severity error. Without Force, the object is nil in this case.
	Force bool
}
