package instances

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/cloudprovider"
)

// States of an instance, in EC2's words.
const (
	StatePending      = string(ec2types.InstanceStateNamePending)
	StateRunning      = string(ec2types.InstanceStateNameRunning)
	StateStopping     = string(ec2types.InstanceStateNameStopping)
	StateStopped      = string(ec2types.InstanceStateNameStopped)
	StateShuttingDown = string(ec2types.InstanceStateNameShuttingDown)
	StateTerminated   = string(ec2types.InstanceStateNameTerminated)
)

// Instance contains the relevant fields of an EC2 instance.
type Instance struct {
	// ID is "i-…".
	ID string
	// State in EC2's words: see the State constants.
	State string
	// Type is its instance type.
	Type string
	// ImageID of the image from which the instance booted.
	ImageID string
	// Zone is the name of its zone, ZoneID its id; the id is empty when EC2 does not say.
	Zone, ZoneID string
	// Hostname is the instance's private DNS name, "ip-10-0-0-1.eu-west-1.compute.internal" or "i-….eu-west-1.compute.internal", depending
	// on its subnet; empty until EC2 reports it.
	Hostname string
	// SubnetID of its primary interface.
	SubnetID string
	// SecurityGroupIDs, sorted.
	SecurityGroupIDs []string
	// CapacityType of the instance: see the CapacityType constants of api/v1.
	CapacityType string
	// Tenancy: see the Tenancy constants of aws/api/v1.
	Tenancy string
	// EFAs is the number of its EFA interfaces.
	EFAs int
	// Reservation of the instance, or nil if there is none.
	Reservation *Reservation
	// PlacementGroupID is the placement group of the instance; empty for none. Partition is the partition of the placement group, from 1; 0
	// if EC2 reports none.
	PlacementGroupID string
	Partition        int32
	// OutpostID is the ID of the Outpost it runs on; empty for the region.
	OutpostID string
	// LaunchTime as EC2 reports it.
	LaunchTime time.Time
	// Tags it has.
	Tags map[string]string
	// AssignedUID and DealtName are the UID and the name of the claim of an instance of a batch, as long as the instance's own tags do not
	// name the claim. The UID is empty while the claim is not known (see the function assign). The name is empty unless this process has
	// just launched the instance.
	AssignedUID, DealtName string
}

// Reservation is a capacity reservation that an instance runs in.
type Reservation struct {
	// ID is "cr-…".
	ID string
	// Type of the reservation.
	Type awsv1.CapacityReservationType
	// Interruptible is true if the owner of the reservation may reclaim the instance.
	Interruptible bool
}

// ProviderID returns the instance's spec.providerID in Kubernetes.
func (i *Instance) ProviderID() string { return ProviderID(i.Zone, i.ID) }

// Terminating reports whether the instance is shutting down or terminated.
func (i *Instance) Terminating() bool {
	return i.Warm() || i.State == StateShuttingDown || i.State == StateTerminated
}

// NodePool returns the pool that the instance was launched for, or the zero value if its tags don't say. Tags for pools have the same keys
// as labels; the key of the later API version takes precedence.
func (i *Instance) NodePool() v1.PoolKey { return v1.PoolOf(i.Tags) }

// alphaBorn reports whether the instance's pool was created as v1alpha5.
func (i *Instance) alphaBorn() bool { return i.NodePool().Generation == v1.GenerationV1Alpha5 }

// NodeClass returns the name of the node class that the instance was launched from, or "" if its tags don't say.
func (i *Instance) NodeClass() string { return i.Tags[awsv1.TagNodeClass] }

// NodeClaim returns the name of the NodeClaim that the instance was launched for, or "" if its tags don't say: instances of a batch get
// this tag when their node has joined.
func (i *Instance) NodeClaim() string { return cmp.Or(i.Tags[awsv1.TagNodeClaim], i.DealtName) }

// NodeClaimUID returns the UID of the instance's NodeClaim. It returns "" if the tags don't say, or if the instance belongs to a batch and
// its claim is not known yet.
func (i *Instance) NodeClaimUID() string {
	if i.Warm() {
		return ""
	}
	if uid := i.Tags[launch.TagNodeClaimUID]; uid != launch.Batched {
		return uid
	}
	return i.AssignedUID
}

// Of reports whether the instance belongs to a cluster. An instance of v1alpha5 with a tag that names its managing cluster belongs only to
// that cluster; before release 0.28 there was no such tag.
func (i *Instance) Of(cluster string) bool {
	if by, says := i.Tags[awsv1.TagManagedBy]; says && i.alphaBorn() && by != cluster {
		return false
	}
	return i.Tags[awsv1.TagClusterName] == cluster || i.Tags[awsv1.TagClusterPrefix+cluster] == "owned"
}

// ProviderID returns the name Kubernetes has for an instance: "aws:///us-east-1a/i-0123".
func ProviderID(zone, id string) string { return "aws:///" + zone + "/" + id }

