package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instances"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/placement"
	"github.com/drawknife/drawknife/aws/reservations"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Reasons of drift, in the order in which they are looked for (AWI-149).
const (
	// NodeClassDrift: the class's settings have changed since the launch.
	NodeClassDrift cloudprovider.DriftReason = "NodeClassDrift"
	// AMIDrift: machines of the type boot from another image now.
	AMIDrift cloudprovider.DriftReason = "AMIDrift"
	// SecurityGroupDrift: the machine's security groups are not those of the class.
	SecurityGroupDrift cloudprovider.DriftReason = "SecurityGroupDrift"
	// SubnetDrift: the machine's subnet is not one of the class.
	SubnetDrift cloudprovider.DriftReason = "SubnetDrift"
	// CapacityReservationDrift: the machine runs in a reservation that the class does not select.
	CapacityReservationDrift cloudprovider.DriftReason = "CapacityReservationDrift"
	// PlacementGroupDrift: the machine is in another placement group than the class selects.
	PlacementGroupDrift cloudprovider.DriftReason = "PlacementGroupDrift"
)

// IsDrifted compares a claim's machine with its node class as it is now (CP-DRIFT, AWI-149). A claim without a NodePool,
// or whose class is missing or being deleted, is not drifted. What can't be found out is an error only if nothing that
// can be is drift already.
func (p *Provider) IsDrifted(ctx context.Context, nodeClaim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	if nodeClaim == nil {
		return "", cloudprovider.NewPermanentError(errors.New("the nodeclaim is nil"))
	}
	reason, err := p.drift(ctx, nodeClaim)
	if err != nil {
		return "", fmt.Errorf("looking for drift of nodeclaim %q: %w", nodeClaim.Name, err)
	}
	return reason, nil
}

func (p *Provider) drift(ctx context.Context, nodeClaim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	pool := nodeClaim.Labels[v1.NodePoolLabelKey]
	if pool == "" || !p.capabilities.SupportsNodeClass(nodeClaim.Spec.NodeClassRef) {
		return "", nil
	}
	class, err := p.options.NodeClasses.NodeClass(ctx, nodeClaim.Spec.NodeClassRef.Name)
	if err != nil {
		return "", fmt.Errorf("reading node class %q: %w", nodeClaim.Spec.NodeClassRef.Name, err)
	}
	if class == nil || class.DeletionTimestamp != nil {
		return "", nil
	}
	// Looked at first, so that a machine that is gone is told as gone, whatever its class says (CP-DRIFT-03).
	i, err := p.instance(ctx, nodeClaim.Status.ProviderID)
	if err != nil {
		return "", err
	}
	types, group, err := p.types(ctx, class, pool)
	if err != nil {
		return "", err
	}
	info, err := p.options.Cluster.ClusterInfo(ctx)
	if err != nil {
		return "", fmt.Errorf("asking about the cluster: %w", err)
	}
	var unknown []error
	for _, look := range []func() (bool, cloudprovider.DriftReason, error){
		func() (bool, cloudprovider.DriftReason, error) {
			return hashDrifted(nodeClaim, class, info.CABundle), NodeClassDrift, nil
		},
		func() (bool, cloudprovider.DriftReason, error) {
			drifted, err := imageDrifted(i, class, types)
			return drifted, AMIDrift, err
		},
		func() (bool, cloudprovider.DriftReason, error) {
			drifted, err := groupsDrifted(i, class)
			return drifted, SecurityGroupDrift, err
		},
		func() (bool, cloudprovider.DriftReason, error) {
			drifted, err := subnetDrifted(i, class)
			return drifted, SubnetDrift, err
		},
		func() (bool, cloudprovider.DriftReason, error) {
			return p.reservationDrifted(i, class), CapacityReservationDrift, nil
		},
		func() (bool, cloudprovider.DriftReason, error) {
			return placement.Drifted(nodeClaim.Labels, group), PlacementGroupDrift, nil
		},
	} {
		drifted, reason, err := look()
		if drifted && err == nil {
			return reason, nil
		}
		unknown = append(unknown, err)
	}
	return "", errors.Join(unknown...)
}

// hashDrifted compares settings, where both hashes are there and of one version.
func hashDrifted(claim *v1.NodeClaim, class *awsv1.EC2NodeClass, clusterCA string) bool {
	launched, version := claim.Annotations[awsv1.AnnotationHash], claim.Annotations[awsv1.AnnotationHashVersion]
	if launched == "" || version != awsv1.HashVersion {
		return false
	}
	now := class.Hash(clusterCA)
	return now != "" && now != launched
}

