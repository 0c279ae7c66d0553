package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// BlockDeviceMapping is one volume of an instance.
type BlockDeviceMapping struct {
	// DeviceName is the device name under which the volume is attached, such as "/dev/xvda". Nil: EC2 chooses.
	// +optional
	DeviceName *string `json:"deviceName,omitempty"`
	// EBS describes the volume. Required.
	// +optional
	EBS *BlockDevice `json:"ebs,omitempty"`
	// RootVolume marks the volume with the kubelet's files, whose size counts as ephemeral storage. It changes nothing in EC2. At
	// most one mapping has it.
	// +optional
	RootVolume bool `json:"rootVolume,omitempty"`
}

// BlockDevice is an EBS volume. A nil member is left to EC2.
//
// +kubebuilder:validation:XValidation:rule="has(self.snapshotID) || has(self.volumeSize)",message="the size of the volume is not known: give volumeSize or snapshotID"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeInitializationRate) || has(self.snapshotID) && size(self.snapshotID) > 0",message="only a volume made from a snapshot is initialised: give snapshotID or remove volumeInitializationRate"
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
	// VolumeInitializationRate is how fast the snapshot is read in, 100 to 300 MiB/s; needs SnapshotID.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=300
	VolumeInitializationRate *int32 `json:"volumeInitializationRate,omitempty"`
	// VolumeSize is the size; EC2 gets it in GiB, rounded up (see VolumeSizeGiB). One of SnapshotID and VolumeSize is
	// given.
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE]') || isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1G')) >= 0",message="is less than 1G: write the unit, as in 20Gi"
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE]') || isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Ti')) <= 0",message="is more than 64Ti, the largest volume there is"
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`
	// VolumeType of the volume.
	// +optional
	VolumeType *VolumeType `json:"volumeType,omitempty"`
}

// VolumeType is a type of EBS volume.
//
// +kubebuilder:validation:Enum=standard;io1;io2;gp2;sc1;st1;gp3
type VolumeType string

// The types of EBS volumes.
const (
	VolumeTypeStandard VolumeType = "standard"
	VolumeTypeIO1      VolumeType = "io1"
	VolumeTypeIO2      VolumeType = "io2"
	VolumeTypeGP2      VolumeType = "gp2"
	VolumeTypeSC1      VolumeType = "sc1"
	VolumeTypeST1      VolumeType = "st1"
	VolumeTypeGP3      VolumeType = "gp3"
)

const gibibyte = 1 << 30

// VolumeSizeGiB is the size for EC2: in GiB, rounded up. It is 0 if no size is given.
func (b *BlockDevice) VolumeSizeGiB() int64 {
	if b == nil || b.VolumeSize == nil {
		return 0
	}
	bytes := b.VolumeSize.Value()
	gib := bytes / gibibyte
	if bytes%gibibyte > 0 {
		gib++
	}
	return gib
}

// NetworkInterface is one interface of an instance.
type NetworkInterface struct {
	// NetworkCardIndex is the index of the network card, from 0.
	// +kubebuilder:validation:Minimum=0
	NetworkCardIndex int32 `json:"networkCardIndex"`
	// DeviceIndex is the index of the interface on the card, from 0.
	// +kubebuilder:validation:Minimum=0
	DeviceIndex int32 `json:"deviceIndex"`
	// InterfaceType says what the interface carries.
	InterfaceType InterfaceType `json:"interfaceType"`
}

// InterfaceType says what a network interface carries.
//
// +kubebuilder:validation:Enum=interface;efa-only
type InterfaceType string

const (
	// InterfaceTypeInterface is an ordinary interface with IP addresses.
	InterfaceTypeInterface InterfaceType = "interface"
	// InterfaceTypeEFAOnly carries Elastic Fabric Adapter traffic and no IP.
	InterfaceTypeEFAOnly InterfaceType = "efa-only"
)

// ConnectionTracking sets idle timeouts of security groups' connection tracking, in seconds. A nil member keeps EC2's default; at least one
// member must be set.
//
// +kubebuilder:validation:XValidation:rule="has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",message="sets nothing: give tcpEstablishedTimeout, udpStreamTimeout or udpTimeout, or remove it"
type ConnectionTracking struct {
	// TCPEstablishedTimeout is for established TCP connections: 60 to 432000.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=432000
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout,omitempty"`
	// UDPStreamTimeout is for UDP flows with more than one exchange: 60 to 180.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=180
	UDPStreamTimeout *int32 `json:"udpStreamTimeout,omitempty"`
	// UDPTimeout is for UDP flows in one direction or with a single exchange: 30 to 60.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=60
	UDPTimeout *int32 `json:"udpTimeout,omitempty"`
}

