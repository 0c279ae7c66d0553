package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/aws/api/v1"
)

// EC2NodeClass contains the settings of pools that are specific to EC2. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ec2nodeclasses,scope=Cluster,categories=karpenter,shortName={ec2nc,ec2ncs}
// +kubebuilder:subresource:status
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

	// Items are the node classes; their order has no meaning.
	Items []EC2NodeClass `json:"items"`
}

// EC2NodeClassSpec contains the user's settings for EC2 instances. In selector lists terms are ORed and the fields of one term ANDed.
//
// +kubebuilder:validation:XValidation:rule="has(self.role) != has(self.instanceProfile)",message="give exactly one of role and instanceProfile"
// +kubebuilder:validation:XValidation:rule="has(self.role) == has(oldSelf.role)",message="role and instanceProfile can't be exchanged: make another EC2NodeClass instead"
// +kubebuilder:validation:XValidation:rule="self.amiFamily != 'Custom' || has(self.amiSelectorTerms) && size(self.amiSelectorTerms) > 0",message="family Custom needs amiSelectorTerms"
type EC2NodeClassSpec struct {
	// SubnetSelectorTerms select the subnets in which instances may be launched. 1 to 30 terms are required.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) && size(x.tags) > 0 || has(x.id))",message="a term must select by one of tags, id"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.id) && (has(x.tags))))",message="id can't be combined with other fields of its term"
	SubnetSelectorTerms []v1.SubnetSelectorTerm `json:"subnetSelectorTerms"`
	// SecurityGroupSelectorTerms select the security groups; every instance gets all of them. 1 to 30 terms are required.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) && size(x.tags) > 0 || has(x.id) || has(x.name))",message="a term must select by one of tags, id, name"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.id) && (has(x.tags) || has(x.name))))",message="id can't be combined with other fields of its term"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.name) && (has(x.tags) || has(x.id))))",message="name can't be combined with other fields of its term"
	SecurityGroupSelectorTerms []v1.SecurityGroupSelectorTerm `json:"securityGroupSelectorTerms"`
	// AMISelectorTerms select the images. At most 30; nil or empty means the newest images that AWS publishes for the family.
	// +optional
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) && size(x.tags) > 0 || has(x.id) || has(x.name))",message="a term must select by one of tags, id, name"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(has(x.id) && (has(x.tags) || has(x.name) || has(x.owner))))",message="id can't be combined with other fields of its term"
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms,omitzero"`
	// AMIFamily determines which images are used if no terms select them, the format of user data, and the default volumes.
	AMIFamily AMIFamily `json:"amiFamily"`
	// UserData is the user's own start-up configuration, in the format of the family. Nil: none.
	// +optional
	UserData *string `json:"userData,omitempty"`
	// Role is the name of the IAM role of the nodes. Exactly one of Role and InstanceProfile is given.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Role *string `json:"role,omitempty"`
	// InstanceProfile is the name of an instance profile that the user manages.
	// +optional
	// +kubebuilder:validation:MinLength=1
	InstanceProfile *string `json:"instanceProfile,omitempty"`
	// AssociatePublicIPAddress overrides the subnet's setting. Nil means no public address if all subnets are private; otherwise the
	// subnet's setting applies.
	// +optional
	AssociatePublicIPAddress *bool `json:"associatePublicIPAddress,omitempty"`
	// Tags are put on everything that is made for a launch. Some keys are reserved.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!('' in self)",message="a tag's key must not be empty"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kubernetes.io/cluster'))",message="tags that begin with kubernetes.io/cluster are set on every instance"
	// +kubebuilder:validation:XValidation:rule="!('karpenter.sh/nodepool' in self) && !('karpenter.sh/managed-by' in self)",message="this tag is set on every instance to identify its owner"
	Tags map[string]string `json:"tags,omitzero"`
	// BlockDeviceMappings are the instance's volumes; a list replaces the family's as a whole. At most 50; nil or empty means the volumes
	// of the family.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="self.filter(x, has(x.rootVolume) && x.rootVolume).size() <= 1",message="only one volume holds the kubelet's files"
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitzero"`
	// InstanceStorePolicy says how local disks are used. Nil leaves them unused.
	// +optional
	InstanceStorePolicy *v1.InstanceStorePolicy `json:"instanceStorePolicy,omitempty"`
	// DetailedMonitoring asks for one-minute metrics, which EC2 charges for. Nil: off.
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
	// MetadataOptions sets up the instance metadata service. Nil means the default of each member.
	// +optional
	// +kubebuilder:default:={httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 2, httpTokens: "required"}
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`
	// Context is opaque text handed to EC2 with a launch. Nil: none.
	// +optional
	Context *string `json:"context,omitempty"`
}

// AMIFamily is a family of images with the same format of user data and default volumes.
//
// +kubebuilder:validation:Enum=AL2;AL2023;Bottlerocket;Ubuntu;Custom;Windows2019;Windows2022
type AMIFamily string

const (
	// AMIFamilyAL2 is Amazon Linux 2.
	AMIFamilyAL2 AMIFamily = "AL2"
	// AMIFamilyAL2023 is Amazon Linux 2023.
	AMIFamilyAL2023 AMIFamily = "AL2023"
	// AMIFamilyBottlerocket is Bottlerocket.
	AMIFamilyBottlerocket AMIFamily = "Bottlerocket"
	// AMIFamilyUbuntu is Canonical's Ubuntu for EKS. v1 no longer has it.
	AMIFamilyUbuntu AMIFamily = "Ubuntu"
	// AMIFamilyWindows2019 is Windows Server 2019.
	AMIFamilyWindows2019 AMIFamily = "Windows2019"
	// AMIFamilyWindows2022 is Windows Server 2022.
	AMIFamilyWindows2022 AMIFamily = "Windows2022"
	// AMIFamilyCustom is any image: user data is passed unchanged.
	AMIFamilyCustom AMIFamily = "Custom"
)

// AMIFamilies returns all families. The caller owns the slice.
func AMIFamilies() []AMIFamily {
	return []AMIFamily{
		AMIFamilyAL2, AMIFamilyAL2023, AMIFamilyBottlerocket, AMIFamilyUbuntu, AMIFamilyCustom, AMIFamilyWindows2019,
		AMIFamilyWindows2022,
	}
}

// AMISelectorTerm selects images. A name without an owner selects among the account's own images and Amazon's.
type AMISelectorTerm struct {
	// Tags must all be on the image. At most 20; neither key nor value is empty.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) > 0 && size(self[k]) > 0)",message="neither key nor value of a tag may be empty: write * for any value"
	Tags map[string]string `json:"tags,omitzero"`
	// ID is "ami-…"; it excludes the other fields.
	// +optional
	// +kubebuilder:validation:Pattern=`ami-[0-9a-z]+`
	ID string `json:"id,omitempty"`
	// Name is the image's name attribute; EC2's wildcards work.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name,omitempty"`
	// Owner is an account id, self, amazon or aws-marketplace. It narrows Name or Tags and is not enough alone.
	// +optional
	Owner string `json:"owner,omitempty"`
}

