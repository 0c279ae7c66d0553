package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClass is what pools on EC2 refer to for all that is EC2's own business. Several pools may share one. It is
// cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ec2nodeclasses,scope=Cluster,categories=karpenter,shortName={ec2nc,ec2ncs}
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Role",type="string",JSONPath=".spec.role",priority=1
type EC2NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the user wants.
	Spec EC2NodeClassSpec `json:"spec"`
	// Status is what was found in the account; a manifest has none.
	Status EC2NodeClassStatus `json:"status,omitzero"`
}

// EC2NodeClassList is a list of EC2NodeClasses as an API server returns it.
//
// +kubebuilder:object:root=true
type EC2NodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the node classes; their order carries no meaning.
	Items []EC2NodeClass `json:"items"`
}

// EC2NodeClassSpec is what a user asks of EC2. In selector lists terms are ORed and the fields of one term ANDed.
type EC2NodeClassSpec struct {
	// SubnetSelectorTerms select the subnets machines may be launched in. Required, 1 to 30.
	SubnetSelectorTerms []SubnetSelectorTerm `json:"subnetSelectorTerms"`
	// SecurityGroupSelectorTerms select the security groups; every machine gets all of them. Required, 1 to 30.
	SecurityGroupSelectorTerms []SecurityGroupSelectorTerm `json:"securityGroupSelectorTerms"`
	// CapacityReservationSelectorTerms select the capacity reservations that may be used. At most 30; nil uses none.
	// +optional
	CapacityReservationSelectorTerms []CapacityReservationSelectorTerm `json:"capacityReservationSelectorTerms,omitzero"`
	// PlacementGroupSelector selects the one placement group machines are launched in. Nil: none.
	// +optional
	PlacementGroupSelector *PlacementGroupSelector `json:"placementGroupSelector,omitempty"`
	// AMISelectorTerms select the images. Required, 1 to 30.
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms"`
	// AMIFamily decides the format of user data, default volumes and what the image can do; never which image is
	// used. Required unless a term has an alias; empty then reads as the alias' family.
	// +optional
	AMIFamily AMIFamily `json:"amiFamily,omitempty"`
	// UserData is the user's own start-up configuration, in the format of the family. Nil: none.
	// +optional
	UserData *string `json:"userData,omitempty"`
	// Role is the name of the IAM role of the nodes; the instance profile is made from it. Exactly one of Role and
	// InstanceProfile is given.
	// +optional
	Role *string `json:"role,omitempty"`
	// InstanceProfile is the name of an instance profile that the user looks after. Exactly one of Role and
	// InstanceProfile is given.
	// +optional
	InstanceProfile *string `json:"instanceProfile,omitempty"`
	// AssociatePublicIPAddress overrides the subnet's setting. Nil: the subnet decides.
	// +optional
	AssociatePublicIPAddress *bool `json:"associatePublicIPAddress,omitempty"`
	// IPPrefixCount asks for so many prefixes (of the cluster's IP family) on each interface that carries addresses.
	// Nil: none.
	// +optional
	IPPrefixCount *int32 `json:"ipPrefixCount,omitempty"`
	// NetworkInterfaces lays out the machine's interfaces. At most 150; nil or empty: one, as EC2 makes it.
	// +optional
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitzero"`
	// ConnectionTracking sets the idle time-outs of security groups' connection tracking. Nil: EC2's.
	// +optional
	ConnectionTracking *ConnectionTracking `json:"connectionTracking,omitempty"`
	// Tags are put on everything that is made for a launch. Some keys are reserved. A nil map and an empty one differ
	// for the drift hash alone.
	// +optional
	Tags map[string]string `json:"tags,omitzero"`
	// Kubelet configures the kubelet. Nil: the family's defaults.
	// +optional
	Kubelet *KubeletConfiguration `json:"kubelet,omitempty"`
	// BlockDeviceMappings are the machine's volumes; a list replaces the family's (see DefaultBlockDeviceMappings) as
	// a whole. At most 50; nil or empty: the family's.
	// +optional
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitzero"`
	// InstanceStorePolicy says what becomes of local disks. Nil: nothing is done with them.
	// +optional
	InstanceStorePolicy *InstanceStorePolicy `json:"instanceStorePolicy,omitempty"`
	// DetailedMonitoring asks for one-minute metrics, which EC2 charges for. Nil: off.
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
	// MetadataOptions sets up the instance metadata service. Nil reads as the default of each member.
	// +optional
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`
	// CPUOptions are settings of the processor. Nil: EC2's.
	// +optional
	CPUOptions *CPUOptions `json:"cpuOptions,omitempty"`
	// Context is opaque text handed to EC2 with a launch. Nil: none.
	// +optional
	Context *string `json:"context,omitempty"`
}

// InstanceStorePolicy says what becomes of a machine's local disks.
type InstanceStorePolicy string

// InstanceStorePolicyRAID0 stripes the local disks into one volume that holds pods' ephemeral storage.
const InstanceStorePolicyRAID0 InstanceStorePolicy = "RAID0"

// EC2NodeClassStatus is what was found in the account.
type EC2NodeClassStatus struct {
	// Subnets that the terms match, those with most free addresses first.
	// +optional
	Subnets []Subnet `json:"subnets,omitzero"`
	// SecurityGroups that the terms match, by id.
	// +optional
	SecurityGroups []SecurityGroup `json:"securityGroups,omitzero"`
	// CapacityReservations that the terms match, by id.
	// +optional
	CapacityReservations []CapacityReservation `json:"capacityReservations,omitzero"`
	// AMIs that the terms match, in the order in which they are tried.
	// +optional
	AMIs []AMI `json:"amis,omitzero"`
	// InstanceProfile is the name of the profile that machines are launched with.
	// +optional
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// Conditions of the node class: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}

// Subnet is a subnet that was found.
type Subnet struct {
	// ID is "subnet-…".
	ID string `json:"id"`
	// Zone is the name of the availability zone, which differs between accounts.
	Zone string `json:"zone"`
	// ZoneID is the zone's id, the same in every account.
	// +optional
	ZoneID string `json:"zoneID,omitempty"`
}

// SecurityGroup is a security group that was found.
type SecurityGroup struct {
	// ID is "sg-…".
	ID string `json:"id"`
	// Name is the group's name attribute, not its Name tag.
	// +optional
	Name string `json:"name,omitempty"`
}
