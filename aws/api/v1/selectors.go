package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TagAnyValue as the value of a tag selects every resource with the key. Other values may contain EC2's wildcards.
const TagAnyValue = "*"

// SubnetSelectorTerm selects subnets by their tags or one by its id.
type SubnetSelectorTerm struct {
	// Tags must all be on the subnet. At most 20; neither key nor value is empty.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) > 0 && size(self[k]) > 0)",message="neither key nor value of a tag may be empty: write * for any value"
	Tags map[string]string `json:"tags,omitzero"`
	// ID is "subnet-…"; it excludes Tags.
	// +optional
	// +kubebuilder:validation:Pattern=`subnet-[0-9a-z]+`
	ID string `json:"id,omitempty"`
}

// SecurityGroupSelectorTerm selects security groups by their tags, by name, or one by its id.
type SecurityGroupSelectorTerm struct {
	// Tags must all be on the group. At most 20; neither key nor value is empty.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) > 0 && size(self[k]) > 0)",message="neither key nor value of a tag may be empty: write * for any value"
	Tags map[string]string `json:"tags,omitzero"`
	// ID is "sg-…"; it excludes the other fields.
	// +optional
	// +kubebuilder:validation:Pattern=`sg-[0-9a-z]+`
	ID string `json:"id,omitempty"`
	// Name is the group's name attribute, not its Name tag; EC2's wildcards work. It excludes the other fields.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name,omitempty"`
}

// InstanceMatchCriteria says which launches use a capacity reservation automatically.
//
// +kubebuilder:validation:Enum=open;targeted
type InstanceMatchCriteria string

const (
	// InstanceMatchCriteriaOpen: every matching launch uses the reservation.
	InstanceMatchCriteriaOpen InstanceMatchCriteria = "open"
	// InstanceMatchCriteriaTargeted: only launches that name the reservation use it.
	InstanceMatchCriteriaTargeted InstanceMatchCriteria = "targeted"
)

// CapacityReservationSelectorTerm selects capacity reservations.
type CapacityReservationSelectorTerm struct {
	// Tags must all be on the reservation. At most 20; neither key nor value is empty.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) > 0 && size(self[k]) > 0)",message="neither key nor value of a tag may be empty: write * for any value"
	Tags map[string]string `json:"tags,omitzero"`
	// ID is "cr-…"; it excludes the other fields.
	// +optional
	// +kubebuilder:validation:Pattern=`^cr-[0-9a-z]+$`
	ID string `json:"id,omitempty"`
	// OwnerID is the account (12 digits) that owns the reservation. It narrows Tags or InstanceMatchCriteria and is
	// not enough alone.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9]{12}$`
	OwnerID string `json:"ownerID,omitempty"`
	// InstanceMatchCriteria is the criterion of the reservation.
	// +optional
	InstanceMatchCriteria InstanceMatchCriteria `json:"instanceMatchCriteria,omitempty"`
}

// AMISelectorTerm selects images.
type AMISelectorTerm struct {
	// Alias is "family@version": the images that AWS publishes for Kubernetes nodes (see ParseAlias). At most 30
	// characters; it excludes the other fields and all other terms.
	// +optional
	// +kubebuilder:validation:MaxLength=30
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9]+@[^@]+$')",message="write an alias as family@version, like al2023@latest"
	// +kubebuilder:validation:XValidation:rule="self.split('@')[0] in ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025']",message="the alias names an unknown family: use al2, al2023, bottlerocket, windows2019, windows2022 or windows2025"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('windows') || self.endsWith('@latest')",message="Windows images have no version but latest"
	Alias string `json:"alias,omitempty"`
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
	// SSMParameter is the name or ARN of an SSM parameter that holds the image's id.
	// +optional
	// +kubebuilder:validation:MinLength=1
	SSMParameter string `json:"ssmParameter,omitempty"`
}

// PlacementGroupSelector selects one placement group. Exactly one field is given.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.id)",message="selects exactly one placement group: give one of name and id"
type PlacementGroupSelector struct {
	// Name of the group.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Name *string `json:"name,omitempty"`
	// ID is "pg-…".
	// +optional
	// +kubebuilder:validation:Pattern=`^pg-[0-9a-z]+$`
	ID *string `json:"id,omitempty"`
}

// CapacityReservationType is the kind of a capacity reservation.
//
// +kubebuilder:validation:Enum=default;capacity-block
type CapacityReservationType string

const (
	// CapacityReservationTypeDefault is an on-demand capacity reservation.
	CapacityReservationTypeDefault CapacityReservationType = "default"
	// CapacityReservationTypeCapacityBlock is a capacity block: accelerators for a fixed period.
	CapacityReservationTypeCapacityBlock CapacityReservationType = "capacity-block"
)

// CapacityReservationState says whether a reservation can still be used.
//
// +kubebuilder:validation:Enum=active;expiring
type CapacityReservationState string

const (
	// CapacityReservationStateActive: instances may be launched in the reservation.
	CapacityReservationStateActive CapacityReservationState = "active"
	// CapacityReservationStateExpiring: the capacity block ends soon.
	CapacityReservationStateExpiring CapacityReservationState = "expiring"
)

// CapacityReservation is a capacity reservation that the terms match.
type CapacityReservation struct {
	// AvailabilityZone is the name of the reservation's zone.
	AvailabilityZone string `json:"availabilityZone"`
	// EndTime is when the reservation ends; nil if it has no end.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// ID is "cr-…".
	ID string `json:"id"`
	// InstanceMatchCriteria says which launches use the reservation automatically.
	InstanceMatchCriteria InstanceMatchCriteria `json:"instanceMatchCriteria"`
	// InstanceType of its instances.
	InstanceType string `json:"instanceType"`
	// OwnerID is the account that owns the reservation.
	OwnerID string `json:"ownerID"`
	// ReservationType is the kind of the reservation. Empty means default.
	// +optional
	ReservationType CapacityReservationType `json:"reservationType,omitempty"`
	// Interruptible means that the owner of the reservation may reclaim instances. False if EC2 doesn't say.
	// +optional
	Interruptible bool `json:"interruptible,omitempty"`
	// Tenancy of its instances: default or dedicated. A reservation is used only by launches of its tenancy. Empty means default.
	// +optional
	Tenancy Tenancy `json:"tenancy,omitempty"`
	// State says whether the reservation can still be used, or ends soon. Empty means active.
	// +optional
	State CapacityReservationState `json:"state,omitempty"`
}

// AMI is an image that the terms match.
type AMI struct {
	// ID is "ami-…".
	ID string `json:"id"`
	// Name is the image's name attribute.
	// +optional
	Name string `json:"name,omitempty"`
	// Deprecated is true once AWS or the owner has deprecated it; it can still be launched.
	// +optional
	Deprecated bool `json:"deprecated,omitempty"`
	// Requirements say on which instance types the image boots.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
}
