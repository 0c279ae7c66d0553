package aws

import (
	"context"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/cloudprovider"
)

// resolver finds instance types, once for each node class. A resolver is used for one call of Provider.
type resolver struct {
	classes map[string]*awsv1.EC2NodeClass
	types   map[poolOfClass]map[string]*cloudprovider.InstanceType
}

// poolOfClass is the key for a list of instance types: the node class, and the pool, because NodeOverlays apply to pools.
type poolOfClass struct {
	class string
	pool  v1.PoolKey
}

func (p *Provider) newResolver() *resolver {
	return &resolver{classes: map[string]*awsv1.EC2NodeClass{}, types: map[poolOfClass]map[string]*cloudprovider.InstanceType{}}
}

// describe makes a claim from an instance, as far as its class and type can be found. The class is nil if it can't be found.
func (p *Provider) describe(ctx context.Context, i instances.Instance, r *resolver) (*v1.NodeClaim, *awsv1.EC2NodeClass) {
	class := p.classOf(ctx, i, r)
	t := p.typeOf(ctx, i, class, r)
	return p.claimOf(i, class, t, p.offeringOf(i, t)), class
}

// classOf returns the class from which an instance was launched, or nil if unknown.
func (p *Provider) classOf(ctx context.Context, i instances.Instance, r *resolver) *awsv1.EC2NodeClass {
	name := i.NodeClass()
	if class, known := r.classes[name]; known || name == "" {
		return class
	}
	class, err := p.options.NodeClasses.NodeClass(ctx, name)
	if err != nil {
		p.log.Warn("cannot read node class, returning NodeClaims without data of their node class", "nodeClass", name, "error", err)
	}
	r.classes[name] = class
	return class
}

// typeOf returns an instance's type with the NodeOverlays of its pool, or nil if unknown.
func (p *Provider) typeOf(ctx context.Context, i instances.Instance, class *awsv1.EC2NodeClass, r *resolver) *cloudprovider.InstanceType {
	if class == nil {
		return nil
	}
	key := poolOfClass{class.Name, i.NodePool()}
	byName, known := r.types[key]
	if !known {
		list, _, err := p.types(ctx, class, key.pool.String(), "")
		if err != nil {
			p.log.Warn("cannot determine instance types, returning NodeClaims without data of their instance types", "nodeClass", class.Name, "error", err)
		}
		byName = make(map[string]*cloudprovider.InstanceType, len(list))
		for _, t := range list {
			byName[t.Name] = t
		}
		r.types[key] = byName
	}
	return byName[i.Type]
}

// offeringOf returns the offering under which an instance was launched, or nil if its type does not have this offering (any more).
func (p *Provider) offeringOf(i instances.Instance, t *cloudprovider.InstanceType) *cloudprovider.Offering {
	if t == nil {
		return nil
	}
	reservation := ""
	if i.Reservation != nil {
		reservation = i.Reservation.ID
	}
	for n := range t.Offerings {
		o := &t.Offerings[n]
		partition := o.Value(awsv1.LabelPlacementGroupPartition)
		if o.Zone() == i.Zone && o.CapacityType() == i.CapacityType && o.Value(awsv1.LabelCapacityReservationID) == reservation &&
			slices.Contains([]string{"", i.Tenancy}, o.Value(awsv1.LabelInstanceTenancy)) &&
			(i.Partition == 0 || partition == "" || partition == strconv.Itoa(int(i.Partition))) {
			return o
		}
	}
	return nil
}

