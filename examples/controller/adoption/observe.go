package adoption

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Observation is the state of a cluster before it is taken over. This package does not change it.
type Observation struct {
	// Pools, Claims and Nodes are all NodePools, NodeClaims and Nodes of the cluster.
	Pools  []*v1.NodePool
	Claims []*v1.NodeClaim
	Nodes  []*corev1.Node
	// Instances are the instances with the tags of the cluster's nodes, from the provider's List. Nil with InstancesErr.
	Instances []*v1.NodeClaim
	// InstancesErr is the error if the instances could not be listed; then Plan has no findings about them.
	InstancesErr error
	// Supports reports whether the provider manages the node class kind of a reference.
	Supports func(v1.NodeClassReference) bool
	// Lookup contains the labels that the provider knows.
	Lookup *requirements.Lookup
	// Types are the instance types of pools by pool key; if a pool is missing, its types are unknown.
	Types map[v1.PoolKey][]*cloudprovider.InstanceType
	// Drift is the provider's drift result for launched claims, by v1.QualifiedName. The provider was not asked about claims that are
	// missing.
	Drift map[string]Drift
}

// Drift is the provider's drift result for a claim's instance.
type Drift struct {
	Reason cloudprovider.DriftReason
	Err    error
}

// Observe reads the cluster, and asks the provider about its instances. It changes nothing. Errors of the provider are part of the
// observation; the returned error is an error of the cluster.
func Observe(ctx context.Context, reader client.Reader, provider cloudprovider.CloudProvider) (Observation, error) {
	capabilities := provider.Describe()
	out := Observation{
		Supports: capabilities.SupportsNodeClass, Lookup: capabilities.Vocabulary.Compile(),
		Types: map[v1.PoolKey][]*cloudprovider.InstanceType{}, Drift: map[string]Drift{},
	}
	// List the instances before the claims are read: otherwise an instance that is launched in between would look as if it had no claim.
	out.Instances, out.InstancesErr = provider.List(ctx)
	if err := out.read(ctx, reader); err != nil {
		return out, err
	}
	for _, pool := range out.Pools {
		if !out.Supports(pool.Spec.Template.Spec.NodeClassRef) {
			continue
		}
		if types, err := provider.InstanceTypes(ctx, pool); err == nil {
			out.Types[pool.Key()] = types
		}
	}
	detector, detects := cloudprovider.As[cloudprovider.DriftDetector](provider)
	for _, claim := range out.Claims {
		if detects && claim.Status.ProviderID != "" && out.Supports(claim.Spec.NodeClassRef) {
			reason, err := detector.IsDrifted(ctx, claim)
			out.Drift[v1.QualifiedName(claim)] = Drift{Reason: reason, Err: err}
		}
	}
	return out, ctx.Err()
}

// read reads the NodePools, NodeClaims and nodes.
func (o *Observation) read(ctx context.Context, reader client.Reader) error {
	var pools v1.NodePoolList
	var claims v1.NodeClaimList
	var nodes corev1.NodeList
	for what, list := range map[string]client.ObjectList{"nodepools": &pools, "nodeclaims": &claims, "nodes": &nodes} {
		if err := reader.List(ctx, list); err != nil {
			return fmt.Errorf("listing %s: %w", what, err)
		}
	}
	for i := range pools.Items {
		o.Pools = append(o.Pools, &pools.Items[i])
	}
	for i := range claims.Items {
		o.Claims = append(o.Claims, &claims.Items[i])
	}
	for i := range nodes.Items {
		o.Nodes = append(o.Nodes, &nodes.Items[i])
	}
	return nil
}
