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
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/nodeclass"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Reasons of drift, in the order in which they are checked.
const (
	// NodeClassDrift: the class's settings have changed since the launch.
	NodeClassDrift cloudprovider.DriftReason = "NodeClassDrift"
	// AMIDrift: new instances of the type boot from another image.
	AMIDrift cloudprovider.DriftReason = "AMIDrift"
	// SecurityGroupDrift: the instance's security groups differ from the security groups of the class.
	SecurityGroupDrift cloudprovider.DriftReason = "SecurityGroupDrift"
	// SubnetDrift: the instance's subnet is not a subnet of the class.
	SubnetDrift cloudprovider.DriftReason = "SubnetDrift"
	// CapacityReservationDrift: the instance runs in a reservation that the class does not select.
	CapacityReservationDrift cloudprovider.DriftReason = "CapacityReservationDrift"
	// PlacementGroupDrift: the instance is in another placement group than the class selects.
	PlacementGroupDrift cloudprovider.DriftReason = "PlacementGroupDrift"
)

// Drift is the result of comparing an instance with its node class.
type Drift struct {
	// Reason is the first reason that Options.IsDrift accepts; empty if the instance has not drifted.
	Reason cloudprovider.DriftReason
	// Differences are all differences, field by field, in the order of the reasons.
	Differences []Difference
	// Unknown joins the errors of comparisons that failed; nil if everything was compared.
	Unknown error
}

// Difference is one field in which an instance differs from its node class: the cause of drift, for people.
type Difference struct {
	// Field of the class that the instance differs in: "status.securityGroups".
	Field string
	// Have is the instance's value, Want is the class's value, both sorted. Either may be empty.
	Have, Want []string
}

// String returns a sentence: which field, what the instance has and what the class wants.
func (d Difference) String() string { return nodeclass.Difference(d).String() }

// IsForeignSecurityGroups reports whether the instance has all security groups of the class and additional ones, which someone else must
// have added.
func (d Difference) IsForeignSecurityGroups() bool {
	return nodeclass.Difference(d).IsForeignSecurityGroups()
}

func differences(l nodeclass.Launched, e nodeclass.Expected) []Difference {
	var out []Difference
	for _, d := range nodeclass.Differences(l, e) {
		out = append(out, Difference(d))
	}
	return out
}

// IsDrifted compares a claim's instance with the current node class (CP-DRIFT). A claim without a NodePool, or whose class is
// missing or being deleted, is not drifted. A failed comparison is an error only if no other comparison found drift. Drift returns
// all causes.
func (p *Provider) IsDrifted(ctx context.Context, nodeClaim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	d, err := p.Drift(ctx, nodeClaim)
	switch {
	case err != nil:
		return "", err
	case d.Reason == "" && d.Unknown != nil:
		return "", fmt.Errorf("checking drift of nodeclaim %q: %w", nodeClaim.Name, d.Unknown)
	case d.Reason != "":
		p.log.Info("found drift", "nodeClaim", nodeClaim.Name, "reason", d.Reason, "differences", d.Differences)
	}
	return d.Reason, nil
}

// Drift is like IsDrifted, but returns all differences. It fails if the instance, the class, or the details of the cluster can't be
// read.
func (p *Provider) Drift(ctx context.Context, nodeClaim *v1.NodeClaim) (Drift, error) {
	if nodeClaim == nil {
		return Drift{}, cloudprovider.NewPermanentError(errors.New("the nodeclaim is nil"))
	}
	d, err := p.drift(ctx, nodeClaim)
	if err != nil {
		return Drift{}, fmt.Errorf("checking drift of nodeclaim %q: %w", nodeClaim.Name, err)
	}
	return d, nil
}