// claimOf makes a claim from an instance. class, type and offering may be nil. The claim shares no memory with class, type and offering
// (CP-CREATE-06).
func (p *Provider) claimOf(i instances.Instance, class *awsv1.EC2NodeClass, t *cloudprovider.InstanceType, o *cloudprovider.Offering) *v1.NodeClaim {
	if p.config.WithoutReservedCapacity && i.CapacityType == v1.CapacityTypeReserved {
		i.CapacityType, i.Reservation = v1.CapacityTypeOnDemand, nil
	}
	claim := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: i.NodeClaim(), UID: types.UID(i.NodeClaimUID()), Labels: p.labels(i, class, t, o),
			CreationTimestamp: metav1.NewTime(i.LaunchTime),
		},
		Spec:   v1.NodeClaimSpec{NodeClassRef: v1.NodeClassReference{Group: awsv1.Group, Kind: nodeClassKind, Name: i.NodeClass()}},
		Status: v1.NodeClaimStatus{ProviderID: i.ProviderID(), ImageID: i.ImageID},
	}
	if i.Terminating() {
		now := metav1.NewTime(p.now())
		claim.DeletionTimestamp = &now
	}
	switch {
	case t != nil && o != nil:
		claim.Status.Capacity, claim.Status.Allocatable = present(t.CapacityOf(o), i), present(t.AllocatableOf(o), i)
	case t != nil:
		claim.Status.Capacity, claim.Status.Allocatable = present(t.Capacity.DeepCopy(), i), present(t.Allocatable(), i)
	}
	return claim
}

// present leaves out resources that an instance lacks. EFA is left out if the instance was launched without EFA interfaces.
func present(list corev1.ResourceList, i instances.Instance) corev1.ResourceList {
	maps.DeleteFunc(list, func(name corev1.ResourceName, quantity resource.Quantity) bool {
		return quantity.IsZero() || name == instancetype.ResourceEFA && i.EFAs == 0
	})
	return list
}

// labels returns the known labels of an instance: those for which its type and offering allow exactly one value, overridden by what EC2
// reports.
func (p *Provider) labels(i instances.Instance, class *awsv1.EC2NodeClass, t *cloudprovider.InstanceType, o *cloudprovider.Offering) map[string]string {
	labels := map[string]string{}
	if t != nil {
		stated := t.Requirements
		if o != nil {
			stated = t.MachineRequirements(o)
		}
		for r := range stated.All {
			if value, single := onlyValue(r); single {
				labels[r.Key()] = value
			}
		}
	}
	// The following labels describe the actual instance, not the offerings that the claim allowed.
	for _, key := range []string{
		awsv1.LabelPlacementGroupID, awsv1.LabelPlacementGroupPartition,
		awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible, awsv1.LabelTopologyZoneID,
		instancetype.LabelOutpostID,
	} {
		delete(labels, key)
	}
	set := func(key, value string) {
		if value != "" {
			labels[key] = value
		}
	}
	set(corev1.LabelInstanceTypeStable, i.Type)
	set(corev1.LabelTopologyRegion, p.options.Clients.Region())
	set(corev1.LabelTopologyZone, i.Zone)
	set(awsv1.LabelTopologyZoneID, zoneID(i, class))
	set(v1.CapacityTypeLabelKey, i.CapacityType)
	set(awsv1.LabelInstanceTenancy, i.Tenancy)
	if pool := i.NodePool(); !pool.IsZero() {
		labels[pool.LabelKey()] = pool.Name
	}
	set(instancetype.LabelOutpostID, i.OutpostID)
	set(awsv1.LabelPlacementGroupID, i.PlacementGroupID)
	if i.Partition > 0 {
		set(awsv1.LabelPlacementGroupPartition, strconv.Itoa(int(i.Partition)))
	}
	if r := i.Reservation; r != nil {
		set(awsv1.LabelCapacityReservationID, r.ID)
		set(awsv1.LabelCapacityReservationType, string(r.Type))
		set(awsv1.LabelCapacityReservationInterruptible, strconv.FormatBool(r.Interruptible))
	}
	return labels
}

// zoneID returns the ID of the instance's zone. It comes from EC2, or from the class's subnet in this zone if EC2 did not return it.
func zoneID(i instances.Instance, class *awsv1.EC2NodeClass) string {
	if i.ZoneID != "" || class == nil {
		return i.ZoneID
	}
	for _, s := range class.Status.Subnets {
		if s.Zone == i.Zone {
			return s.ZoneID
		}
	}
	return ""
}

func onlyValue(r requirements.Requirement) (string, bool) {
	if r.Complement() || len(r.Values()) != 1 {
		return "", false
	}
	return r.Values()[0], true
}
