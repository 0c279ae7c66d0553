package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/nodeclass"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Create launches the claim's instance, or returns the existing instance of its UID (CP-CREATE).
func (p *Provider) Create(ctx context.Context, nodeClaim *v1.NodeClaim) (*v1.NodeClaim, error) {
	if nodeClaim == nil {
		return nil, cloudprovider.NewPermanentError(errors.New("the nodeclaim is nil"))
	}
	created, err := p.create(ctx, nodeClaim)
	if err != nil {
		return nil, fmt.Errorf("creating nodeclaim %q: %w", nodeClaim.Name, err)
	}
	return created, nil
}

func (p *Provider) create(ctx context.Context, nodeClaim *v1.NodeClaim) (*v1.NodeClaim, error) {
	if nodeClaim.UID == "" {
		return nil, cloudprovider.NewPermanentError(errors.New("metadata.uid is empty: without it a repeated call would launch a second instance"))
	}
	release, err := p.creating.Begin(ctx, nodeClaim.UID)
	if err != nil {
		return nil, err
	}
	defer release()
	there, err := p.instances.ByClaim(ctx, nodeClaim.UID)
	if err != nil {
		return nil, err
	}
	if len(there.Live) > 0 {
		i := oldest(there.Live)
		if err := p.resume(ctx, &i); err != nil {
			return nil, err
		}
		return p.adopt(ctx, nodeClaim, i), nil
	}
	request, err := p.launchRequest(ctx, nodeClaim)
	if err != nil {
		return nil, err
	}
	request.Dead = there.Dead
	if created := p.revive(ctx, request); created != nil {
		return created, nil
	}
	instance, err := p.burst.launch(ctx, request.Request)
	if err != nil {
		return nil, err
	}
	return p.launched(ctx, request, instance), nil
}

// launchRequest is the request for a launch, with the data that is needed to describe the instance.
type launchRequest struct {
	launch.Request
	class *awsv1.EC2NodeClass // the class as it is stored; Request.NodeClass may have the kubelet block of the claim's annotation
	group *placement.Group    // nil for none
}

// launchRequest prepares the launch of a claim.
func (p *Provider) launchRequest(ctx context.Context, nodeClaim *v1.NodeClaim) (launchRequest, error) {
	class, err := p.nodeClass(ctx, nodeClaim.Spec.NodeClassRef)
	if err != nil {
		return launchRequest{}, err
	}
	launched, err := p.launchedFrom(class, nodeClaim, nil)
	if err != nil {
		return launchRequest{}, cloudprovider.NewPermanentError(err)
	}
	types, group, err := p.types(ctx, launched, v1.PoolOf(nodeClaim.Labels).String(), tenancyOfClaim(nodeClaim))
	if err != nil {
		return launchRequest{}, typesFailed(err)
	}
	claim, err := p.pinPartition(nodeClaim, group, types)
	if err != nil {
		return launchRequest{}, err
	}
	if err := p.subnets.Refresh(ctx, class.Status.Subnets); err != nil {
		if ctx.Err() != nil {
			return launchRequest{}, err
		}
		p.log.Warn("cannot refresh counts of free subnet addresses, using the previous counts", "nodeClass", class.Name, "error", err)
	}
	r := launchRequest{Request: launch.Request{NodeClaim: claim, NodeClass: withLaunchSubnets(launched), InstanceTypes: types}, class: class, group: group}
	if group != nil {
		r.PlacementGroupID = group.ID
	}
	if p.options.LaunchCost != nil {
		r.Cost = p.options.LaunchCost(v1.PoolOf(nodeClaim.Labels))
	}
	return r, nil
}

