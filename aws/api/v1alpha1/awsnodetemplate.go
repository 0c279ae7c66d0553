package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/api/v1beta1"
)

// AWSNodeTemplate contains the settings of Provisioners that are specific to EC2; later generations call it EC2NodeClass. It is
// cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsnodetemplates,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
type AWSNodeTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the user wants.
	// +optional
	Spec AWSNodeTemplateSpec `json:"spec,omitzero"`
	// Status is what was found in the account; manifests have none.
	// +optional
	Status AWSNodeTemplateStatus `json:"status,omitzero"`
}

// AWSNodeTemplateList is a list of AWSNodeTemplates as an API server returns it.
//
// +kubebuilder:object:root=true
type AWSNodeTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the node templates; their order has no meaning.
	Items []AWSNodeTemplate `json:"items"`
}

// AWSNodeTemplateSpec contains the user's settings for EC2 instances.
//
// +kubebuilder:validation:XValidation:rule="has(self.subnetSelector) && size(self.subnetSelector) > 0",message="select the subnets by subnetSelector, such as by karpenter.sh/discovery: name-of-the-cluster"
// +kubebuilder:validation:XValidation:rule="has(self.launchTemplate) || has(self.securityGroupSelector) && size(self.securityGroupSelector) > 0",message="select the security groups by securityGroupSelector, or name a launchTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !(has(self.securityGroupSelector) || has(self.metadataOptions) || has(self.amiFamily) || has(self.instanceProfile) || has(self.blockDeviceMappings) || has(self.userData) || has(self.amiSelector))",message="launchTemplate says itself what securityGroupSelector, metadataOptions, amiFamily, instanceProfile, blockDeviceMappings, userData and amiSelector say: leave one or the others out"
// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily != 'Custom' || has(self.amiSelector) && size(self.amiSelector) > 0",message="family Custom has no images of its own: select some by amiSelector"
type AWSNodeTemplateSpec struct {
	// AWS contains the fields that an inline provider block also has.
	AWS `json:",inline"`
	// UserData is the user's own start-up configuration, in the format of the family. Nil: none.
	// +optional
	UserData *string `json:"userData,omitempty"`
	// AMISelector selects the images. Nil or empty means the newest images that AWS publishes for the family. The format is that of
	// SubnetSelector. The key aws::name lists names, and aws::owners lists account ids or aliases, separated by commas.
	// +optional
	AMISelector map[string]string `json:"amiSelector,omitzero"`
	// DetailedMonitoring asks for one-minute metrics, which EC2 charges for. Nil: off.
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
}

// AWS is the part of a node template that a Provisioner can also contain inline.
type AWS struct {
	// AMIFamily determines which images are used if none are selected, the format of user data, and the default volumes. Nil means AL2.
	// +optional
	AMIFamily *v1beta1.AMIFamily `json:"amiFamily,omitempty"`
	// Context is opaque text handed to EC2 with a launch. Nil: none.
	// +optional
	Context *string `json:"context,omitempty"`
	// InstanceProfile is the name of the nodes' instance profile. Nil means the instance profile of the global settings.
	// +optional
	InstanceProfile *string `json:"instanceProfile,omitempty"`
	// SubnetSelector selects the subnets instances may be launched in: tags by key and value, all of which must hold. A
	// value of * matches any value; several values are separated by commas. The keys aws-ids and aws::ids contain a comma-separated list of
	// ids. Required.
	// +optional
	SubnetSelector map[string]string `json:"subnetSelector,omitzero"`
	// SecurityGroupSelector selects the security groups, in the format of SubnetSelector. Required without LaunchTemplate.
	// +optional
	SecurityGroupSelector map[string]string `json:"securityGroupSelector,omitzero"`
	// Tags are put on everything that is made for a launch. Some keys are reserved.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!('' in self)",message="a tag's key must not be empty"
	Tags map[string]string `json:"tags,omitzero"`
	// LaunchTemplate is the name of a launch template that the user manages. It excludes the settings that such a template contains itself.
	// Later generations don't have it.
	// +optional
	LaunchTemplate *string `json:"launchTemplate,omitempty"`
	// MetadataOptions sets up the instance metadata service. Nil means DefaultMetadataOptions; EC2 decides about members that a block
	// leaves out.
	// +optional
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`
	// BlockDeviceMappings are the instance's volumes; a list replaces the family's as a whole. Nil or empty means the volumes of the
	// family. At most 50.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitzero"`
}

// MetadataOptions sets up the instance metadata service. For a nil member EC2 decides: the service is on, only over IPv4, one hop, tokens
// optional.
type MetadataOptions struct {
	// HTTPEndpoint turns the service on or off.
	// +optional
	HTTPEndpoint *v1.Switch `json:"httpEndpoint,omitempty"`
	// HTTPProtocolIPv6 turns the service's IPv6 address on or off.
	// +optional
	HTTPProtocolIPv6 *v1.Switch `json:"httpProtocolIPv6,omitempty"`
	// HTTPPutResponseHopLimit is how many hops an answer with a token may travel, 1 to 64.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`
	// HTTPTokens says whether session tokens are required.
	// +optional
	HTTPTokens *v1.HTTPTokens `json:"httpTokens,omitempty"`
}

// BlockDeviceMapping is one volume of an instance.
type BlockDeviceMapping struct {
	// DeviceName is the device name under which the volume is attached, such as "/dev/xvda". Required.
	// +optional
	DeviceName *string `json:"deviceName,omitempty"`
	// EBS describes the volume. Required.
	// +optional
	EBS *v1beta1.BlockDevice `json:"ebs,omitempty"`
}

// AWSNodeTemplateStatus is what was found in the account.
type AWSNodeTemplateStatus struct {
	// Subnets that the selector matches.
	// +optional
	Subnets []v1.Subnet `json:"subnets,omitzero"`
	// SecurityGroups that the selector matches.
	// +optional
	SecurityGroups []v1.SecurityGroup `json:"securityGroups,omitzero"`
	// AMIs that the selector matches.
	// +optional
	AMIs []AMI `json:"amis,omitzero"`
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
