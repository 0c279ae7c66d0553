package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
)

// KindProvisioningRequest is the kind of ProvisioningRequest.
const KindProvisioningRequest = v1.KindProvisioningRequest

// ProvisioningRequest is the same as in version v1: the fields have not changed.
//
// +kubebuilder:object:root=true
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
	Spec v1.ProvisioningRequestSpec `json:"spec"`
	// Status is the answer to the request; manifests have no status.
	// +optional
	Status v1.ProvisioningRequestStatus `json:"status,omitzero"`
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

// V1 returns the request in version v1. The result shares no memory with r.
func (r *ProvisioningRequest) V1() *v1.ProvisioningRequest {
	c := r.DeepCopy()
	out := &v1.ProvisioningRequest{TypeMeta: c.TypeMeta, ObjectMeta: c.ObjectMeta, Spec: c.Spec, Status: c.Status}
	if out.APIVersion != "" {
		out.APIVersion = v1.APIVersion
	}
	return out
}
