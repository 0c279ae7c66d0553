package cloudprovider

import (
	"context"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// CloudProvider is what every provider must have. The contract of each method is in the package comment, in clauses
// that the conformance kit tests one by one. All methods are safe for concurrent use.
//
// More is optional: DriftDetector, Repairer, InterruptionSource, NodeClassStatus and RegistrationGate are found by
// asking the provider for them (see As).
type CloudProvider interface {
	// Name of the provider, in lower case: a label of metrics and a word in messages. It never changes.
	Name() string

	// InstanceTypes are all instances that a NodePool may be given, available or not (CP-CATALOG). The slice
	// is the caller's; what it points to is shared and must not be changed.
	InstanceTypes(ctx context.Context, nodePool *v1.NodePool) ([]*InstanceType, error)

	// Create launches exactly one instance that meets the claim, and describes it (CP-CREATE). Repeated for
	// the same claim UID it gives the same instance. The claim is not changed.
	Create(ctx context.Context, nodeClaim *v1.NodeClaim) (*v1.NodeClaim, error)

	// Delete starts the end of the instance with the claim's provider ID: nil means that termination is under way, an
	// error of kind NodeClaimNotFound that the instance is gone (CP-DELETE). Call it until it says so.
	Delete(ctx context.Context, nodeClaim *v1.NodeClaim) error

	// Get describes one instance, or says with an error of kind NodeClaimNotFound that it is gone (CP-GET).
	Get(ctx context.Context, providerID string) (*v1.NodeClaim, error)

	// List describes every instance this cluster owns; those that are shutting down bear a deletion timestamp
	// (CP-LIST).
	List(ctx context.Context) ([]*v1.NodeClaim, error)

	// Describe declares what the provider is like (CP-DESCRIBE). It does no I/O and always gives the same answer.
	Describe() Capabilities
}

// As finds an optional interface of a provider: in the provider itself, or in one that it wraps and gives away by a
// method Unwrap() CloudProvider. A wrapper that only times calls thus hides nothing.
//
//	if detector, ok := cloudprovider.As[cloudprovider.DriftDetector](provider); ok { … }
func As[T any](provider CloudProvider) (T, bool) {
	for provider != nil {
		if found, ok := provider.(T); ok {
			return found, true
		}
		wrapper, ok := provider.(interface{ Unwrap() CloudProvider })
		if !ok {
			break
		}
		provider = wrapper.Unwrap()
	}
	var none T
	return none, false
}