// providerID accepts any scheme, because simulated instances may have another scheme.
var providerID = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:///(?:[^/\s]+/)*(i-[0-9a-zA-Z-]{1,64})$`)

// ParseProviderID returns the instance id in a provider id. If the id is empty, malformed or of another cloud, the error is of kind
// NodeClaimNotFound (CP-DELETE-03, CP-GET-03).
func ParseProviderID(text string) (id string, err error) {
	if m := providerID.FindStringSubmatch(text); m != nil {
		return m[1], nil
	}
	return "", cloudprovider.NewNodeClaimNotFoundError(text, nil)
}

// FromEC2 reads EC2's description of an instance. Missing fields stay empty.
func FromEC2(in *ec2types.Instance) Instance {
	if in == nil {
		return Instance{}
	}
	i := Instance{
		ID:         aws.ToString(in.InstanceId),
		Type:       string(in.InstanceType),
		ImageID:    aws.ToString(in.ImageId),
		Hostname:   aws.ToString(in.PrivateDnsName),
		SubnetID:   aws.ToString(in.SubnetId),
		Tenancy:    awsv1.TenancyDefault,
		LaunchTime: aws.ToTime(in.LaunchTime),
		Tags:       make(map[string]string, len(in.Tags)),
	}
	if in.State != nil {
		i.State = string(in.State.Name)
	}
	if p := in.Placement; p != nil {
		i.Zone, i.ZoneID = aws.ToString(p.AvailabilityZone), aws.ToString(p.AvailabilityZoneId)
		i.PlacementGroupID, i.Partition = aws.ToString(p.GroupId), aws.ToInt32(p.PartitionNumber)
		if p.Tenancy != "" {
			i.Tenancy = string(p.Tenancy)
		}
	}
	i.OutpostID = outposts.ID(aws.ToString(in.OutpostArn))
	for _, group := range in.SecurityGroups {
		i.SecurityGroupIDs = append(i.SecurityGroupIDs, aws.ToString(group.GroupId))
	}
	slices.Sort(i.SecurityGroupIDs)
	for _, tag := range in.Tags {
		i.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	for _, n := range in.NetworkInterfaces {
		if kind := aws.ToString(n.InterfaceType); kind == "efa" || kind == "efa-only" {
			i.EFAs++
		}
	}
	i.CapacityType, i.Reservation = bought(in)
	return i
}

// bought returns how an instance was bought: as spot if it has a spot request, and as reserved if it may only run in a
// reservation. An instance in an open reservation does not count as reserved, because it may also run outside the reservation.
func bought(in *ec2types.Instance) (capacityType string, r *Reservation) {
	if aws.ToString(in.SpotInstanceRequestId) != "" || in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot {
		return v1.CapacityTypeSpot, nil
	}
	spec := in.CapacityReservationSpecification
	if aws.ToString(in.CapacityReservationId) == "" || spec == nil ||
		spec.CapacityReservationPreference != ec2types.CapacityReservationPreferenceCapacityReservationsOnly {
		return v1.CapacityTypeOnDemand, nil
	}
	r = &Reservation{ID: aws.ToString(in.CapacityReservationId), Type: awsv1.CapacityReservationTypeDefault}
	switch in.InstanceLifecycle {
	case ec2types.InstanceLifecycleTypeCapacityBlock:
		r.Type = awsv1.CapacityReservationTypeCapacityBlock
	case ec2types.InstanceLifecycleTypeInterruptibleCapacityReservation:
		r.Interruptible = true
	}
	return v1.CapacityTypeReserved, r
}

// FromInstance returns an instance that has just been launched, before EC2 shows it.
func FromInstance(m *launch.Instance) Instance {
	if m == nil || m.Type == nil {
		return Instance{}
	}
	i := Instance{
		ID: m.InstanceID, State: StatePending, Type: m.Type.Name, ImageID: m.ImageID,
		Zone: m.Zone, ZoneID: m.ZoneID, SubnetID: m.SubnetID,
		CapacityType: m.CapacityType, Tenancy: m.Tenancy, EFAs: m.EFAs, PlacementGroupID: m.PlacementGroupID,
		LaunchTime: m.LaunchedAt, Tags: m.Tags,
	}
	if m.Tags[launch.TagNodeClaimUID] == launch.Batched {
		i.AssignedUID, i.DealtName = string(m.NodeClaimUID), m.NodeClaim
	}
	i.OutpostID = m.Offering.Value(instancetype.LabelOutpostID)
	if id := m.Offering.Value(awsv1.LabelCapacityReservationID); id != "" {
		i.Reservation = &Reservation{
			ID:            id,
			Type:          awsv1.CapacityReservationType(m.Offering.Value(awsv1.LabelCapacityReservationType)),
			Interruptible: m.Offering.Value(awsv1.LabelCapacityReservationInterruptible) == "true",
		}
	}
	return i
}
