package launchtemplate

import (
	"fmt"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Request is the input of Build. Build does not change it.
type Request struct {
	// Cluster that the nodes join.
	Cluster Cluster
	// NodeClass of the nodes. Its status must contain the images, the security groups and the instance profile (the profile may also be in
	// the spec). Required.
	NodeClass *awsv1.EC2NodeClass
	// NodeClaim to launch an instance for. It determines labels and taints, whether pods request EFA or enclaves, and which tenancy,
	// reservations and partition are allowed. Nil means a claim without any requirements.
	NodeClaim *v1.NodeClaim
	// InstanceTypes that the claim allows. At least one.
	InstanceTypes []*cloudprovider.InstanceType
	// CapacityType of the instance: see the CapacityType constants of api/v1. Required.
	CapacityType string
	// PlacementGroupID is the placement group that the class selects; empty for none.
	PlacementGroupID string
	// Extend may add settings to the data of each template, such as a key pair or hibernation, for which a node class has no field. The
	// template's name is computed afterwards. Extend must be a pure function. It must set fields of data, and not write through existing
	// pointers, because other templates share them. Nil adds nothing.
	Extend func(data *ec2types.RequestLaunchTemplateData)
}

// CapacityReservation is a reservation into which a template's instances are launched.
type CapacityReservation struct {
	// ID is "cr-…".
	ID string `json:"id"`
	// Type of the reservation.
	Type awsv1.CapacityReservationType `json:"type"`
	// Interruptible means that the owner of the reservation may reclaim instances.
	Interruptible bool `json:"interruptible,omitempty"`
}

// Resources that change a template if a claim requests them.
const (
	// ResourceEFA is requested by pods that use Elastic Fabric Adapters.
	ResourceEFA = "vpc.amazonaws.com/efa"
	// ResourceNitroSandbox is requested by pods that run Nitro enclaves.
	ResourceNitroSandbox = "eks.amazonaws.com/nitro-sandbox"
	// ResourceNIPSlots is the name of the same resource in releases 1.14.0 and 1.14.1 of Karpenter.
	ResourceNIPSlots = "eks.amazonaws.com/nip-slots"
)

// plan is a prepared request: the values that all its templates share.
type plan struct {
	Request
	family awsv1.AMIFamily
	want   requirements.Set
	ipv6   bool
	efa    bool
	// drivers are the device drivers with which the claim was planned.
	drivers []string
	images  []image
	tags    []ec2types.Tag
}

func prepare(r Request) (*plan, error) {
	if r.NodeClass == nil {
		return nil, fmt.Errorf("launch templates of cluster %q: there is no node class", r.Cluster.Name)
	}
	if r.NodeClaim == nil {
		r.NodeClaim = &v1.NodeClaim{}
	}
	// Copy the class, so that the result shares no data with the caller's object.
	r.NodeClass = r.NodeClass.DeepCopy()
	p := &plan{Request: r, family: r.NodeClass.Spec.EffectiveAMIFamily()}
	if r.Cluster.Name == "" {
		return nil, p.failed(fmt.Errorf("the cluster has no name: it is needed for tags"))
	}
	switch r.CapacityType {
	case v1.CapacityTypeSpot, v1.CapacityTypeOnDemand, v1.CapacityTypeReserved:
	default:
		return nil, p.failed(fmt.Errorf("capacity type %q is not %s, %s or %s", r.CapacityType,
			v1.CapacityTypeReserved, v1.CapacityTypeSpot, v1.CapacityTypeOnDemand))
	}
	if err := p.ready(); err != nil {
		return nil, err
	}
	var err error
	if p.want, err = requirements.ParseSet(r.NodeClaim.Spec.Requirements); err != nil {
		return nil, p.failed(fmt.Errorf("node claim %q: %w", r.NodeClaim.Name, err))
	}
	if p.images, err = parseImages(r.NodeClass.Status.AMIs); err != nil {
		return nil, p.failed(err)
	}
	if k := r.NodeClass.Spec.Kubelet; k != nil {
		p.ipv6, err = r.Cluster.ipv6(k.ClusterDNS)
	} else {
		p.ipv6, err = r.Cluster.ipv6(nil)
	}
	if err != nil {
		return nil, p.failed(err)
	}
	p.efa = p.asks(ResourceEFA)
	p.drivers = v1.RequestedDRADrivers(r.NodeClaim)
	p.tags = sortedTags(Tags(r.Cluster, r.NodeClass, v1.PoolOf(r.NodeClaim.Labels).String()))
	return p, nil
}

// ready checks whether the class has everything that a template needs.
func (p *plan) ready() error {
	status := &p.NodeClass.Status
	switch {
	case len(status.AMIs) == 0:
		return p.notReady("status.amis is empty: no image was found, or the class was not reconciled yet")
	case len(status.SecurityGroups) == 0:
		return p.notReady("status.securityGroups is empty: no security group was found, or the class was not reconciled yet")
	case p.instanceProfile() == "":
		return p.notReady("status.instanceProfile is empty: the profile was not created yet")
	}
	return nil
}

func (p *plan) instanceProfile() string {
	if p.NodeClass.Status.InstanceProfile != "" {
		return p.NodeClass.Status.InstanceProfile
	}
	if own := p.NodeClass.Spec.InstanceProfile; own != nil {
		return *own
	}
	return ""
}

// asks reports whether the claim's pods request resource.
func (p *plan) asks(resource corev1.ResourceName) bool {
	quantity, ok := p.NodeClaim.Spec.Resources.Requests[resource]
	return ok && quantity.Sign() > 0
}

// failed adds the name of the node class to an error.
func (p *plan) failed(err error) error {
	return fmt.Errorf("launch templates of node class %q: %w", p.NodeClass.Name, err)
}

func (p *plan) notReady(reason string) error {
	return cloudprovider.NewNodeClassNotReadyError("EC2NodeClass "+p.NodeClass.Name, reason, nil)
}
