package reconcilers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// checkDevices switches support for devices off if the API server does not serve the kinds of DRA: a watch of these kinds would never
// start.
func (o *Options) checkDevices(mapper meta.RESTMapper) error {
	if !o.Features.Devices {
		return nil
	}
	for _, kind := range []string{"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"} {
		_, err := mapper.RESTMapping(resourcev1.SchemeGroupVersion.WithKind(kind).GroupKind(), resourcev1.SchemeGroupVersion.Version)
		if meta.IsNoMatchError(err) {
			o.Features.Devices = false
			o.Logger.Info("ignoring device claims: the API server does not serve this kind of DRA", "kind", kind, "groupVersion", resourcev1.SchemeGroupVersion.String())
			return nil
		}
		if err != nil {
			return fmt.Errorf("asking whether the API server serves %s: %w", kind, err)
		}
	}
	return nil
}

// claimsOfSlice returns the claims of the node that a slice belongs to.
func (r *claimReconciler) claimsOfSlice(ctx context.Context, object client.Object) []reconcile.Request {
	name := object.(*resourcev1.ResourceSlice).Spec.NodeName
	if name == nil {
		return nil
	}
	node := &corev1.Node{}
	if err := r.client.Get(ctx, types.NamespacedName{Name: *name}, node); err != nil {
		return nil // events of the node trigger a check of its claim, so nothing is done here
	}
	return r.claimsOfNode(ctx, node)
}

// slicesFor returns the ResourceSlices of the claim's node while the claim waits for drivers to publish them; otherwise it returns nil. The
// caller owns the list.
func (r *claimReconciler) slicesFor(ctx context.Context, claim *v1.NodeClaim, nodes []*corev1.Node) ([]*resourcev1.ResourceSlice, error) {
	if !r.devices || len(nodes) != 1 || len(v1.RequestedDRADrivers(claim)) == 0 || claim.DeepCopy().Conditions().IsTrue(v1.ConditionInitialized) {
		return nil, nil
	}
	var all resourcev1.ResourceSliceList
	if err := r.client.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("listing the ResourceSlices of node %s: %w", nodes[0].Name, err)
	}
	own := []*resourcev1.ResourceSlice{}
	for i := range all.Items {
		if name := all.Items[i].Spec.NodeName; name != nil && *name == nodes[0].Name {
			own = append(own, &all.Items[i])
		}
	}
	return own, nil
}
