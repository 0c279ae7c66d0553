package reconcilers

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// A cluster may have nodes of several providers, each with a controller of its own. What is another provider's has a node class of
// another kind, and is nobody's business here: its instances are not in this provider's list, and taints, conditions and finalizers on
// its objects are those of somebody else's commands.

// owns reports whether the node class may be this provider's. References of early releases name no kind or no group, and are.
func (a *actor) owns(class v1.NodeClassReference) bool {
	return class.Kind == "" || class.Group == "" || a.provider.Describe().SupportsNodeClass(class)
}

// foreignClaim reports whether the claim is another provider's.
func (a *actor) foreignClaim(claim *v1.NodeClaim) bool { return !a.owns(claim.Spec.NodeClassRef) }

// foreignNode reports whether the node, with the claims that have its provider ID, is another provider's. One without a claim is what
// its pool is; without a pool too it is taken for this provider's.
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

// misspelt reports whether the pool of another node class probably means one of this provider's: the class's group is, and its kind is
// not. Its conditions say so; nothing is written to pools of other groups.
func (a *actor) misspelt(pool *v1.NodePool) bool {
	ref := pool.Spec.Template.Spec.NodeClassRef
	return slices.ContainsFunc(a.provider.Describe().NodeClasses, func(kind metav1.GroupKind) bool { return kind.Group == ref.Group })
}

// foreignPools are the pools of other providers.
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

// own is the view with this provider's instances alone, and with nodes that nobody claims. Snapshot.Nodes has all of them still.
func (a *actor) own(view *cluster.View) *cluster.View {
	out := *view
	out.Nodes = slices.DeleteFunc(slices.Clone(view.Nodes), func(m cluster.NodeState) bool { return m.Claim != nil && a.foreignClaim(m.Claim) })
	return &out
}
