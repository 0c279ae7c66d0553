package cloudprovider

import (
	"context"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// CloudProvider has the methods that every provider must implement. The contract of each method is in the package comment, in clauses that
// the conformance kit tests one by one. All methods are safe for concurrent use.
//
// DriftDetector, Repairer, InterruptionSource, NodeClassStatus, RegistrationGate and GroupCreator are optional: As returns those that a
// provider implements.
type CloudProvider interface {
	// Name of the provider, in lower case: it is used in labels of metrics and in messages. It never changes.
	Name() string

	// InstanceTypes returns all instance types that a NodePool may use, available or not (CP-CATALOG). The caller owns the slice;
	// the types are shared and must not be changed.
	InstanceTypes(ctx context.Context, nodePool *v1.NodePool) ([]*InstanceType, error)

	// Create launches exactly one instance that meets the claim, and describes it (CP-CREATE). Called again for the same claim UID,
	// it returns the same instance. The claim is not changed.
	Create(ctx context.Context, nodeClaim *v1.NodeClaim) (*v1.NodeClaim, error)

	// Delete terminates the instance with the claim's provider ID. If it returns nil, termination is in progress. An error of kind
	// NodeClaimNotFound means that the instance is gone (CP-DELETE). Repeat the call until it returns this error.
	Delete(ctx context.Context, nodeClaim *v1.NodeClaim) error

	// Get describes one instance. The error has kind NodeClaimNotFound if the instance is gone (CP-GET).
	Get(ctx context.Context, providerID string) (*v1.NodeClaim, error)

	// List describes every instance of this cluster; those that are shutting down have a deletion timestamp (CP-LIST).
	List(ctx context.Context) ([]*v1.NodeClaim, error)

	// Describe declares the properties of the provider (CP-DESCRIBE). It does no I/O and always returns the same value.
	Describe() Capabilities
}

// As finds an optional interface of a provider. If the provider does not implement it, As looks at the provider that its method Unwrap()
// CloudProvider returns. So a wrapper that only measures calls need not implement the optional interfaces.
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
