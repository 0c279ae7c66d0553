package onaws

import (
	"context"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
)

// Provider is an aws.Provider whose launches use prices with NodeOverlays applied.
type Provider struct{ *aws.Provider }

// InstanceTypes returns the instance types of the pool's node class without overlays: planning applies NodeOverlays itself, and
// they must not be applied twice.
func (p *Provider) InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p.Provider.InstanceTypes(ctx, ofNoPool(pool))
}

// ofNoPool returns the pool without its name, so that no overlay applies to it.
func ofNoPool(pool *v1.NodePool) *v1.NodePool {
	if pool == nil {
		return nil
	}
	plain := *pool
	plain.Name = ""
	return &plain
}

// overlays applies the cluster's NodeOverlays to instance types, like planning. It evaluates all pools together, because an overlay is
// valid for all pools or for no pool.
type overlays struct {
	client client.Reader
	lookup *requirements.Lookup
	// types returns a pool's instance types without overlays.
	types func(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error)

	mu     sync.Mutex
	in     overlay.Input
	result *overlay.Result
}

// Overlay implements aws.Overlayer.
func (o *overlays) Overlay(ctx context.Context, nodePool string, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
	var list v1.NodeOverlayList
	if err := o.client.List(ctx, &list); err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return types, nil
	}
	var pools v1.NodePoolList
	if err := o.client.List(ctx, &pools); err != nil {
		return nil, err
	}
	in := overlay.Input{Lookup: o.lookup}
	for i := range list.Items {
		in.Overlays = append(in.Overlays, &list.Items[i])
	}
	var known v1.PoolKey
	for i := range pools.Items {
		pool := &pools.Items[i]
		entry := overlay.Pool{Key: pool.Key(), Object: pool}
		switch {
		case v1.QualifiedName(pool) == nodePool:
			entry.Types, known = types, pool.Key()
		case !pool.Conditions().IsTrue(v1.ConditionReady):
			continue // planning also leaves out pools that are not ready
		default:
			var err error
			if entry.Types, err = o.types(ctx, pool); err != nil {
				if ctx.Err() != nil {
					return nil, err
				}
				continue // likewise
			}
		}
		in.Pools = append(in.Pools, entry)
	}
	if known.IsZero() {
		return types, nil // the pool is gone, so no overlay applies
	}
	return o.apply(in).InstanceTypes(known)
}

// StandInPrices implements aws.StandInPricer.
func (o *overlays) StandInPrices(ctx context.Context, types []*cloudprovider.InstanceType) (map[string]float64, error) {
	var list v1.NodeOverlayList
	if err := o.client.List(ctx, &list); err != nil {
		return nil, err
	}
	all := make([]*v1.NodeOverlay, len(list.Items))
	for i := range list.Items {
		all[i] = &list.Items[i]
	}
	return overlay.StandInPrices(all, o.lookup, types), nil
}

// apply applies the overlays to the input; parallel launches share one result.
func (o *overlays) apply(in overlay.Input) *overlay.Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.result == nil || !sameInput(o.in, in) {
		in.Previous = o.result
		o.result = overlay.Apply(in)
		in.Previous = nil // do not refer to earlier results, so that they can be freed
		o.in = in
	}
	return o.result
}

func sameInput(a, b overlay.Input) bool {
	return slices.EqualFunc(a.Overlays, b.Overlays, func(a, b *v1.NodeOverlay) bool { return a.UID == b.UID && a.Generation == b.Generation }) &&
		slices.EqualFunc(a.Pools, b.Pools, func(a, b overlay.Pool) bool {
			return a.Object.UID == b.Object.UID && a.Object.Generation == b.Object.Generation && slices.Equal(a.Types, b.Types)
		})
}
