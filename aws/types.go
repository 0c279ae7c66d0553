package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/discovery"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/cloudprovider"
)

// InstanceTypes returns the instance types of the NodePool's node class, available or not, with overlays applied (CP-CATALOG). For
// a node class that is missing or is being deleted, the error is of kind NodeClassNotReady. If a class is not ready, it has types as soon
// as its status lists subnets, because drift of running instances depends on the types.
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
		return nil, cloudprovider.NewNodeClassNotReadyError(ref.Kind+" "+ref.Name, "the kubelet block of the nodepool can't be used", err)
	}
	types, _, err := p.types(ctx, launched, v1.QualifiedName(nodePool), instancetype.TenancyOfPool(nodePool))
	return types, err
}

// tenancyOfClaim returns the tenancy that a NodeClaim requires, or "". If the requirements can't be read, it returns "": other functions
// report that error.
func tenancyOfClaim(claim *v1.NodeClaim) string {
	want, err := requirements.ParseSet(claim.Spec.Requirements)
	if err != nil {
		return ""
	}
	return instancetype.TenancyWanted(want)
}

// types returns the instance types of a node class for a NodePool, and the placement group of the class. If nodePool is empty, no overlays
// apply. tenancy is used if the class sets no tenancy.
func (p *Provider) types(ctx context.Context, class *awsv1.EC2NodeClass, nodePool, tenancy string) ([]*cloudprovider.InstanceType, *placement.Group, error) {
	class = withLaunchSubnets(class)
	group, err := p.groups.Find(ctx, class.Spec.PlacementGroupSelector)
	var missing *placement.NotFoundError
	switch {
	case group != nil:
		if err != nil {
			p.log.Warn("cannot refresh placement group, using the previous result", "nodeClass", class.Name, "error", err)
		}
	case errors.As(err, &missing):
		return nil, nil, cloudprovider.NewNodeClassNotReadyError(nodeClassKind+" "+class.Name, "its placement group does not exist", err)
	case err != nil:
		return nil, nil, err
	}
	market, err := p.market.Market()
	if err != nil {
		return nil, nil, cloudprovider.NewTransientError(err)
	}
	settings := p.config.InstanceTypes
	settings.VMMemoryOverheadPercent = p.config.VMMemoryOverheadPercent
	settings.ReservedENIs = p.config.ReservedENIs
	settings.Tenancy = tenancy
	settings.DiscoveredMemory = p.memory.For(string(class.Spec.EffectiveAMIFamily()), imageKey(class))
	options := offerings.Options{Settings: settings, Group: group, WithoutReservations: p.config.WithoutReservedCapacity}
	if err := p.ownHardware(ctx, class, &options); err != nil {
		return nil, nil, err
	}
	types, err := p.view(market, class, options)
	if err != nil {
		return nil, nil, err
	}
	if pricer, ok := p.options.Overlays.(StandInPricer); ok {
		if types, err = p.standIns(ctx, pricer, market, class, options, types); err != nil {
			return nil, nil, err
		}
	}
	if p.options.Overlays != nil && nodePool != "" {
		if types, err = p.options.Overlays.Overlay(ctx, nodePool, types); err != nil {
			return nil, nil, fmt.Errorf("overlays of nodepool %q: %w", nodePool, err)
		}
	}
	return types, group, nil
}

// withLaunchSubnets returns the class with only the subnets in which it launches; see outposts.Subnets. class itself is not changed.
func withLaunchSubnets(class *awsv1.EC2NodeClass) *awsv1.EC2NodeClass {
	subnets := outposts.Subnets(class.Status.Subnets)
	if len(subnets) == len(class.Status.Subnets) {
		return class
	}
	changed := *class
	changed.Status.Subnets = subnets
	return &changed
}