// Switch turns a feature on or off, in EC2's words.
//
// +kubebuilder:validation:Enum=enabled;disabled
type Switch string

const (
	// Enabled turns the feature on.
	Enabled Switch = "enabled"
	// Disabled turns the feature off.
	Disabled Switch = "disabled"
)

// HTTPTokens says whether the metadata service requires session tokens (IMDSv2).
//
// +kubebuilder:validation:Enum=required;optional
type HTTPTokens string

const (
	// HTTPTokensRequired refuses requests without a token.
	HTTPTokensRequired HTTPTokens = "required"
	// HTTPTokensOptional also answers requests without a token.
	HTTPTokensOptional HTTPTokens = "optional"
)

// MetadataOptions configures the instance metadata service. A nil member means its default.
type MetadataOptions struct {
	// HTTPEndpoint turns the service on or off. Default enabled.
	// +optional
	// +kubebuilder:default:="enabled"
	HTTPEndpoint *Switch `json:"httpEndpoint,omitempty"`
	// HTTPProtocolIPv6 turns the service's IPv6 address on or off. Default disabled.
	// +optional
	// +kubebuilder:default:="disabled"
	HTTPProtocolIPv6 *Switch `json:"httpProtocolIPv6,omitempty"`
	// HTTPPutResponseHopLimit is how many hops an answer with a token may travel, 1 to 64. The default is 1, so that only pods in the
	// host's network get answers.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +kubebuilder:default:=1
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`
	// HTTPTokens says whether session tokens are required. Default required.
	// +optional
	// +kubebuilder:default:="required"
	HTTPTokens *HTTPTokens `json:"httpTokens,omitempty"`
}

// CPUOptions are settings of the processor.
type CPUOptions struct {
	// NestedVirtualization lets the instance run virtual machines itself. Nil: EC2's default.
	// +optional
	NestedVirtualization *Switch `json:"nestedVirtualization,omitempty"`
	// ThreadsPerCore is the number of threads that each core runs: 1 turns simultaneous multithreading off, and the instance then has as
	// many vCPUs as cores. Nil means the number of the instance type. Karpenter does not have this field.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2
	ThreadsPerCore *int32 `json:"threadsPerCore,omitempty"`
	// CoreCount is the number of cores that the instance has; types with fewer cores are not launched. The price is still that of the whole
	// instance type. Nil means all cores of the instance type. Karpenter does not have this field.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	CoreCount *int32 `json:"coreCount,omitempty"`
}

// CPUCredits says what a burstable instance does without CPU credits.
//
// +kubebuilder:validation:Enum=standard;unlimited
type CPUCredits string

const (
	// CPUCreditsStandard slows the instance down to its baseline.
	CPUCreditsStandard CPUCredits = "standard"
	// CPUCreditsUnlimited lets the instance exceed its baseline, for a surcharge.
	CPUCreditsUnlimited CPUCredits = "unlimited"
)

// CreditSpecification has the CPU credits of burstable instances.
type CreditSpecification struct {
	// CPUCredits is standard or unlimited. Nil means the account's setting.
	// +optional
	CPUCredits *CPUCredits `json:"cpuCredits,omitempty"`
}

// BandwidthWeighting says whether the network or EBS gets more of an instance's bandwidth.
//
// +kubebuilder:validation:Enum=default;vpc-1;ebs-1
type BandwidthWeighting string

const (
	// BandwidthWeightingDefault keeps the division of the instance type.
	BandwidthWeightingDefault BandwidthWeighting = "default"
	// BandwidthWeightingVPC gives the network a quarter more, and EBS less.
	BandwidthWeightingVPC BandwidthWeighting = "vpc-1"
	// BandwidthWeightingEBS gives EBS a quarter more, and the network less.
	BandwidthWeightingEBS BandwidthWeighting = "ebs-1"
)

// NetworkPerformanceOptions are settings of an instance's bandwidth.
type NetworkPerformanceOptions struct {
	// BandwidthWeighting is default, vpc-1 or ebs-1. With vpc-1 and ebs-1 only types that support it are launched. Nil is default.
	// +optional
	BandwidthWeighting *BandwidthWeighting `json:"bandwidthWeighting,omitempty"`
}

// LicenseSpecification is a licence configuration of AWS License Manager.
type LicenseSpecification struct {
	// LicenseConfigurationARN names it: "arn:aws:license-manager:REGION:ACCOUNT:license-configuration:lic-0123".
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:license-manager:[^:]+:[0-9]{12}:license-configuration:lic-[0-9a-f]+$`
	LicenseConfigurationARN string `json:"licenseConfigurationARN"`
}
