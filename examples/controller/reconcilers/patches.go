package reconcilers

import (
	"context"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/conditions"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Objects are written as patches that contain only the changed fields, so that fields of newer API versions are kept. Each patch has the
// resource version that the change is based on: after a conflict the object is reconciled again.

// errVanished is the error of a write to an object that no longer exists.
var errVanished = errors.New("the object is gone")

// vanished returns errVanished if the API server reports that the object does not exist, and any other error unchanged.
func vanished(err error) error {
	if apierrors.IsNotFound(err) {
		return errVanished
	}
	return err
}

// putClaim stores want's metadata and status; base is the claim that was read before. It returns the claim as stored, or nil if the claim
// is gone, for example because its last finalizer was removed.
func putClaim(ctx context.Context, c client.Client, base, want *v1.NodeClaim) (*v1.NodeClaim, error) {
	stored, err := storeClaim(ctx, c, base, want)
	if errors.Is(err, errVanished) {
		return nil, nil
	}
	return stored, err
}

// storeClaim is putClaim for a caller that must know whether the claim existed: it returns errVanished if it did not.
func storeClaim(ctx context.Context, c client.Client, base, want *v1.NodeClaim) (*v1.NodeClaim, error) {
	stored := base
	if !sameMetadata(&base.ObjectMeta, &want.ObjectMeta) {
		next := base.DeepCopy()
		next.Labels, next.Annotations, next.Finalizers, next.OwnerReferences = want.Labels, want.Annotations, want.Finalizers, want.OwnerReferences
		if err := c.Patch(ctx, next, unchangedSince(base)); err != nil {
			return nil, vanished(err)
		}
		if next.DeletionTimestamp != nil && len(next.Finalizers) == 0 {
			return nil, nil
		}
		stored = next
	}
	if apiequality.Semantic.DeepEqual(stored.Status, want.Status) {
		return stored, nil
	}
	next := stored.DeepCopy()
	next.Status = *want.Status.DeepCopy()
	conditions.Complete(next.Status.Conditions)
	if err := c.Status().Patch(ctx, next, unchangedSince(stored)); err != nil {
		return nil, vanished(err)
	}
	return next, nil
}

// putPool stores want's annotations and status; base is the pool that was read before.
func putPool(ctx context.Context, c client.Client, base, want *v1.NodePool) error {
	stored := base
	if !maps.Equal(base.Annotations, want.Annotations) {
		next := base.DeepCopy()
		next.Annotations = want.Annotations
		if err := c.Patch(ctx, next, unchangedSince(base)); err != nil {
			return err
		}
		stored = next
	}
	if apiequality.Semantic.DeepEqual(stored.Status, want.Status) {
		return nil
	}
	next := stored.DeepCopy()
	next.Status = *want.Status.DeepCopy()
	conditions.Complete(next.Status.Conditions)
	return c.Status().Patch(ctx, next, unchangedSince(stored))
}

// putNode stores want's metadata and taints; base is the node that was read before. It returns the node as stored, or nil if the node is
// gone, for example because its last finalizer was removed.
func putNode(ctx context.Context, c client.Client, base, want *corev1.Node) (*corev1.Node, error) {
	stored, err := storeNode(ctx, c, base, want)
	if errors.Is(err, errVanished) {
		return nil, nil
	}
	return stored, err
}

// storeNode is putNode for a caller that must know whether the node existed: it returns errVanished if it did not.
func storeNode(ctx context.Context, c client.Client, base, want *corev1.Node) (*corev1.Node, error) {
	next := base.DeepCopy()
	next.Labels, next.Annotations, next.Finalizers, next.OwnerReferences = want.Labels, want.Annotations, want.Finalizers, want.OwnerReferences
	next.Spec.Taints, next.Spec.Unschedulable = want.Spec.Taints, want.Spec.Unschedulable
	if err := c.Patch(ctx, next, unchangedSince(base)); err != nil {
		return nil, vanished(err)
	}
	if next.DeletionTimestamp != nil && len(next.Finalizers) == 0 {
		return nil, nil
	}
	return next, nil
}

func unchangedSince(base client.Object) client.Patch {
	return client.MergeFromWithOptions(base.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
}

func sameMetadata(a, b *metav1.ObjectMeta) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) && slices.Equal(a.Finalizers, b.Finalizers) &&
		apiequality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences)
}

// deleteExactly deletes the object with the UID. If the object does not exist, or has another UID, this is not an error.
func deleteExactly(ctx context.Context, c client.Client, object client.Object, options ...client.DeleteOption) error {
	uid := object.GetUID()
	err := c.Delete(ctx, object, append(options, client.Preconditions{UID: &uid})...)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
