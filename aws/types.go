package aws

import (
	"context"
	"errors"
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/discovery"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/offerings"
	"github.com/drawknife/drawknife/aws/placement"
	"github.com/drawknife/drawknife/cloudprovider"
)

// InstanceTypes are the machines of the NodePool's node class, available or not, with overlays applied (CP-CATALOG,
// AWI-146). For a node class that is missing or is being deleted, the error is of kind NodeClassNotReady; one that is
// merely not ready has types as soon as its status lists subnets, since running machines are judged by them.
func (p *Provider) InstanceTypes(ctx context.Context, nodePool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if nodePool == nil {
		return nil, cloudprovider.NewPermanentError(errors.New("the nodepool is nil"))
	}
	types, err := p.typesOfPool(ctx, nodePool)
	if err != nil {
		return nil, fmt.Errorf("instance types of nodepool %q: %w", nodePool.Name, err)
	}
	return types, nil
}

func (p *Provider) typesOfPool(ctx context.Context, nodePool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	ref := nodePool.Spec.Template.Spec.NodeClassRef
	notReady := func(message string) error {
		return cloudprovider.NewNodeClassNotReadyError(ref.Kind+" "+ref.Name, message, nil)
	}
	if !p.capabilities.SupportsNodeClass(ref) {
		return nil, notReady(fmt.Sprintf("the kind is not %s.%s", nodeClassKind, awsv1.Group))
	}
	class, err := p.options.NodeClasses.NodeClass(ctx, ref.Name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading node class %q: %w", ref.Name, err)
	case class == nil, class.DeletionTimestamp != nil:
		return nil, notReady(readiness(ref.Name, class).Message)
	}
	launched, err := p.launchedFrom(class, nil, nodePool)
	if err != nil {
		return nil, cloudprovider.NewNodeClassNotReadyError(ref.Kind+" "+ref.Name, "the nodepool brings a kubelet block that can't be used", err)
	}
	types, _, err := p.types(ctx, launched, v1.QualifiedName(nodePool))
	return types, err
}

// types are those of a node class as a NodePool sees them, and the placement group the class selects. An empty name is no
// NodePool's, for whom there are no overlays (AWI-142).
func (p *Provider) types(ctx context.Context, class *awsv1.EC2NodeClass, nodePool string) ([]*cloudprovider.InstanceType, *placement.Group, error) {
	group, err := p.groups.Find(ctx, class.Spec.PlacementGroupSelector)
	var missing *placement.NotFoundError
	switch {
	case group != nil:
		if err != nil {
			p.log.Warn("the placement group was not read again; it counts as it was", "nodeclass", class.Name, "error", err)
		}
	case errors.As(err, &missing):
		return nil, nil, cloudprovider.NewNodeClassNotReadyError(nodeClassKind+" "+class.Name, "its placement group is not there", err)
	case err != nil:
		return nil, nil, err
	}
	market, err := p.market.Market()
	if err != nil {
		return nil, nil, cloudprovider.NewTransientError(err)
	}
	view, err := offerings.NewView(market.Catalog, class, offerings.Options{
		Settings: instancetype.Options{
			VMMemoryOverheadPercent: p.config.VMMemoryOverheadPercent,
			ReservedENIs:            p.config.ReservedENIs,
			DiscoveredMemory:        p.memory.For(string(class.Spec.EffectiveAMIFamily()), imageKey(class)),
		},
		Group:               group,
		WithoutReservations: p.config.WithoutReservedCapacity,
	})
	if err != nil {
		return nil, nil, unusable(class, err)
	}
	types, err := p.offerings.Types(market, view)
	if err != nil {
		return nil, nil, unusable(class, err)
	}
	if p.options.Overlays != nil && nodePool != "" {
		if types, err = p.options.Overlays.Overlay(ctx, nodePool, types); err != nil {
			return nil, nil, fmt.Errorf("overlays of nodepool %q: %w", nodePool, err)
		}
	}
	return types, group, nil
}

func imageKey(class *awsv1.EC2NodeClass) string {
	ids := make([]string, len(class.Status.AMIs))
	for i, ami := range class.Status.AMIs {
		ids[i] = ami.ID
	}
	return discovery.ImageKey(ids...)
}

// unusable says that a node class's own content is why it has no types: no subnets, or settings that can't be.
func unusable(class *awsv1.EC2NodeClass, err error) error {
	return cloudprovider.NewNodeClassNotReadyError(nodeClassKind+" "+class.Name, "no instance types can be told", err)
}
