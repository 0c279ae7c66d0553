package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClass contains the settings of pools that are specific to EC2. Several pools may share one. It is cluster-scoped.
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
	// Status is what was found in the account; manifests have none.
	// +optional
	Status EC2NodeClassStatus `json:"status,omitzero"`
}

// EC2NodeClassList is a list of EC2NodeClasses as an API server returns it.
//
// +kubebuilder:object:root=true
type EC2NodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the node classes; their order does not matter.
	Items []EC2NodeClass `json:"items"`
}

// EC2NodeClassSpec has the user's settings for EC2 instances. In selector lists terms are ORed and the fields of one term ANDed.
//
// +kubebuilder:validation:XValidation:rule="has(self.role) != has(self.instanceProfile)",message="give exactly one of role and instanceProfile"
// +kubebuilder:validation:XValidation:rule="has(self.amiFamily) || self.amiSelectorTerms.exists(x, has(x.alias))",message="without an alias in amiSelectorTerms the amiFamily is unknown: give it"
// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily == 'Custom' || self.amiSelectorTerms.all(x, !has(x.alias) || x.alias.startsWith(self.amiFamily.lowerAscii() + '@'))",message="amiFamily contradicts the alias: leave it out, or write the alias' family or Custom"
// +kubebuilder:validation:XValidation:rule="!has(self.associatePublicIPAddress) || !self.associatePublicIPAddress || !has(self.networkInterfaces) || size(self.networkInterfaces) <= 1",message="EC2 gives a public address only to an instance with a single interface"
// +kubebuilder:validation:XValidation:rule="!has(self.placementGroupSelector) || !has(self.placement) || !(has(self.placement.hostID) || has(self.placement.hostResourceGroupARN) || has(self.placement.tenancy) && self.placement.tenancy == 'host')",message="Dedicated Hosts cannot be in a placement group: remove placementGroupSelector, or the hosts"
type EC2NodeClassSpec struct {
	// SubnetSelectorTerms select the subnets in which instances may be launched. 1 to 30 terms are required.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) && size(x.tags) > 0 || has(x.id))",message="a term must select by one of tags, id"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.id) && (has(x.tags))))",message="id can't be combined with other fields of its term"
	SubnetSelectorTerms []SubnetSelectorTerm `json:"subnetSelectorTerms"`
	// SecurityGroupSelectorTerms select the security groups; every instance gets all of them. 1 to 30 terms are required.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) && size(x.tags) > 0 || has(x.id) || has(x.name))",message="a term must select by one of tags, id, name"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.id) && (has(x.tags) || has(x.name))))",message="id can't be combined with other fields of its term"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.name) && (has(x.tags) || has(x.id))))",message="name can't be combined with other fields of its term"
	SecurityGroupSelectorTerms []SecurityGroupSelectorTerm `json:"securityGroupSelectorTerms"`
	// CapacityReservationSelectorTerms select the capacity reservations that may be used. At most 30; nil uses none.
	// +optional
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) && size(x.tags) > 0 || has(x.id) || has(x.instanceMatchCriteria))",message="a term must select by one of tags, id, instanceMatchCriteria"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.id) && (has(x.tags) || has(x.ownerID) || has(x.instanceMatchCriteria))))",message="id can't be combined with other fields of its term"
	CapacityReservationSelectorTerms []CapacityReservationSelectorTerm `json:"capacityReservationSelectorTerms,omitzero"`
	// PlacementGroupSelector selects the placement group in which instances are launched. Nil means none.
	// +optional
	PlacementGroupSelector *PlacementGroupSelector `json:"placementGroupSelector,omitempty"`
	// AMISelectorTerms select the images. 1 to 30 terms are required.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.alias) || has(x.tags) && size(x.tags) > 0 || has(x.id) || has(x.name) || has(x.ssmParameter))",message="a term must select by one of alias, tags, id, name, ssmParameter"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.alias) && (has(x.tags) || has(x.id) || has(x.name) || has(x.owner) || has(x.ssmParameter))))",message="alias can't be combined with other fields of its term"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.id) && (has(x.alias) || has(x.tags) || has(x.name) || has(x.owner) || has(x.ssmParameter))))",message="id can't be combined with other fields of its term"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.ssmParameter) && (has(x.alias) || has(x.tags) || has(x.id) || has(x.name) || has(x.owner))))",message="ssmParameter can't be combined with other fields of its term"
	// +kubebuilder:validation:XValidation:rule="!(self.exists(x, has(x.alias)) && size(self) > 1)",message="an alias stands alone: remove the other terms"
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms"`
	// AMIFamily determines the format of user data, default volumes and the image's features; it never determines which image is used. It
	// is required unless a term has an alias: an empty AMIFamily then means the family of the alias.
	// +optional
	AMIFamily AMIFamily `json:"amiFamily,omitempty"`
	// UserData is the user's own start-up configuration, in the format of the family. Nil: none.
	// +optional
	UserData *string `json:"userData,omitempty"`
	// Role is the name of the IAM role of the nodes; an instance profile is created for it. Set exactly one of Role and InstanceProfile.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Role *string `json:"role,omitempty"`
	// InstanceProfile is the name of an instance profile that the user manages. Set exactly one of Role and InstanceProfile.
	// +optional
	// +kubebuilder:validation:MinLength=1
	InstanceProfile *string `json:"instanceProfile,omitempty"`
	// AssociatePublicIPAddress overrides the subnet's setting. Nil means that the subnet decides.
	// +optional
	AssociatePublicIPAddress *bool `json:"associatePublicIPAddress,omitempty"`
	// IPPrefixCount is the number of prefixes (of the cluster's IP family) of each interface that carries addresses. Nil: none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	IPPrefixCount *int32 `json:"ipPrefixCount,omitempty"`
	// NetworkInterfaces lists the instance's interfaces. At most 150; nil or empty means the one interface that EC2 creates by default.
	// +optional
	// +kubebuilder:validation:MaxItems=150
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.exists(x, x.networkCardIndex == 0 && x.deviceIndex == 0 && x.interfaceType == 'interface')",message="an instance needs its primary interface: networkCardIndex 0, deviceIndex 0, interfaceType interface"
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.networkCardIndex == y.networkCardIndex && x.deviceIndex == y.deviceIndex))",message="two interfaces can't be in the same place: give one another deviceIndex"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.interfaceType != 'efa-only' || self.exists_one(y, x.networkCardIndex == y.networkCardIndex && y.interfaceType == 'efa-only'))",message="a card takes one efa-only interface"
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitzero"`
	// ConnectionTracking sets the idle timeouts of security groups' connection tracking. Nil: EC2's.
	// +optional
	ConnectionTracking *ConnectionTracking `json:"connectionTracking,omitempty"`
	// Tags are set on everything that a launch creates. Some keys are reserved. Nil and empty maps differ only in the drift hash.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!('' in self)",message="a tag's key must not be empty"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kubernetes.io/cluster'))",message="tags that begin with kubernetes.io/cluster are set on every instance"
	// +kubebuilder:validation:XValidation:rule="!('eks:eks-cluster-name' in self) && !('karpenter.sh/nodepool' in self) && !('karpenter.sh/nodeclaim' in self) && !('karpenter.k8s.aws/ec2nodeclass' in self)",message="this tag is set on every instance to identify its owner"
	Tags map[string]string `json:"tags,omitzero"`
	// Kubelet configures the kubelet. Nil means the defaults of the family.
	// +optional
	Kubelet *KubeletConfiguration `json:"kubelet,omitempty"`
	// BlockDeviceMappings are the instance's volumes; a list replaces the family's (see DefaultBlockDeviceMappings) as
	// a whole. At most 50; nil or empty means the volumes of the family.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="self.filter(x, has(x.rootVolume) && x.rootVolume).size() <= 1",message="only one volume holds the kubelet's files"
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.ebs))",message="describe the volume in ebs, at least by volumeSize or snapshotID"
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitzero"`
	// InstanceStorePolicy says how local disks are used. Nil leaves them unused.
	// +optional
	InstanceStorePolicy *InstanceStorePolicy `json:"instanceStorePolicy,omitempty"`
	// DetailedMonitoring enables one-minute metrics, for which EC2 charges. Nil: off.
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
	// MetadataOptions configures the instance metadata service. Nil means the default of each member.
	// +optional
	// +kubebuilder:default:={httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required"}
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`
	// CPUOptions are settings of the processor. Nil: EC2's.
	// +optional
	CPUOptions *CPUOptions `json:"cpuOptions,omitempty"`
	// CreditSpecification says how burstable instances (t2, t3, t3a, t4g) pay for more CPU than they earn; it does not affect other types.
	// Nil means the account's setting. Karpenter does not have this field.
	// +optional
	CreditSpecification *CreditSpecification `json:"creditSpecification,omitempty"`
	// NetworkPerformanceOptions divide an instance's bandwidth between network and EBS volumes. Nil: EC2's. Karpenter does not have this field.
	// +optional
	NetworkPerformanceOptions *NetworkPerformanceOptions `json:"networkPerformanceOptions,omitempty"`
	// LicenseSpecifications are the licence configurations of AWS License Manager that count the instances. At most 10; nil and empty mean
	// none. Karpenter does not have this field.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	LicenseSpecifications []LicenseSpecification `json:"licenseSpecifications,omitzero"`
	// Placement says on whose hardware instances run: shared, dedicated to the account, or Dedicated Hosts. Nil means shared hardware,
	// unless the NodeClaim requires another tenancy. Karpenter does not have this field.
	// +optional
	Placement *Placement `json:"placement,omitempty"`
	// Context is opaque text passed to EC2 with a launch. Nil: none.
	// +optional
	Context *string `json:"context,omitempty"`
}

// InstanceStorePolicy says how an instance's local disks are used.
//
// +kubebuilder:validation:Enum=RAID0
type InstanceStorePolicy string

// InstanceStorePolicyRAID0 stripes the local disks into one volume that holds pods' ephemeral storage.
const InstanceStorePolicyRAID0 InstanceStorePolicy = "RAID0"

// EC2NodeClassStatus is what was found in the account.
type EC2NodeClassStatus struct {
	// Subnets that the terms match, those with the most free addresses first.
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
	// InstanceProfile is the name of the profile with which instances are launched.
	// +optional
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// Conditions of the node class: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}

// Subnet is a subnet that the terms match.
type Subnet struct {
	// ID is "subnet-…".
	ID string `json:"id"`
	// Zone is the name of the availability zone, which differs between accounts.
	Zone string `json:"zone"`
	// ZoneID is the zone's id, the same in every account.
	// +optional
	ZoneID string `json:"zoneID,omitempty"`
	// OutpostARN is the Outpost that the subnet is on; empty for subnets in the region.
	// +optional
	OutpostARN string `json:"outpostARN,omitempty"`
}

// SecurityGroup is a security group that the terms match.
type SecurityGroup struct {
	// ID is "sg-…".
	ID string `json:"id"`
	// Name is the group's name attribute, not its Name tag.
	// +optional
	Name string `json:"name,omitempty"`
}