// ownHardware sets HostRoom and Outposts from EC2's reports about Dedicated Hosts and Outposts on which the class launches. A host resource
// group allocates hosts when they are needed, so the room on its present hosts is not a limit.
func (p *Provider) ownHardware(ctx context.Context, class *awsv1.EC2NodeClass, o *offerings.Options) error {
	if p.hosts != nil && class.Spec.EffectiveTenancy() == awsv1.TenancyHost && class.Spec.Placement.HostResourceGroupARN == nil {
		room, err := p.hosts.Room(ctx, class.Spec.Host())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.log.Warn("cannot read free capacity of Dedicated Hosts, using the previous result if there is one, or else assuming that hosts have free capacity", "nodeClass", class.Name, "error", err)
		}
		o.HostRoom = room
	}
	for zone, arn := range outposts.In(class.Status.Subnets) {
		outpost, err := p.outposts.Find(ctx, arn)
		switch {
		case outpost == nil:
			return err
		case err != nil:
			p.log.Warn("cannot refresh the instance types of an Outpost, using the previous result", "nodeClass", class.Name, "outpost", arn, "error", err)
		}
		if o.Outposts == nil {
			o.Outposts = map[string]outposts.Outpost{}
		}
		o.Outposts[zone] = *outpost
	}
	return nil
}

// view returns the instance types of a class with the given options.
func (p *Provider) view(market offerings.Market, class *awsv1.EC2NodeClass, options offerings.Options) ([]*cloudprovider.InstanceType, error) {
	view, err := offerings.NewView(market.Catalog, class, options)
	if err != nil {
		return nil, unusable(class, err)
	}
	types, err := p.offerings.Types(market, view)
	if err != nil {
		return nil, unusable(class, err)
	}
	return types, nil
}

// standIns returns the instance types of a class, including types for which AWS has no price but pricer has one. types are the class's
// instance types with prices of AWS: standIns returns them unchanged if the pricer adds no price.
func (p *Provider) standIns(ctx context.Context, pricer StandInPricer, market offerings.Market, class *awsv1.EC2NodeClass, options offerings.Options, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
	options.StandInPrices = make(map[string]float64)
	for i := range market.Catalog.Types {
		if name := market.Catalog.Types[i].Name; !hasPrice(market, name) {
			options.StandInPrices[name] = 1 // temporary price, which only makes unpriced types appear in the result of view
		}
	}
	if len(options.StandInPrices) == 0 {
		return types, nil
	}
	all, err := p.view(market, class, options)
	if err != nil {
		return nil, err
	}
	unpriced := slices.DeleteFunc(slices.Clone(all), func(t *cloudprovider.InstanceType) bool { return options.StandInPrices[t.Name] == 0 })
	if options.StandInPrices, err = pricer.StandInPrices(ctx, unpriced); err != nil {
		return nil, fmt.Errorf("estimating missing prices of instance types: %w", err)
	}
	if len(options.StandInPrices) == 0 {
		return types, nil
	}
	return p.view(market, class, options)
}

// hasPrice reports whether a type has a price of any kind.
func hasPrice(market offerings.Market, name string) bool {
	if market.Prices == nil {
		return false
	}
	if quote, _ := market.Prices.OnDemand(name); quote.USD > 0 {
		return true
	}
	return slices.ContainsFunc(market.Catalog.Zones, func(z catalog.Zone) bool {
		quote, _ := market.Prices.Spot(name, z.Name)
		return quote.USD > 0
	})
}

func imageKey(class *awsv1.EC2NodeClass) string {
	ids := make([]string, len(class.Status.AMIs))
	for i, ami := range class.Status.AMIs {
		ids[i] = ami.ID
	}
	return discovery.ImageKey(ids...)
}

// unusable converts an error whose cause is the node class itself: the class has no subnets, or its settings are invalid.
func unusable(class *awsv1.EC2NodeClass, err error) error {
	return cloudprovider.NewNodeClassNotReadyError(nodeClassKind+" "+class.Name, "no instance types can be determined", err)
}