func (p *Provider) drift(ctx context.Context, nodeClaim *v1.NodeClaim) (Drift, error) {
	pool := v1.PoolOf(nodeClaim.Labels).String()
	if pool == "" || !p.capabilities.SupportsNodeClass(nodeClaim.Spec.NodeClassRef) {
		return Drift{}, nil
	}
	class, err := p.options.NodeClasses.NodeClass(ctx, nodeClaim.Spec.NodeClassRef.Name)
	if err != nil {
		return Drift{}, fmt.Errorf("reading node class %q: %w", nodeClaim.Spec.NodeClassRef.Name, err)
	}
	if class == nil || class.DeletionTimestamp != nil {
		return Drift{}, nil
	}
	// Read the instance before its types, so that a missing instance is reported as missing whatever settings its class has (CP-DRIFT-03).
	i, err := p.instance(ctx, nodeClaim.Status.ProviderID)
	if err != nil {
		return Drift{}, err
	}
	launched, err := p.launchedFrom(class, nodeClaim, nil)
	if err != nil {
		launched = class // an invalid annotation of the claim must not hide the drift of an existing instance
	}
	types, group, err := p.types(ctx, launched, pool, "")
	if err != nil {
		return Drift{}, err
	}
	info, err := p.options.Cluster.ClusterInfo(ctx)
	if err != nil {
		return Drift{}, fmt.Errorf("reading the details of the cluster: %w", err)
	}
	if p.config.WithoutReservedCapacity {
		i.Reservation = nil
	}
	image, imageErr := imageOf(i, class, types)
	d := Drift{
		Differences: differences(
			nodeclass.Launched{Instance: i, Labels: nodeClaim.Labels, Annotations: nodeClaim.Annotations},
			nodeclass.Expected{NodeClass: class, ClusterCA: info.CABundle, ImageID: image, Group: group},
		),
		Unknown: errors.Join(imageErr, groupsKnown(i, class), subnetsKnown(class)),
	}
	if imageErr == nil && image == "" {
		// If no image of the class boots on the type any more, insert this difference after that of the hash, to keep the order of the
		// reasons.
		at := 0
		if len(d.Differences) > 0 && reasonOf(d.Differences[0].Field) == NodeClassDrift {
			at = 1
		}
		d.Differences = slices.Insert(d.Differences, at, Difference{Field: "status.amis", Have: []string{i.ImageID}})
	}
	at := slices.IndexFunc(d.Differences, func(each Difference) bool {
		return p.options.IsDrift == nil || p.options.IsDrift(nodeClaim, each)
	})
	if at >= 0 {
		d.Reason = reasonOf(d.Differences[at].Field)
	}
	return d, nil
}

// reasonOf returns the reason for a difference in a field.
func reasonOf(field string) cloudprovider.DriftReason {
	switch field {
	case "status.amis":
		return AMIDrift
	case "status.securityGroups":
		return SecurityGroupDrift
	case "status.subnets":
		return SubnetDrift
	case "status.capacityReservations":
		return CapacityReservationDrift
	case "spec.placementGroupSelector":
		return PlacementGroupDrift
	}
	return NodeClassDrift
}

// imageOf returns the image from which new instances of the instance's type boot, or "" if no image of the class boots on that type. The
// error says why the image of new instances, or the image of this instance, is unknown.
func imageOf(i instances.Instance, class *awsv1.EC2NodeClass, types []*cloudprovider.InstanceType) (string, error) {
	if len(class.Status.AMIs) == 0 {
		return "", fmt.Errorf("node class %q lists no image", class.Name)
	}
	at := slices.IndexFunc(types, func(t *cloudprovider.InstanceType) bool { return t.Name == i.Type })
	if at < 0 {
		return "", fmt.Errorf("node class %q has no instance type %q", class.Name, i.Type)
	}
	if i.ImageID == "" {
		return "", fmt.Errorf("EC2 does not report the image of instance %q", i.ID)
	}
	return launchtemplate.ImageFor(class, types[at])
}

func groupsKnown(i instances.Instance, class *awsv1.EC2NodeClass) error {
	if len(class.Status.SecurityGroups) == 0 {
		return fmt.Errorf("node class %q lists no security group", class.Name)
	}
	if len(i.SecurityGroupIDs) == 0 {
		return fmt.Errorf("EC2 does not report the security groups of instance %q yet", i.ID)
	}
	return nil
}

func subnetsKnown(class *awsv1.EC2NodeClass) error {
	if len(class.Status.Subnets) == 0 {
		return fmt.Errorf("node class %q lists no subnet", class.Name)
	}
	return nil
}

// RepairPolicies returns the node conditions that mark an instance as broken.
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

// Registered delays registration of a node until EC2 reports the partition of its placement group, because pods may be spread over
// partitions (CP-GATE). All other nodes may be registered immediately.
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
		return cloudprovider.GateResult{RetryAfter: 5 * time.Second, Reason: "EC2 does not report yet which partition of the placement group the instance is in"}, nil
	}
	return cloudprovider.GateResult{Open: true}, nil
}
