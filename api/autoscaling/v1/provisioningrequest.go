package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ProvisioningRequest asks once for room for groups of pods together. Its spec can't be changed later.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=provisioningrequests,scope=Namespaced,shortName=provreq;provreqs,categories=autoscaling
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Class",type="string",JSONPath=".spec.provisioningClassName"
// +kubebuilder:printcolumn:name="Accepted",type="string",JSONPath=".status.conditions[?(@.type==\"Accepted\")].status"
// +kubebuilder:printcolumn:name="Provisioned",type="string",JSONPath=".status.conditions[?(@.type==\"Provisioned\")].status"
// +kubebuilder:printcolumn:name="Failed",type="string",JSONPath=".status.conditions[?(@.type==\"Failed\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ProvisioningRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec says for which pods the request asks for room.
	Spec ProvisioningRequestSpec `json:"spec"`
	// Status is the answer to the request; manifests have no status.
	// +optional
	Status ProvisioningRequestStatus `json:"status,omitzero"`
}

// ProvisioningRequestList is a list of ProvisioningRequests as an API server returns it.
//
// +kubebuilder:object:root=true
type ProvisioningRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the requests; their order has no meaning.
	Items []ProvisioningRequest `json:"items"`
}

// ProvisioningRequestSpec says which pods need room, and where the room may be: on existing nodes, or on new nodes.
type ProvisioningRequestSpec struct {
	// PodSets are the groups of pods, at least one.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="can't be changed: make another request"
	PodSets []PodSet `json:"podSets"`
	// ProvisioningClassName says how room is found: see the Class constants. Other controllers answer requests of other classes.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="can't be changed: make another request"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ProvisioningClassName string `json:"provisioningClassName"`
	// Parameters of the class: see the Parameter constants. A class ignores parameters that it does not know.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="can't be changed: make another request"
	Parameters map[string]Parameter `json:"parameters,omitempty"`
}

// Parameter is the value of a parameter, of at most 255 characters.
// +kubebuilder:validation:MaxLength=255
type Parameter string

// PodSet is a group of equal pods.
type PodSet struct {
	// PodTemplateRef names the PodTemplate of the pods, in the request's namespace.
	PodTemplateRef Reference `json:"podTemplateRef"`
	// Count of pods, at least 1.
	// +kubebuilder:validation:Minimum=1
	Count int32 `json:"count"`
}

// Reference names an object in the request's namespace.
type Reference struct {
	// Name of the object.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// ProvisioningRequestStatus is the answer to a request.
type ProvisioningRequestStatus struct {
	// Conditions of the request: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ProvisioningClassDetails are the details of the answer: see the Detail constants.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ProvisioningClassDetails map[string]Detail `json:"provisioningClassDetails,omitempty"`
}

// Detail is the value of a detail, of at most 32768 characters.
// +kubebuilder:validation:MaxLength=32768
type Detail string
