package adoption

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/conditions"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Apply writes what Plan computed: drift hashes of the present version on NodePools and NodeClaims, and labels that claims of earlier
// releases lack. Claims are written before their pools, so that hashes of different versions are never compared. First, conditions without
// a reason or an observedGeneration get them. Nothing else is written; nothing is launched, replaced or terminated. Apply returns the
// number of writes. After an error, such as a write conflict, it can be called again.
func Apply(ctx context.Context, c client.Client) (int, error) {
	var o Observation
	if err := o.read(ctx, c); err != nil {
		return 0, err
	}
	completed, err := complete(ctx, c, o)
	if err != nil {
		return completed, err
	}
	o.Supports = func(v1.NodeClassReference) bool { return true }
	next := migrated(o)
	written := completed
	for i, claim := range o.Claims {
		want := next.Claims[i]
		if maps.Equal(claim.Annotations, want.Annotations) && maps.Equal(claim.Labels, want.Labels) {
			continue
		}
		if err := patch(ctx, c, claim, want); err != nil {
			return written, fmt.Errorf("nodeclaim %s: %w", claim.Name, err)
		}
		written++
	}
	for i, pool := range o.Pools {
		want := next.Pools[i]
		if maps.Equal(pool.Annotations, want.Annotations) {
			continue
		}
		if err := patch(ctx, c, pool, want); err != nil {
			return written, fmt.Errorf("nodepool %s: %w", pool.Name, err)
		}
		written++
	}
	return written, nil
}

// complete adds missing reasons and observedGenerations to the conditions of claims and pools, before anything else is written: Karpenter
// up to 0.36 wrote conditions without them. A CRD that requires a reason refuses every write to such an object, even of a finalizer.
// Without observedGeneration, the condition Ready would stay Unknown. The object in o is replaced by the stored object.
func complete(ctx context.Context, c client.Client, o Observation) (written int, err error) {
	fill := func(base, next client.Object, list []metav1.Condition) error {
		completed := conditions.Complete(list)
		if observed := conditions.Observe(list, base.GetGeneration()); !completed && !observed {
			return nil
		}
		written++
		return client.IgnoreNotFound(c.Status().Patch(ctx, next, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})))
	}
	for i, claim := range o.Claims {
		next := claim.DeepCopy()
		if err := fill(claim, next, next.Status.Conditions); err != nil {
			return written, fmt.Errorf("nodeclaim %s: %w", claim.Name, err)
		}
		o.Claims[i] = next
	}
	for i, pool := range o.Pools {
		next := pool.DeepCopy()
		if err := fill(pool, next, next.Status.Conditions); err != nil {
			return written, fmt.Errorf("nodepool %s: %w", pool.Name, err)
		}
		o.Pools[i] = next
	}
	return written, nil
}

// patch stores labels and annotations, unless the object has changed since it was read.
func patch(ctx context.Context, c client.Client, base, want client.Object) error {
	next := base.DeepCopyObject().(client.Object)
	next.SetLabels(want.GetLabels())
	next.SetAnnotations(want.GetAnnotations())
	return client.IgnoreNotFound(c.Patch(ctx, next, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})))
}

// NotAdoptedError says that the cluster has nodes of another controller, and that the settings do not allow to adopt them.
type NotAdoptedError struct {
	// Claims is the number of NodeClaims with an instance that drawknife did not create.
	Claims int
}

// Error says how to take over the claims.
func (e *NotAdoptedError) Error() string {
	return fmt.Sprintf("%d NodeClaims were launched by another controller: see with --adopt=dry-run what taking them over means, then start with --adopt", e.Claims)
}

// Foreign returns a *NotAdoptedError if the cluster has instances that another controller launched, else nil. ours reports whether
// drawknife created the instance of a claim.
func Foreign(ctx context.Context, reader client.Reader, ours func(*v1.NodeClaim) bool) error {
	var claims v1.NodeClaimList
	if err := reader.List(ctx, &claims); err != nil {
		return fmt.Errorf("listing nodeclaims: %w", err)
	}
	n := 0
	for i := range claims.Items {
		if c := &claims.Items[i]; c.Status.ProviderID != "" && !ours(c) {
			n++
		}
	}
	if n > 0 {
		return &NotAdoptedError{Claims: n}
	}
	return nil
}
