package reconcilers

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// A cluster may have nodes of several providers, each with its own controller. Objects of another provider have a node class of
// another kind and are ignored here: this provider does not list their instances, and their taints, conditions and finalizers
// belong to the other controller.

// owns reports whether the node class may belong to this provider. References of early releases without kind or group also belong to this
// provider.
func (a *actor) owns(class v1.NodeClassReference) bool {
	return class.Kind == "" || class.Group == "" || a.provider.Describe().SupportsNodeClass(class)
}

// foreignClaim reports whether the claim belongs to another provider.
func (a *actor) foreignClaim(claim *v1.NodeClaim) bool { return !a.owns(claim.Spec.NodeClassRef) }

// foreignNode reports whether the node belongs to another provider. claims are the claims with its provider ID. An object without a claim
// belongs to the provider of its pool. An object without a claim and without a pool belongs to this provider.
func (a *actor) foreignNode(ctx context.Context, node *corev1.Node, claims []*v1.NodeClaim) (bool, error) {
	if len(claims) > 0 {
		return slices.ContainsFunc(claims, a.foreignClaim), nil
	}
	pool, err := poolOf(ctx, a.client, &v1.NodeClaim{ObjectMeta: node.ObjectMeta})
	return err == nil && pool != nil && a.foreignPool(pool), err
}

func (a *actor) foreignPool(pool *v1.NodePool) bool {
	return !a.owns(pool.Spec.Template.Spec.NodeClassRef)
}

// misspelt reports whether a pool's node class reference has this provider's API group. If the reference's kind is not the provider's kind,
// the reference is probably misspelt. Conditions are written only to pools whose reference has this provider's group.
func (a *actor) misspelt(pool *v1.NodePool) bool {
	ref := pool.Spec.Template.Spec.NodeClassRef
	return slices.ContainsFunc(a.provider.Describe().NodeClasses, func(kind metav1.GroupKind) bool { return kind.Group == ref.Group })
}

// foreignPools returns the pools of other providers.
func (a *actor) foreignPools(ctx context.Context) (map[v1.PoolKey]bool, error) {
	var list v1.NodePoolList
	if err := a.client.List(ctx, &list); err != nil {
		return nil, err
	}
	foreign := map[v1.PoolKey]bool{}
	for i := range list.Items {
		if a.foreignPool(&list.Items[i]) {
			foreign[list.Items[i].Key()] = true
		}
	}
	return foreign, nil
}

// own returns the view with the instances of this provider and with nodes without a claim. Snapshot.Nodes still has all nodes.
func (a *actor) own(view *cluster.View) *cluster.View {
	out := *view
	out.Nodes = slices.DeleteFunc(slices.Clone(view.Nodes), func(m cluster.NodeState) bool { return m.Claim != nil && a.foreignClaim(m.Claim) })
	return &out
}
