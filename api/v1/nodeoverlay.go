package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeOverlay corrects what a provider says about instance types: their price, or resources the provider doesn't know
// of. It is cluster-scoped. Its apiVersion is karpenter.sh/v1alpha1 (see NodeOverlayAPIVersion); all other kinds of this package have v1.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeoverlays,scope=Cluster,categories=karpenter,shortName=overlays
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1
type NodeOverlay struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the user wants.
	Spec NodeOverlaySpec `json:"spec"`
	// Status is what the controller observed; manifests have none.
	// +optional
	Status NodeOverlayStatus `json:"status,omitzero"`
}

// NodeOverlayList is a list of NodeOverlays as an API server returns it.
//
// +kubebuilder:object:root=true
type NodeOverlayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the overlays; their order has no meaning.
	Items []NodeOverlay `json:"items"`
}

// NodeOverlaySpec says which offerings are corrected, and how.
//
// +kubebuilder:validation:XValidation:rule="!has(self.price) || !has(self.priceAdjustment)",message="price already replaces the price: give one of price and priceAdjustment"
type NodeOverlaySpec struct {
	// Requirements select the instance types and offerings; all must be met. Nil or empty selects everything. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' ? has(x.values) && size(x.values) > 0 : true)",message="operator In needs at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'NotIn' ? has(x.values) && size(x.values) > 0 : true)",message="operator NotIn needs at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? has(x.values) && size(x.values) == 1 && x.values[0].matches('^[0-9]+$') : true)",message="operators Gt, Lt, Gte and Lte need exactly one whole number that is not negative"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' && has(x.minValues) && has(x.values) ? size(x.values) >= x.minValues : true)",message="operator In must list at least minValues values"
	Requirements []NodeSelectorRequirementWithMinValues `json:"requirements,omitzero"`
	// Price replaces the price of the selected offerings: USD per hour as a decimal that is not negative ("1.25").
	// It must not be set together with PriceAdjustment. Nil does not change the price.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?$`
	Price *string `json:"price,omitempty"`
	// PriceAdjustment changes the price of the selected offerings by a signed amount ("+0.5", "-0.1") or a signed
	// share ("+10%", "-100%"); the result is never below 0. It must not be set together with Price. Nil does not change the price.
	// +optional
	// +kubebuilder:validation:Pattern=`^([+-]([0-9]+(\.[0-9]+)?|\.[0-9]+)|\+([0-9]+(\.[0-9]+)?|\.[0-9]+)%|-(0*[0-9]{1,2}(\.[0-9]+)?|\.[0-9]+|0*100(\.0+)?)%)$`
	PriceAdjustment *string `json:"priceAdjustment,omitempty"`
	// Capacity adds resources to the selected instance types, or replaces them. It must not contain cpu, memory, ephemeral-storage and
	// pods, which only the provider states.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!('cpu' in self) && !('memory' in self) && !('ephemeral-storage' in self) && !('pods' in self)",message="cpu, memory, ephemeral-storage and pods are the provider's alone to state"
	Capacity corev1.ResourceList `json:"capacity,omitzero"`
	// Weight decides between overlays that select the same offering: the one with the higher weight is applied. 1 to 10000; nil counts as
	// 0.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Weight *int32 `json:"weight,omitempty"`
}

// NodeOverlayStatus is what the controller observed of an overlay.
type NodeOverlayStatus struct {
	// Conditions of the overlay: ValidationSucceeded and Ready.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}