// launched remembers an instance that EC2 has just launched, and describes it.
func (p *Provider) launched(ctx context.Context, r launchRequest, m *launch.Instance) *v1.NodeClaim {
	i := instances.FromInstance(m)
	i.Partition = partitionOf(r.NodeClaim, r.group)
	p.instances.Remember(i)
	p.index.add(i)
	if p.hosts != nil && i.Tenancy == awsv1.TenancyHost {
		p.hosts.Took(r.class.Spec.Host(), i.Zone, i.Type)
	}
	p.log.Info("launched instance", "nodeClaim", i.NodeClaim(), "instanceID", i.ID, "instanceType", i.Type, "zone", i.Zone, "capacityType", i.CapacityType)
	created := p.claimOf(i, r.class, m.Type, m.Offering)
	p.annotate(ctx, created, r.class)
	return created
}

// typesFailed adds a reason for the claim's condition to an error about instance types, unless the error has a cloudprovider.ErrorKind.
func typesFailed(err error) error {
	var kinded interface {
		Kind() cloudprovider.ErrorKind
	}
	if errors.As(err, &kinded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return cloudprovider.NewCreateError("InstanceTypeResolutionFailed", err.Error(), err)
}

// oldest returns the instance that was launched first. If a claim has several instances, all calls return the oldest, so that they return
// the same instance.
func oldest(live []instances.Instance) instances.Instance {
	return slices.MinFunc(live, func(a, b instances.Instance) int { return a.LaunchTime.Compare(b.LaunchTime) })
}

// adopt describes an existing instance as a claim. If the instance's node class can't be read, the claim only lacks the details that come
// from the class.
func (p *Provider) adopt(ctx context.Context, nodeClaim *v1.NodeClaim, i instances.Instance) *v1.NodeClaim {
	r := p.newResolver()
	class := p.classOf(ctx, i, r)
	launched := class
	if class != nil {
		if with, err := p.launchedFrom(class, nodeClaim, nil); err == nil {
			launched = with
		}
	}
	t := p.typeOf(ctx, i, launched, r)
	claim := p.claimOf(i, launched, t, p.offeringOf(i, t))
	if class != nil {
		p.annotate(ctx, claim, class)
	}
	claim.Name, claim.UID = nodeClaim.Name, nodeClaim.UID
	return claim
}

// annotate adds annotations to the claim that record the settings of its launch.
func (p *Provider) annotate(ctx context.Context, claim *v1.NodeClaim, class *awsv1.EC2NodeClass) {
	info, err := p.options.Cluster.ClusterInfo(ctx)
	if err != nil {
		// Without a hash, drift can't be detected by comparing hashes; the other kinds of drift can be detected.
		p.log.Warn("cannot read cluster information, leaving NodeClaim without drift hash", "nodeClaim", claim.Name, "error", err)
		return
	}
	claim.Annotations = map[string]string{
		awsv1.AnnotationHash:        class.Hash(info.CABundle),
		awsv1.AnnotationHashVersion: awsv1.HashVersion,
	}
	if profile := instanceProfile(class); profile != "" {
		claim.Annotations[awsv1.AnnotationInstanceProfileName] = profile
	}
}

func instanceProfile(class *awsv1.EC2NodeClass) string {
	if class.Status.InstanceProfile == "" && class.Spec.InstanceProfile != nil {
		return *class.Spec.InstanceProfile
	}
	return class.Status.InstanceProfile
}

// If a claim restricts the partition of its placement group, pinPartition restricts the claim to a single partition: the one with the
// lowest number that has room. The launch template, the records of capacity and the labels then name the same partition. EC2 chooses the
// partition of all other claims. The argument claim is not changed.
func (p *Provider) pinPartition(claim *v1.NodeClaim, group *placement.Group, types []*cloudprovider.InstanceType) (*v1.NodeClaim, error) {
	if group == nil || group.Partitions == 0 {
		return claim, nil
	}
	want, err := p.lookup.ParseSet(claim.Spec.Requirements)
	if err != nil {
		return nil, cloudprovider.NewPermanentError(fmt.Errorf("spec.requirements: %w", err))
	}
	if !want.Has(awsv1.LabelPlacementGroupPartition) {
		return claim, nil
	}
	open := map[string]bool{}
	for _, c := range cloudprovider.LaunchOrder(types, want, claim.Spec.Resources.Requests) {
		if c.Offering.HasRoom() {
			open[c.Offering.Value(awsv1.LabelPlacementGroupPartition)] = true
		}
	}
	partition, ok := group.Partition(want, func(n int32) bool { return open[strconv.Itoa(int(n))] })
	if !ok {
		return nil, cloudprovider.NewInsufficientCapacityError(fmt.Errorf("placement group %q has partitions 1 to %d, but the nodeclaim asks for others", group.Name, group.Partitions))
	}
	pinned := claim.DeepCopy()
	pinned.Spec.Requirements = append(pinned.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
		Key: awsv1.LabelPlacementGroupPartition, Operator: corev1.NodeSelectorOpIn, Values: []string{strconv.Itoa(int(partition))},
	})
	return pinned, nil
}

