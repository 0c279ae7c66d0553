package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// Group is the API group of the kinds in this package.
	Group = "karpenter.sh"
	// Version is the version of NodePool and NodeClaim.
	Version = "v1"
	// APIVersion is the apiVersion of a NodePool or NodeClaim.
	APIVersion = Group + "/" + Version
	// NodeOverlayVersion is the version of NodeOverlay, which is still an alpha API.
	NodeOverlayVersion = "v1alpha1"
	// NodeOverlayAPIVersion is the apiVersion of a NodeOverlay.
	NodeOverlayAPIVersion = Group + "/" + NodeOverlayVersion

	// KindNodePool is the kind of NodePool.
	KindNodePool = "NodePool"
	// KindNodeClaim is the kind of NodeClaim.
	KindNodeClaim = "NodeClaim"
	// KindNodeOverlay is the kind of NodeOverlay.
	KindNodeOverlay = "NodeOverlay"
)

// GroupVersion returns the group and version of NodePool and NodeClaim.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }

// NodeOverlayGroupVersion returns the group and version of NodeOverlay.
func NodeOverlayGroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: NodeOverlayVersion}
}

// AddToScheme adds the kinds of this package to a scheme, so that clients and serialisers can read and write them.
func AddToScheme(scheme *runtime.Scheme) error {
	if scheme == nil {
		return field.Required(field.NewPath("scheme"), "give one")
	}
	scheme.AddKnownTypes(GroupVersion(), &NodePool{}, &NodePoolList{}, &NodeClaim{}, &NodeClaimList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	scheme.AddKnownTypes(NodeOverlayGroupVersion(), &NodeOverlay{}, &NodeOverlayList{})
	metav1.AddToGroupVersion(scheme, NodeOverlayGroupVersion())
	return nil
}