func imageDrifted(i instances.Instance, class *awsv1.EC2NodeClass, types []*cloudprovider.InstanceType) (bool, error) {
	if len(class.Status.AMIs) == 0 {
		return false, fmt.Errorf("node class %q lists no image", class.Name)
	}
	at := slices.IndexFunc(types, func(t *cloudprovider.InstanceType) bool { return t.Name == i.Type })
	if at < 0 {
		return false, fmt.Errorf("node class %q has no instance type %q", class.Name, i.Type)
	}
	if i.ImageID == "" {
		return false, fmt.Errorf("EC2 does not say which image instance %q booted from", i.ID)
	}
	image, err := launchtemplate.ImageFor(class, types[at])
	return image != i.ImageID, err
}

func groupsDrifted(i instances.Instance, class *awsv1.EC2NodeClass) (bool, error) {
	if len(class.Status.SecurityGroups) == 0 {
		return false, fmt.Errorf("node class %q lists no security group", class.Name)
	}
	if len(i.SecurityGroupIDs) == 0 {
		return false, fmt.Errorf("EC2 does not say (yet) which security groups instance %q has", i.ID)
	}
	var ids []string
	for _, group := range class.Status.SecurityGroups {
		ids = append(ids, group.ID)
	}
	slices.Sort(ids)
	return !slices.Equal(slices.Compact(ids), slices.Compact(slices.Clone(i.SecurityGroupIDs))), nil
}

func subnetDrifted(i instances.Instance, class *awsv1.EC2NodeClass) (bool, error) {
	if len(class.Status.Subnets) == 0 {
		return false, fmt.Errorf("node class %q lists no subnet", class.Name)
	}
	return !slices.ContainsFunc(class.Status.Subnets, func(s awsv1.Subnet) bool { return s.ID == i.SubnetID }), nil
}

func (p *Provider) reservationDrifted(i instances.Instance, class *awsv1.EC2NodeClass) bool {
	if i.Reservation == nil || p.config.WithoutReservedCapacity {
		return false
	}
	return reservations.Drifted(reservations.Machine{CapacityType: i.CapacityType, ReservationID: i.Reservation.ID}, class.Status.CapacityReservations)
}

// RepairPolicies are the node conditions that mean a machine beyond hope (AWI-150).
func (p *Provider) RepairPolicies() []cloudprovider.RepairPolicy {
	const usual, accelerated = 30 * time.Minute, 10 * time.Minute
	return []cloudprovider.RepairPolicy{
		{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse, Toleration: usual},
		{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionUnknown, Toleration: usual},
		{ConditionType: "AcceleratedHardwareReady", ConditionStatus: corev1.ConditionFalse, Toleration: accelerated},
		{ConditionType: "StorageReady", ConditionStatus: corev1.ConditionFalse, Toleration: usual},
		{ConditionType: "NetworkingReady", ConditionStatus: corev1.ConditionFalse, Toleration: usual},
		{ConditionType: "KernelReady", ConditionStatus: corev1.ConditionFalse, Toleration: usual},
		{ConditionType: "ContainerRuntimeReady", ConditionStatus: corev1.ConditionFalse, Toleration: usual},
	}
}

// Registered holds a node back until EC2 says which partition of its placement group it is in, since pods may be spread
// over them (CP-GATE, AWI-139). All other nodes may be registered at once.
func (p *Provider) Registered(ctx context.Context, nodeClaim *v1.NodeClaim) (cloudprovider.GateResult, error) {
	if nodeClaim == nil || nodeClaim.Labels[awsv1.LabelPlacementGroupID] == "" || nodeClaim.Labels[awsv1.LabelPlacementGroupPartition] != "" {
		return cloudprovider.GateResult{Open: true}, nil
	}
	i, err := p.instance(ctx, nodeClaim.Status.ProviderID)
	if err != nil {
		return cloudprovider.GateResult{}, err
	}
	class, err := p.options.NodeClasses.NodeClass(ctx, i.NodeClass())
	if err != nil {
		return cloudprovider.GateResult{}, fmt.Errorf("reading node class %q: %w", i.NodeClass(), err)
	}
	if class == nil {
		return cloudprovider.GateResult{Open: true}, nil
	}
	group, err := p.groups.Find(ctx, class.Spec.PlacementGroupSelector)
	if err != nil && group == nil {
		return cloudprovider.GateResult{}, err
	}
	if group.Pending(i.Partition) {
		return cloudprovider.GateResult{RetryAfter: 5 * time.Second, Reason: "EC2 has not said yet which partition of the placement group the machine is in"}, nil
	}
	return cloudprovider.GateResult{Open: true}, nil
}