// partitionOf returns the partition that pinPartition chose, or 0 if EC2 chooses.
func partitionOf(claim *v1.NodeClaim, group *placement.Group) int32 {
	if group == nil || group.Partitions == 0 {
		return 0
	}
	want, err := requirements.ParseSet(claim.Spec.Requirements)
	if err != nil {
		return 0
	}
	if allowed := group.Allowed(want); want.Has(awsv1.LabelPlacementGroupPartition) && len(allowed) == 1 {
		return allowed[0]
	}
	return 0
}

// templater makes the launch templates of launches.
type templater struct{ p *Provider }

// Ensure implements launch.LaunchTemplates.
func (t templater) Ensure(ctx context.Context, r launch.TemplateRequest) ([]launch.Template, error) {
	cluster, err := t.p.cluster(ctx)
	if err != nil {
		return nil, err
	}
	built, err := launchtemplate.Build(launchtemplate.Request{
		Cluster:   cluster.Cluster,
		NodeClass: r.NodeClass, NodeClaim: r.NodeClaim, InstanceTypes: r.InstanceTypes, CapacityType: r.CapacityType,
		PlacementGroupID: r.PlacementGroupID, Extend: t.p.options.ExtendLaunchTemplate,
	})
	if err != nil {
		return nil, err
	}
	for _, u := range built.Unserved {
		t.p.log.Debug("skipped instance type that no launch template can serve", "nodeClaim", r.NodeClaim.Name, "instanceType", u.InstanceType, "reason", u.Reason)
	}
	ready, err := t.p.templates.Ensure(ctx, built.Templates)
	if err != nil {
		return nil, err
	}
	templates := make([]launch.Template, len(ready))
	for i, built := range ready {
		templates[i] = launch.Template{Name: built.Name, ImageID: built.ImageID, InstanceTypes: built.InstanceTypes}
		if built.Reservation != nil {
			templates[i].ReservationID = built.Reservation.ID
		}
	}
	return templates, nil
}

// cluster returns the details of the cluster for launch templates and for the choice of images.
func (p *Provider) cluster(ctx context.Context) (nodeclass.Cluster, error) {
	info, err := p.options.Cluster.ClusterInfo(ctx)
	if err != nil {
		return nodeclass.Cluster{}, fmt.Errorf("reading the details of cluster %q for new nodes: %w", p.config.ClusterName, err)
	}
	return nodeclass.Cluster{Version: info.Version, Cluster: launchtemplate.Cluster{
		Name: p.config.ClusterName, Endpoint: info.Endpoint, CABundle: info.CABundle, ServiceCIDR: info.ServiceCIDR,
		DNS: info.DNS, IPFamily: info.IPFamily, Region: p.options.Clients.Region(), Tags: p.config.Tags,
		IgnoreReservations: p.config.WithoutReservedCapacity,
	}}, nil
}

// Forget implements launch.LaunchTemplates.
func (t templater) Forget(names ...string) { t.p.templates.Forget(names...) }