// BlockDeviceMapping is one volume of an instance.
type BlockDeviceMapping struct {
	// DeviceName is the device name under which the volume is attached, such as "/dev/xvda". Nil: EC2 chooses.
	// +optional
	DeviceName *string `json:"deviceName,omitempty"`
	// EBS describes the volume. Required.
	// +optional
	EBS *BlockDevice `json:"ebs,omitempty"`
	// RootVolume marks the volume that holds the kubelet's files. At most one mapping has it.
	// +optional
	RootVolume bool `json:"rootVolume,omitempty"`
}

// BlockDevice is an EBS volume. A nil member is left to EC2.
//
// +kubebuilder:validation:XValidation:rule="has(self.snapshotID) || has(self.volumeSize)",message="the size of the volume is not known: give volumeSize or snapshotID"
type BlockDevice struct {
	// DeleteOnTermination removes the volume with the instance.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// Encrypted encrypts the volume.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// IOPS is the volume's operations per second; for gp3, io1 and io2.
	// +optional
	// +kubebuilder:validation:Minimum=0
	IOPS *int64 `json:"iops,omitempty"`
	// KMSKeyID is the id, alias or ARN of the key to encrypt with.
	// +optional
	KMSKeyID *string `json:"kmsKeyID,omitempty"`
	// SnapshotID is the snapshot to fill the volume from. One of SnapshotID and VolumeSize is given.
	// +optional
	SnapshotID *string `json:"snapshotID,omitempty"`
	// Throughput in MiB/s; for gp3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Throughput *int64 `json:"throughput,omitempty"`
	// VolumeSize is the size; EC2 gets it in GiB, rounded up.
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE]') || isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1G')) >= 0",message="is less than 1G: write the unit, as in 20Gi"
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE]') || isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Ti')) <= 0",message="is more than 64Ti, the largest volume there is"
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`
	// VolumeType of the volume.
	// +optional
	VolumeType *v1.VolumeType `json:"volumeType,omitempty"`
}

// MetadataOptions sets up the instance metadata service. A nil member means its default value.
type MetadataOptions struct {
	// HTTPEndpoint turns the service on or off. Default enabled.
	// +optional
	// +kubebuilder:default:="enabled"
	HTTPEndpoint *v1.Switch `json:"httpEndpoint,omitempty"`
	// HTTPProtocolIPv6 turns the service's IPv6 address on or off. Default disabled.
	// +optional
	// +kubebuilder:default:="disabled"
	HTTPProtocolIPv6 *v1.Switch `json:"httpProtocolIPv6,omitempty"`
	// HTTPPutResponseHopLimit is how many hops an answer with a token may travel, 1 to 64. The default is 2; in v1 it is 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +kubebuilder:default:=2
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`
	// HTTPTokens says whether session tokens are required. Default required.
	// +optional
	// +kubebuilder:default:="required"
	HTTPTokens *v1.HTTPTokens `json:"httpTokens,omitempty"`
}

// EC2NodeClassStatus is what was found in the account.
type EC2NodeClassStatus struct {
	// Subnets that the terms match.
	// +optional
	Subnets []v1.Subnet `json:"subnets,omitzero"`
	// SecurityGroups that the terms match.
	// +optional
	SecurityGroups []v1.SecurityGroup `json:"securityGroups,omitzero"`
	// AMIs that the terms match.
	// +optional
	AMIs []AMI `json:"amis,omitzero"`
	// InstanceProfile is the name of the profile that instances are launched with.
	// +optional
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// Conditions of the node class; only late releases write them.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}

// AMI is an image that was found.
type AMI struct {
	// ID is "ami-…".
	ID string `json:"id"`
	// Name is the image's name attribute.
	// +optional
	Name string `json:"name,omitempty"`
	// Requirements say on which instance types the image boots.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
}
